"""Every failure as a problem document (RFC 9457), without anything that somebody said."""

from __future__ import annotations

import math
from http import HTTPStatus
from typing import Any, Final

import structlog
from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException
from starlette.routing import compile_path

from memory.metrics import count_denied
from memory.statement_screening import NotKept
from recall.cursors import InvalidCursor
from schema.errors import (
    AfterturnError,
    ConflictingTurn,
    Denied,
    InvalidTurn,
    NotFound,
    OperatorError,
    Outage,
    Outdated,
    QuotaExceeded,
    Refused,
    Transient,
    UnderLegalHold,
)

_log = structlog.get_logger()
_MEDIA_TYPE: Final = "application/problem+json"
_RETRY_AFTER_SECONDS: Final = 5
"""Seconds that a client is asked to wait where the failing part did not say."""


class Unauthorized(Refused):
    """No credential was given, or none that is known, in force, and not expired."""

    def __init__(
        self,
        message: str = "send a key that is in force, as `X-API-Key: at_...` or `Authorization: Bearer at_...`",
        challenge: str = "Bearer",
    ) -> None:
        super().__init__(message)
        self.challenge = challenge
        """The answer's WWW-Authenticate."""


class KeyReused(Refused):
    """An Idempotency-Key was sent before with another request."""

    def __str__(self) -> str:
        return "this Idempotency-Key was sent before with another request: give each request one of its own"


class Later(Refused):
    """Not now: the same request may be sent again in `retry_after` seconds; `status` says why."""

    def __init__(self, status: HTTPStatus, message: str, retry_after: float) -> None:
        super().__init__(message)
        self.status = status
        self.retry_after = retry_after


_STATUS_OF: Final[tuple[tuple[type[AfterturnError], HTTPStatus], ...]] = (
    (NotFound, HTTPStatus.NOT_FOUND),
    (Denied, HTTPStatus.FORBIDDEN),
    (InvalidTurn, HTTPStatus.UNPROCESSABLE_ENTITY),
    (ConflictingTurn, HTTPStatus.CONFLICT),
    (UnderLegalHold, HTTPStatus.CONFLICT),
    (InvalidCursor, HTTPStatus.UNPROCESSABLE_ENTITY),
    (NotKept, HTTPStatus.UNPROCESSABLE_ENTITY),
    (KeyReused, HTTPStatus.UNPROCESSABLE_ENTITY),
    (Outdated, HTTPStatus.PRECONDITION_FAILED),
    (Refused, HTTPStatus.CONFLICT),
    (Outage, HTTPStatus.SERVICE_UNAVAILABLE),
    (Transient, HTTPStatus.SERVICE_UNAVAILABLE),
    (OperatorError, HTTPStatus.INTERNAL_SERVER_ERROR),
)
"""The first class that an error is one of decides."""


def problem(status: HTTPStatus, detail: str, *, headers: dict[str, str] | None = None, **more: Any) -> Response:
    """Return a problem document; `more` are members of its own, such as the fields that are wrong."""
    body = {"type": "about:blank", "title": status.phrase, "status": status.value, "detail": detail, **more}
    return JSONResponse(body, status.value, headers=headers, media_type=_MEDIA_TYPE)


def add_problems(app: FastAPI) -> None:
    """Answer every failure of the app with a problem document."""
    app.add_exception_handler(AfterturnError, _of_ours)
    app.add_exception_handler(RequestValidationError, _of_request)
    app.add_exception_handler(HTTPException, _of_framework)
    app.add_exception_handler(Exception, _of_defect)


def of_error(error: AfterturnError) -> Response:
    """Return the problem document of an error of ours."""
    if isinstance(error, Denied):
        count_denied(error)
    if isinstance(error, Unauthorized):
        return problem(HTTPStatus.UNAUTHORIZED, str(error), headers={"WWW-Authenticate": error.challenge})
    if isinstance(error, QuotaExceeded | Later):
        return _not_now(error)
    status = next((status for kind, status in _STATUS_OF if isinstance(error, kind)), None)
    if status is None or status is HTTPStatus.INTERNAL_SERVER_ERROR:
        _log.error("request_failed", error=type(error).__name__)
        return problem(HTTPStatus.INTERNAL_SERVER_ERROR, "the service is not set up for this; its log says more")
    if status is HTTPStatus.SERVICE_UNAVAILABLE:
        seconds = error.retry_after if isinstance(error, Transient) and error.retry_after else _RETRY_AFTER_SECONDS
        detail = "a part that the service needs does not answer; nothing was done, try again"
        return problem(status, detail, headers={"Retry-After": str(math.ceil(seconds))})
    return problem(status, str(error) or status.description)


def _not_now(error: QuotaExceeded | Later) -> Response:
    again = None if error.retry_after is None else {"Retry-After": str(math.ceil(error.retry_after))}
    if isinstance(error, Later):
        return problem(error.status, str(error), headers=again)
    status = HTTPStatus.TOO_MANY_REQUESTS if again else HTTPStatus.CONFLICT
    # Whose it is: a client that sends for many users lets those of one wait, and not all.
    return problem(status, str(error), headers=again, scope=error.scope)


async def _of_ours(_request: Request, error: Exception) -> Response:
    assert isinstance(error, AfterturnError)
    return of_error(error)


async def _of_request(_request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    wrong = [{"field": ".".join(map(str, each["loc"])), "message": each["msg"]} for each in error.errors()]
    return problem(HTTPStatus.UNPROCESSABLE_ENTITY, "a field is missing or wrong: see `errors`", errors=wrong)


async def _of_framework(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    status = HTTPStatus(error.status_code)
    headers = dict(error.headers or {})
    if status is HTTPStatus.METHOD_NOT_ALLOWED and (methods := _methods(request)):
        headers["Allow"] = ", ".join(sorted(methods))
    # All that the framework itself finds wrong with a request in this way.
    detail = "the body cannot be read: send JSON in UTF-8" if status is HTTPStatus.BAD_REQUEST else status.description
    return problem(status, detail or status.phrase, headers=headers)


def _methods(request: Request) -> set[str]:
    """Return what may be asked of the request's path. The framework names the methods of one route of it alone."""
    paths: dict[str, dict[str, Any]] = request.app.openapi()["paths"]
    of_path = (methods for path, methods in paths.items() if compile_path(path)[0].match(request.url.path))
    return {method.upper() for methods in of_path for method in methods}


async def _of_defect(_request: Request, error: Exception) -> Response:
    _log.error("request_failed", error=type(error).__name__)
    return problem(HTTPStatus.INTERNAL_SERVER_ERROR, "a defect of the service; its log has the kind of the failure")
