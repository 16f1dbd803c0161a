"""How a person comes in by an OpenID provider: there, back with a code, and in."""

from __future__ import annotations

import secrets
from http import HTTPStatus
from typing import Annotated, Final

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import RedirectResponse

from interfaces.http.openid import Attempt, SignIn, SignInRefused
from interfaces.http.pages.problems import PageRoute
from interfaces.http.pages.sessions import COOKIE, start_session
from interfaces.http.pages.sign_in import entered
from interfaces.http.service import Opened, Service
from schema.errors import NotFound

router = APIRouter(include_in_schema=False, route_class=PageRoute)
_COOKIE: Final = "afterturn_sign_in"
_BACK: Final = "/me/signed-in"
_SECONDS: Final = 600
"""How long somebody may take at the provider."""
Answered = Annotated[str, Query(max_length=4_000)]


@router.get("/me/sign-in")
def sign_in(request: Request, service: Opened) -> Response:
    """Send somebody to the OpenID provider, and have this browser alone come back: what its way back must come with
    lies in its cookie, so that whoever knocks leaves nothing here."""
    by_provider, attempt = _of(service), Attempt.new()
    answer = RedirectResponse(by_provider.begin(attempt, _back_to(request)), HTTPStatus.SEE_OTHER)
    secure = request.url.scheme == "https"
    answer.set_cookie(_COOKIE, attempt.cookie, _SECONDS, httponly=True, samesite="lax", secure=secure, path=_BACK)
    return answer


@router.get(_BACK)
def signed_in(
    request: Request,
    service: Opened,
    code: Answered = "",
    state: Answered = "",
    iss: Annotated[str | None, Query(max_length=2_000)] = None,
) -> Response:
    """Open a session for whom the provider names, if it answers what this browser asked."""
    by_provider = _of(service)
    attempt = Attempt.of_cookie(request.cookies.get(_COOKIE, ""))
    if attempt is None or not secrets.compare_digest(attempt.state.encode(), state.encode()) or not code:
        raise SignInRefused
    tenant_id, user_id = by_provider.finish(attempt, code, _back_to(request), iss)
    answer = entered("/me", COOKIE, start_session(tenant_id, user_id, service.context.redis), request)
    answer.delete_cookie(_COOKIE, path=_BACK)
    return answer


def _of(service: Service) -> SignIn:
    if service.sign_in is None:
        raise NotFound("nobody signs in by a provider here")
    return service.sign_in


def _back_to(request: Request) -> str:
    return str(request.base_url).rstrip("/") + _BACK
