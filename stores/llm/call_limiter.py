"""Bound how many calls of a language model the whole fleet has under way, and how many it starts a minute.

Beside the caps of the settings there is one that the fleet finds out: where most calls are throttled it goes down by a
factor, where few are it goes up by one, until it binds nobody (AIMD: Chiu and Jain, "Analysis of the increase and
decrease algorithms for congestion avoidance", 1989). It lies in Redis, so no worker finds it out for itself.

Our own script and not the library `limits`: its windows count what was started, and know nothing of what is under way.
"""

from __future__ import annotations

import random
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import structlog
from redis import Redis

from schema.errors import BrokerFailed, LLMBusy, LLMThrottled
from stores.lua import load_lua

_log = structlog.get_logger()
_CALLS = "afterturn:llm:calls"
_STARTED = "afterturn:llm:started"
_PACE = "afterturn:llm:pace"
_MINUTE_US = 60_000_000
_POLL_SECONDS = 0.05
_WINDOW_US = 500_000
_LEAST_CALLS = 5
"""How many calls must have ended since the cap was last looked at, and how much later that is done."""


class CallLimiter:
    """The fleet's caps on calls, held in Redis. 0 means none but the one that is found out.

    A call that is not over after `call_seconds` counts as over: its worker is dead.
    """

    def __init__(self, redis: Redis, *, concurrency: int, per_minute: int, call_seconds: float) -> None:
        self._redis = redis
        scripts = Path(__file__).parent / "lua"
        self._enter = redis.register_script(load_lua(scripts, "enter"))
        self._leave = redis.register_script(load_lua(scripts, "leave"))
        self._concurrency = concurrency
        self._per_minute = per_minute
        self._call_seconds = call_seconds

    @contextmanager
    def slot(self, patience: float) -> Iterator[None]:
        """Be one of the fleet's calls until the block ends; wait up to `patience` seconds for a place.

        Raises:
            LLMBusy: no place came free in time.
        """
        call = uuid.uuid4().hex
        deadline = time.monotonic() + patience
        while not self._try(call):
            if time.monotonic() > deadline:
                raise LLMBusy
            time.sleep(_POLL_SECONDS * random.uniform(0.5, 1.5))
        outcome = "failed"
        try:
            yield
            outcome = "answered"
        except LLMThrottled:
            outcome = "throttled"
            raise
        finally:
            try:
                self._leave(keys=[_CALLS, _PACE], args=[call, outcome, _WINDOW_US, _LEAST_CALLS])
            except BrokerFailed as error:
                self._raise_if_bound(error)

    def _try(self, call: str) -> bool:
        till = round(self._call_seconds * 1e6)
        caps = self._concurrency, self._per_minute
        try:
            return bool(self._enter(keys=[_CALLS, _STARTED, _PACE], args=[call, *caps, till, _MINUTE_US]))
        except BrokerFailed as error:
            self._raise_if_bound(error)
            return True

    def _raise_if_bound(self, error: BrokerFailed) -> None:
        """Let a call go on without a broker where the settings bound none: what is found out is a help."""
        if self._concurrency or self._per_minute:
            raise error
        _log.warning("llm_calls_not_counted", error=type(error).__name__)
