"""How many calls of a language model the whole fleet has under way, and how many it starts a minute."""

from __future__ import annotations

import random
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager

from redis import Redis

_CALLS = "afterturn:llm:calls"
_STARTED = "afterturn:llm:started"
_MINUTE_US = 60_000_000
_POLL_SECONDS = 0.05

_ENTER = """
local calls, started = KEYS[1], KEYS[2]
local id, concurrency, a_minute, till_us, minute_us =
  ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5])
local t = redis.call('TIME')
local now = t[1] * 1000000 + t[2]
redis.call('ZREMRANGEBYSCORE', calls, '-inf', now)
if concurrency > 0 and redis.call('ZCARD', calls) >= concurrency then return 0 end
if a_minute > 0 then
  redis.call('ZREMRANGEBYSCORE', started, '-inf', now - minute_us)
  if redis.call('ZCARD', started) >= a_minute then return 0 end
  redis.call('ZADD', started, now, id)
  redis.call('PEXPIRE', started, math.ceil(minute_us / 1000))
end
redis.call('ZADD', calls, now + till_us, id)
redis.call('PEXPIRE', calls, math.ceil(till_us / 1000))
return 1
"""


class LLMBusy(Exception):
    """The fleet has as many calls under way as the settings allow: nobody's fault, try later."""


class Gate:
    """The fleet's caps on calls, held in Redis. 0 means no cap.

    A call that is not over after `call_seconds` counts as over: its worker is dead.
    """

    def __init__(self, redis: Redis, *, concurrency: int, a_minute: int, call_seconds: float) -> None:
        self._redis = redis
        self._enter = redis.register_script(_ENTER)
        self._concurrency = concurrency
        self._a_minute = a_minute
        self._call_seconds = call_seconds

    @contextmanager
    def entered(self, patience: float) -> Iterator[None]:
        """Be one of the fleet's calls until the block ends; wait up to `patience` seconds for a place.

        Raises:
            LLMBusy: no place came free in time.
        """
        if not self._concurrency and not self._a_minute:
            yield
            return
        call = uuid.uuid4().hex
        deadline = time.monotonic() + patience
        while not self._try(call):
            if time.monotonic() > deadline:
                raise LLMBusy
            time.sleep(_POLL_SECONDS * random.uniform(0.5, 1.5))
        try:
            yield
        finally:
            self._redis.zrem(_CALLS, call)

    def _try(self, call: str) -> bool:
        till = round(self._call_seconds * 1e6)
        return bool(
            self._enter(keys=[_CALLS, _STARTED], args=[call, self._concurrency, self._a_minute, till, _MINUTE_US])
        )
