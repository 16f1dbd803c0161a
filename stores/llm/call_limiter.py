"""How many calls of a language model the whole fleet has under way, and how many it starts a minute.

Our own script and not the library `limits`: its windows count what was started, and know nothing of what is under way.
"""

from __future__ import annotations

import random
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from redis import Redis

from schema.errors import LLMBusy
from stores.lua import load_lua

_CALLS = "afterturn:llm:calls"
_STARTED = "afterturn:llm:started"
_MINUTE_US = 60_000_000
_POLL_SECONDS = 0.05


class CallLimiter:
    """The fleet's caps on calls, held in Redis. 0 means no cap.

    A call that is not over after `call_seconds` counts as over: its worker is dead.
    """

    def __init__(self, redis: Redis, *, concurrency: int, per_minute: int, call_seconds: float) -> None:
        self._redis = redis
        self._enter = redis.register_script(load_lua(Path(__file__).parent / "lua", "enter"))
        self._concurrency = concurrency
        self._per_minute = per_minute
        self._call_seconds = call_seconds

    @contextmanager
    def slot(self, patience: float) -> Iterator[None]:
        """Be one of the fleet's calls until the block ends; wait up to `patience` seconds for a place.

        Raises:
            LLMBusy: no place came free in time.
        """
        if not self._concurrency and not self._per_minute:
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
            self._enter(keys=[_CALLS, _STARTED], args=[call, self._concurrency, self._per_minute, till, _MINUTE_US])
        )
