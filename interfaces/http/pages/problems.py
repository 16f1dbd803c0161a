"""Failures as pages: what a person reads who met one."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from http import HTTPStatus
from typing import Any, Final

import structlog
from fastapi import Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute

from interfaces.http.openid import SignInRefused
from interfaces.http.pages.language import gettext, marked, speaking
from interfaces.http.pages.rendering import page
from memory.metrics import count_denied
from recall.cursors import InvalidCursor
from schema.errors import AfterturnError, Denied, NotFound, Refused, Transient, UnderLegalHold

_log = structlog.get_logger()


class SignInFirst(Refused):
    """No session is open."""


class LinkSpent(SignInFirst):
    """The link that should open a session was followed before, is too old, or was closed."""


class FormExpired(Refused):
    """The form does not come from a page of this session."""


class NotADay(Refused):
    """Something was sent as a day that is none."""


_NOT_SIGNED_IN: Final[tuple[tuple[type[AfterturnError], str], ...]] = (
    (
        LinkSpent,
        marked("This link works no more: it was followed before, or is older than five minutes. Ask for a new one."),
    ),
    (SignInFirst, ""),
    (SignInRefused, marked("You were not signed in: it took too long, or was not finished. Try it again.")),
)
"""The reasons that a page gives for asking to sign in; the first class that an error is one of decides."""
_NOT_WHOLE: Final = marked("This address or form is not whole.")
_SAID: Final[tuple[tuple[type[AfterturnError], HTTPStatus, str], ...]] = (
    (FormExpired, HTTPStatus.FORBIDDEN, marked("This form is too old. Open it again.")),
    (NotADay, HTTPStatus.UNPROCESSABLE_ENTITY, marked("A day is written as 2026-12-31.")),
    (
        InvalidCursor,
        HTTPStatus.UNPROCESSABLE_ENTITY,
        marked("This link is not whole. Begin again with the first page."),
    ),
    (NotFound, HTTPStatus.NOT_FOUND, marked("There is no such thing here, or not any more.")),
    (
        UnderLegalHold,
        HTTPStatus.CONFLICT,
        marked("It is kept for a legal reason, and cannot be deleted as long as that holds."),
    ),
    (Refused, HTTPStatus.CONFLICT, marked("That cannot be done.")),
    (
        Transient,
        HTTPStatus.SERVICE_UNAVAILABLE,
        marked("Something is busy or away. Nothing was done; try again in a moment."),
    ),
)
"""The first class that an error is one of decides."""


class PageRoute(APIRoute):
    """A route whose failures are pages."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return what answers a request."""
        answer = super().get_route_handler()

        async def answer_in_a_language(request: Request) -> Response:
            folder = request.app.state.service.settings.pages_catalogues
            with speaking(request.headers.get("accept-language"), folder):
                return await answer_with_a_page(request)

        async def answer_with_a_page(request: Request) -> Response:
            staff = request.url.path.startswith("/admin")
            if await _has_nul(request):
                return _problem(HTTPStatus.UNPROCESSABLE_ENTITY, gettext(_NOT_WHOLE), staff)
            try:
                return await answer(request)
            except (SignInFirst, SignInRefused) as error:
                by_provider = request.app.state.service.sign_in is not None
                reason = next(message for kind, message in _NOT_SIGNED_IN if isinstance(error, kind))
                problem = gettext(reason) if reason else ""
                code = HTTPStatus.UNAUTHORIZED
                return page("sign_in.html", None, is_staff=staff, code=code, by_provider=by_provider, problem=problem)
            except RequestValidationError:
                return _problem(HTTPStatus.UNPROCESSABLE_ENTITY, gettext(_NOT_WHOLE), staff)
            except AfterturnError as error:
                if isinstance(error, Denied):
                    count_denied(error)
                for kind, code, message in _SAID:
                    if isinstance(error, kind):
                        return _problem(code, gettext(message), staff)
                _log.error("request_failed", error=type(error).__name__)
                message = gettext("The service is not set up for this. Please tell those who run it.")
                return _problem(HTTPStatus.INTERNAL_SERVER_ERROR, message, staff)

        return answer_in_a_language


async def _has_nul(request: Request) -> bool:
    """Return whether an address or a form has the one character that Postgres takes in no text."""
    body = await request.body() if request.method == "POST" else b""
    sent = (request.url.path.encode(), request.url.query.encode(), body)
    return any(b"\x00" in text or b"%00" in text for text in sent)


def _problem(code: HTTPStatus, message: str, staff: bool) -> Response:
    return page("problem.html", None, is_staff=staff, code=code, message=message)
