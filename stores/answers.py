"""Answers to requests and what they told, kept for an hour: feedback is on that alone."""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Iterable
from typing import Final

from redis import Redis

PREFIX: Final = "afterturn:told:"
KEPT_SECONDS: Final = 3_600
"""How long it is known what an answer told: at 50 searches a second it is some 60 MB of the broker's memory."""
_ANSWERED: Final = b""
"""Stands for an answer that told nothing."""


class Answers:
    """The answers to all who ask, by ids alone, over one Redis client."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis

    def note(self, name: str, memory_ids: Iterable[uuid.UUID]) -> None:
        """Note which memories were told under a name, beside those that were told under it before.

        Raises:
            BrokerFailed: Redis is away, or refuses.
        """
        with self._redis.pipeline(transaction=False) as pipeline:
            pipeline.sadd(_key(name), _ANSWERED, *(id_.bytes for id_ in memory_ids))
            pipeline.expire(_key(name), KEPT_SECONDS)
            pipeline.execute()

    def told(self, name: str) -> frozenset[uuid.UUID] | None:
        """Return which memories were told under a name; None where no answer was noted under it.

        Raises:
            BrokerFailed: Redis is away, or refuses.
        """
        members: set[bytes] = self._redis.smembers(_key(name))  # type: ignore[assignment]
        return frozenset(uuid.UUID(bytes=each) for each in members if each) if members else None


def _key(name: str) -> str:
    return PREFIX + hashlib.sha256(name.encode()).hexdigest()
