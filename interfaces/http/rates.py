"""Rate limits of keys, told in the `RateLimit` fields of every answer.

Source: the IETF draft "RateLimit header fields for HTTP" (draft-ietf-httpapi-ratelimit-headers-10).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum
from http import HTTPStatus
from typing import Final

import structlog
from fastapi import Request
from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from interfaces.http.problems import Later
from memory.metrics import HTTP_RATES
from schema import Principal
from schema.errors import BrokerFailed, CircuitOpen
from schema.settings import Settings
from stores.breaker import CircuitBreaker, State
from stores.rates import Taken, TokenBuckets
from stores.redis import open_redis

_log = structlog.get_logger()
_ASK_SECONDS: Final = 0.25
"""How long Redis may take; then the request goes on without."""
_AWAY_SECONDS: Final = 1.0
"""For how long Redis is not asked again where it failed."""
_STATE: Final = "rate"


class RateClass(StrEnum):
    """The class of a request by what it costs: each class of a key has a bucket of its own."""

    READ = "read"
    WRITE = "write"
    LLM = "llm"
    TURN = "turn"


_SAFE: Final = frozenset({"GET", "HEAD", "OPTIONS"})
_RETRIEVAL: Final = "/api/v1/subjects/{subject_id}/retrieval"
_ENTITY_SUMMARY: Final = "/api/v1/graph/entities/lookup/summary"
_CLASS_OF: Final = {
    ("POST", "/api/v1/turns"): RateClass.TURN,
    ("POST", "/api/v1/turns/candidate"): RateClass.TURN,
    ("POST", "/api/v1/memories/"): RateClass.LLM,
    ("POST", "/api/v1/memories"): RateClass.LLM,
    ("POST", "/api/v1/subjects/{subject_id}/reviews/{review_id}/{decision}"): RateClass.LLM,
    ("POST", "/api/v1/subjects/{subject_id}/topics/check"): RateClass.READ,
    ("POST", "/api/v1/subjects/{subject_id}/store/read"): RateClass.READ,
    ("POST", _RETRIEVAL): RateClass.LLM,
    ("GET", _ENTITY_SUMMARY): RateClass.LLM,
}
"""The routes that are not what their method says."""
_CLASS_WITHOUT_MODEL: Final = {("POST", _RETRIEVAL): RateClass.READ, ("GET", _ENTITY_SUMMARY): RateClass.READ}
"""Classes of the routes that may ask a language model, where there is none; those that are not named write."""

for _class in RateClass:
    for _outcome in ("allowed", "refused", "unchecked"):
        HTTP_RATES.labels(_class, _outcome)


@dataclass(frozen=True)
class _Spent:
    rate_class: RateClass
    per_minute: int
    taken: Taken

    @property
    def fields(self) -> dict[str, str]:
        name, wait = self.rate_class.value, math.ceil(self.taken.next_in)
        return {
            "RateLimit-Policy": f'"{name}";q={self.per_minute};w=60',
            "RateLimit": f'"{name}";r={self.taken.tokens_left};t={wait}',
        }


class RateLimits:
    """The limits of every key, over the whole service. While Redis is away nobody is limited, and one warning says so.

    May be asked from many threads.
    """

    def __init__(self, settings: Settings, *, asks_model: bool) -> None:
        self._per_minute = {
            RateClass.READ: settings.http_reads_per_minute,
            RateClass.WRITE: settings.http_writes_per_minute,
            RateClass.LLM: settings.http_llm_per_minute,
            RateClass.TURN: settings.http_turns_per_minute,
        }
        self._asks_model = asks_model
        self._redis = open_redis(settings, timeout=_ASK_SECONDS, retries=0)
        self._buckets = TokenBuckets(self._redis)
        self._is_away = False
        self._breaker = CircuitBreaker(
            "rate limits", (BrokerFailed,), threshold=1, open_seconds=_AWAY_SECONDS, on_change=self._tell
        )

    def spend(self, principal: Principal, request: Request, rate_class: RateClass | None = None) -> None:
        """Take a token of the principal's key for a request, and note what its answer is to say. Of which class it is
        its route says, unless it is named.

        Raises:
            Later: there is none left.
        """
        rate_class = rate_class or self._class_of(request)
        per_minute = self._per_minute[rate_class]
        if not per_minute:
            return
        try:
            taken = self._breaker.call(self._buckets.take, f"{principal.key_id}:{rate_class}", per_minute)
        except (BrokerFailed, CircuitOpen):
            HTTP_RATES.labels(rate_class, "unchecked").inc()
            return
        setattr(request.state, _STATE, _Spent(rate_class, per_minute, taken))
        HTTP_RATES.labels(rate_class, "allowed" if taken.is_allowed else "refused").inc()
        if not taken.is_allowed:
            message = f"this key may make {per_minute} requests a minute of the class {rate_class.value!r}"
            raise Later(HTTPStatus.TOO_MANY_REQUESTS, message, taken.next_in)

    def close(self) -> None:
        """Close the connections."""
        self._redis.close()

    def _class_of(self, request: Request) -> RateClass:
        path = getattr(request.scope.get("route"), "path", "")
        by_method = RateClass.READ if request.method in _SAFE else RateClass.WRITE
        rate_class = _CLASS_OF.get((request.method, path), by_method)
        if rate_class is RateClass.LLM and not self._asks_model:
            return _CLASS_WITHOUT_MODEL.get((request.method, path), RateClass.WRITE)
        return rate_class

    def _tell(self, _part: str, state: State) -> None:
        if state is State.OPEN and not self._is_away:
            self._is_away = True
            _log.warning("rate_limits_away", reason="the broker does not answer", until="it answers nobody is limited")
        elif state is State.CLOSED:
            self._is_away = False
            _log.info("rate_limits_back")


class RateLimitFields:
    """Gives every answer for a key that is limited its `RateLimit` fields."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        state = scope.setdefault("state", {})

        async def send_with_fields(message: Message) -> None:
            spent = state.get(_STATE)
            if message["type"] == "http.response.start" and spent is not None:
                MutableHeaders(scope=message).update(spent.fields)
            await send(message)

        await self._app(scope, receive, send_with_fields)
