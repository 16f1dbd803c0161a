"""Claims of names: who begins what is to be done once claims its name, and leaves there what came of it."""

from __future__ import annotations

import hashlib
import json
import uuid
from dataclasses import dataclass
from typing import Any, Final

from redis import Redis

PREFIX: Final = "afterturn:once:"
BEGUN_SECONDS: Final = 120
"""How long a name stays claimed by somebody who is not heard of again."""
KEPT_SECONDS: Final = 86_400
"""How long what came of it is kept."""


@dataclass(frozen=True)
class Claim:
    """Claim under a name: the digest of what was asked, and what came of it; None while that still goes on."""

    digest: str
    receipt: dict[str, Any] | None


class Claims:
    """The claims of all who ask, over one Redis client.

    Neither a name nor a receipt may hold what somebody said: they lie here for a day, whatever is forgotten meanwhile.
    """

    def __init__(self, redis: Redis) -> None:
        self._redis = redis

    def begin(self, name: str, digest: str) -> Claim | None:
        """Claim a name for what has this digest; returns what lies there if somebody did so before.

        Raises:
            BrokerFailed: Redis is away, or refuses.
        """
        # Told apart from all others: the client sends a command again whose answer it did not get.
        mine = json.dumps([digest, None, uuid.uuid4().hex])
        earlier: Any = self._redis.set(_key(name), mine, nx=True, get=True, ex=BEGUN_SECONDS)
        if earlier is None or earlier == mine.encode():
            return None
        first, receipt, *_ = json.loads(earlier)
        return Claim(first, receipt)

    def finish(self, name: str, digest: str, receipt: dict[str, Any]) -> None:
        """Leave what came of it.

        Raises:
            BrokerFailed: Redis is away, or refuses.
        """
        self._redis.set(_key(name), json.dumps([digest, receipt]), ex=KEPT_SECONDS)

    def abandon(self, name: str) -> None:
        """Give a name back under which nothing was done.

        Raises:
            BrokerFailed: Redis is away, or refuses.
        """
        self._redis.delete(_key(name))


def _key(name: str) -> str:
    return PREFIX + hashlib.sha256(name.encode()).hexdigest()
