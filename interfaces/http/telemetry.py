"""Telemetry of every request: its duration, a span, and a line in the log.

Of a request its route is named, never its path, its query or its body: they hold who it is about and what was said.
"""

from __future__ import annotations

import time
from http import HTTPStatus
from typing import Any, Final

import structlog
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from memory.metrics import HTTP_SECONDS
from memory.tracing import Span, request_span
from schema import Principal

_log = structlog.get_logger()
_UNKNOWN: Final = "none"
"""The route of what no route matches, and of what is refused before any is looked for."""
_STATIC: Final = "/static"
_PROBES: Final = frozenset({"/livez", "/readyz"})
"""Asked every few seconds: they are in the log where they fail."""
_METHODS: Final = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
_GONE: Final = 499
"""The status of who went away before there was an answer, by nginx's custom."""
_KEY: Final = "key"
_STREAM: Final = b"text/event-stream"
_BY_TOKEN: Final = "oidc:"


class Telemetry:
    """Measures every request, and tells of it; `logs` says whether in the log too."""

    def __init__(self, app: ASGIApp, *, logs: bool) -> None:
        self._app, self._logs = app, logs

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        method = scope["method"] if scope["method"] in _METHODS else "other"
        with request_span(method, headers) as span:
            await self._answer(_Answer(method, span), scope, receive, send)

    async def _answer(self, answer: _Answer, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_and_note(message: Message) -> None:
            if message["type"] == "http.response.start":
                answer.begins(message, scope)
            await send(message)

        try:
            await self._app(scope, receive, send_and_note)
        finally:
            answer.ends(scope)
            if self._logs:
                answer.log(scope)


class _Answer:
    """The answer to one request, as far as it is known."""

    def __init__(self, method: str, span: Span) -> None:
        self._method, self._span = method, span
        self._began = time.perf_counter()
        self._status = _GONE
        self._is_measured = False
        self._request_id: str | None = None

    def begins(self, message: Message, scope: Scope) -> None:
        headers = dict(message.get("headers", ()))
        self._status = int(message["status"])
        self._request_id = headers.get(b"x-request-id", b"").decode() or None
        if headers.get(b"content-type", b"").startswith(_STREAM):
            # It goes on for as long as somebody listens.
            self._measure(scope)

    def ends(self, scope: Scope) -> None:
        self._measure(scope)
        route = _route_of(scope)
        self._span.update_name(f"{self._method} {route}")
        self._span.set_attribute("http.route", route)
        self._span.set_attribute("http.response.status_code", self._status)

    def log(self, scope: Scope) -> None:
        route = _route_of(scope)
        if route in _PROBES and self._status < HTTPStatus.BAD_REQUEST:
            return
        _log.info(
            "request",
            method=self._method,
            route=route,
            status=self._status,
            milliseconds=round(1_000 * (time.perf_counter() - self._began), 1),
            request_id=self._request_id,
            key=scope.get("state", {}).get(_KEY),
        )

    def _measure(self, scope: Scope) -> None:
        if not self._is_measured:
            self._is_measured = True
            seconds = time.perf_counter() - self._began
            HTTP_SECONDS.labels(self._method, _route_of(scope), str(self._status)).observe(seconds)


def note_key(state: Any, principal: Principal) -> None:
    """Note with a request's state by which key it is made, for the log: of a token only that it was one, as its
    subject is a person."""
    is_token = principal.key_id.startswith(_BY_TOKEN)
    setattr(state, _KEY, "token" if is_token else principal.key_id)


def _route_of(scope: Scope) -> str:
    is_static = scope["path"].startswith(f"{_STATIC}/")
    return _STATIC if is_static else str(getattr(scope.get("route"), "path", _UNKNOWN))
