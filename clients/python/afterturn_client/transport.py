"""The layer between a request and the network, alike for both senders. Imports httpx, which takes longer than all
the rest: so it is imported when the first client is made."""

from __future__ import annotations

import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeVar

import httpx

from afterturn_client.configuration import Configuration
from afterturn_client.errors import NotConnected, Problem, RequestFailed, Unavailable, error_of
from afterturn_client.requests import Request

T = TypeVar("T")
_CONNECT_SECONDS: Final = 2.0
_LONGEST_RETRY_AFTER_SECONDS: Final = 3600.0
_UNREADABLE: Final = (ValueError, LookupError, TypeError, AttributeError, ArithmeticError, RecursionError)
"""Errors of reading an answer that a gateway gave, and not this service."""


@dataclass(frozen=True)
class Link:
    """How a service is reached: what an httpx client of either kind is made with."""

    configuration: Configuration
    verify: ssl.SSLContext | bool

    def options(self) -> dict[str, Any]:
        """Return the arguments of an httpx client."""
        headers = {"User-Agent": "afterturn-client/0.1"}
        if self.configuration.key:
            headers["X-API-Key"] = self.configuration.key
        connect = min(_CONNECT_SECONDS, self.configuration.timeout)
        timeout = httpx.Timeout(self.configuration.timeout, connect=connect)
        return {"base_url": self.configuration.url, "headers": headers, "timeout": timeout, "verify": self.verify}


def link_to(configuration: Configuration) -> Link:
    """Prepare to reach a service. To read the certificates takes longer than a turn may take, so it is done here."""
    return Link(configuration, httpx.create_ssl_context() if configuration.url.startswith("https:") else False)


def options_of(request: Request[Any]) -> dict[str, Any]:
    """Return what httpx is told of a request."""
    headers = dict(request.headers)
    if request.body is not None:
        headers["Content-Type"] = "application/json"
    return {
        "method": request.method,
        "url": request.path,
        "params": list(request.params),
        "content": request.body,
        "headers": headers,
    }


def answer_of(request: Request[T], response: httpx.Response) -> T:
    """Return what a response says, read.

    Raises:
        RequestFailed: it says that the request was not done, or is no answer of this service.
    """
    if not response.is_success:
        raise failure_of(response)
    try:
        return request.read(response.json() if response.content else None)
    except _UNREADABLE as error:
        problem = Problem(response.status_code, "Not understood", f"the answer lacks what it should have: {error!r}")
        raise RequestFailed(problem) from error


def failure_of(response: httpx.Response) -> RequestFailed:
    """Return the error that a response stands for, with as much of its body, which must have been read, as is right."""
    try:
        body: Any = response.json()
    except _UNREADABLE:
        body = None
    fields: Mapping[str, Any] = body if isinstance(body, dict) else {}
    errors = fields.get("errors")
    problem = Problem(
        response.status_code,
        _text(fields.get("title")) or response.reason_phrase,
        _text(fields.get("detail")),
        tuple(_texts(wrong) for wrong in errors if isinstance(wrong, dict)) if isinstance(errors, list) else (),
        response.headers.get("X-Request-ID"),
        _text(fields.get("scope")) or None,
    )
    return error_of(problem, retry_after=_seconds(response.headers.get("Retry-After")))


def unreached(error: httpx.HTTPError) -> Unavailable:
    """Return the error that a failure of the network stands for."""
    reason = f"no answer ({type(error).__name__})"
    if isinstance(error, httpx.ConnectError | httpx.ConnectTimeout | httpx.PoolTimeout):
        return NotConnected(None, reason)
    return Unavailable(None, reason)


def _text(value: object) -> str:
    # JSON can hold half a character, which neither a log nor SQLite takes.
    return value.encode(errors="replace").decode() if isinstance(value, str) else ""


def _texts(fields: Mapping[str, Any]) -> Mapping[str, str]:
    return {_text(name): _text(value) for name, value in fields.items()}


def _seconds(retry_after: str | None) -> float | None:
    # The other form, a date, is not what this service sends.
    if not (retry_after and retry_after.isdecimal()):
        return None
    return min(float(retry_after), _LONGEST_RETRY_AFTER_SECONDS)
