"""Errors, each with what to do about it. None of it repeats what a user said."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final


class AfterturnError(Exception):
    """The root of every error of this package."""


class InvalidTurn(AfterturnError, ValueError):
    """A turn was not accepted: a field is missing or wrong. Mend it."""


class ConflictingTurn(AfterturnError):
    """A turn was not accepted: its `turn_id` was used for other content. Give it an id of its own."""


class SpoolUnavailable(AfterturnError):
    """A turn was not accepted: the spool cannot be written in time. Enqueue it again later, and see to the disk."""


class SpoolFull(SpoolUnavailable):
    """A turn was not accepted: the spool holds as much as it may. Enqueue it again later."""


@dataclass(frozen=True)
class Problem:
    """A failure as the service tells it (RFC 9457). `errors` names the fields that are wrong, `scope` whose quota is
    full: "user" or "tenant"."""

    status: int
    title: str
    detail: str
    errors: tuple[Mapping[str, Any], ...] = ()
    request_id: str | None = None
    scope: str | None = None


class RequestFailed(AfterturnError):
    """A request that the service did not do. `problem` is its answer, None where none came."""

    advice = "see the service's log; it has the request's id"

    def __init__(self, problem: Problem | None, reason: str = "") -> None:
        self.problem = problem
        self.reason = reason
        super().__init__(problem, reason)

    def __str__(self) -> str:
        if self.problem is None:
            return f"{self.reason}: {self.advice}"
        fields = "; ".join(f"{wrong.get('field')}: {wrong.get('message')}" for wrong in self.problem.errors)
        reasons = ": ".join(part for part in (self.problem.detail, fields) if part)
        request = f" (request {self.problem.request_id})" if self.problem.request_id else ""
        return f"{self.problem.status} {self.problem.title}: {reasons}{request}. What to do: {self.advice}"


class Unavailable(RequestFailed):
    """The service or a part of it does not answer, or asks to wait for `retry_after` seconds."""

    advice = "try again later; see that the service runs and that the URL is right"

    def __init__(self, problem: Problem | None, reason: str = "", *, retry_after: float | None = None) -> None:
        super().__init__(problem, reason)
        self.retry_after = retry_after


class NotConnected(Unavailable):
    """No connection came about, so nothing was done."""


class Unauthorized(RequestFailed):
    """The key is missing, unknown, expired or revoked."""

    advice = "make a key with `afterturn keys create`, and give it as `key` or in AFTERTURN_API_KEY"


class Forbidden(RequestFailed):
    """The key may not do this, or not for this user."""

    advice = "use a key that has this capability, or one that is bound to this user (`afterturn keys create --can`)"


class NotFound(RequestFailed):
    """There is no such thing, or the key may not see it."""

    advice = "see that the id and the user are right, and that the URL is the service's own, without /api"


class Conflict(RequestFailed):
    """The state of what is there does not allow it: other content under this id, a legal hold, a concurrent change."""

    advice = "read it again, and decide anew"


class PreconditionFailed(RequestFailed):
    """Somebody changed it since the `version`, or `etag`, that the edit names."""

    advice = "get it again, and make the edit of what it says now"


class Invalid(RequestFailed):
    """The service refuses what the request says."""

    advice = "mend what is named; it will not be taken as it is"


_BY_STATUS: Final[Mapping[int, type[RequestFailed]]] = {
    400: Invalid,
    401: Unauthorized,
    403: Forbidden,
    404: NotFound,
    409: Conflict,
    412: PreconditionFailed,
    413: Invalid,
    422: Invalid,
}
_TO_TRY_AGAIN: Final = frozenset({408, 425, 429, 502, 503, 504})


def error_of(problem: Problem, *, retry_after: float | None) -> RequestFailed:
    """Return the error that a service's answer stands for."""
    if problem.status in _TO_TRY_AGAIN:
        return Unavailable(problem, retry_after=retry_after)
    return _BY_STATUS.get(problem.status, RequestFailed)(problem)
