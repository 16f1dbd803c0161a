"""Buckets of tokens in Redis: who empties one waits until it fills again.

Our own script and not the library `limits` (docs/decisions/0034-libraries-and-lines-of-our-own.md).
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from redis import Redis

from stores.lua import load_lua

PREFIX = "afterturn:rate:"
_MINUTE_US = 60_000_000


@dataclass(frozen=True)
class Taken:
    """Outcome of asking for a token. `tokens_left` are whole ones; one more comes in `next_in` seconds."""

    is_allowed: bool
    tokens_left: int
    next_in: float


class TokenBuckets:
    """The buckets of all who ask, over one Redis client. Every clock is Redis' own."""

    def __init__(self, redis: Redis) -> None:
        self._take = redis.register_script(load_lua(Path(__file__).parent / "lua", "take"))

    def take(self, name: str, per_minute: int) -> Taken:
        """Take a token from the bucket of this name, which holds `per_minute` and fills within a minute.

        Raises:
            BrokerFailed: Redis is away, or refuses.
        """
        is_allowed, tokens_left, next_us = self._take(keys=[f"{PREFIX}{name}"], args=[per_minute, _MINUTE_US])
        return Taken(bool(is_allowed), tokens_left, next_us / 1e6)
