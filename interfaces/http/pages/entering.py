"""How a person comes in and leaves, and how a page knows who sits before it."""

from __future__ import annotations

import secrets
from http import HTTPStatus
from typing import Annotated, Any
from zoneinfo import ZoneInfo

from fastapi import APIRouter, Depends, Form, Request, Response
from fastapi.responses import RedirectResponse

from interfaces.http.credentials import Asker
from interfaces.http.pages.problems import FormExpired, PageRoute, SignInFirst
from interfaces.http.pages.rendering import page
from interfaces.http.pages.sessions import (
    COOKIE,
    LINK_SECONDS,
    PAGES_ALLOW,
    SESSION_SECONDS,
    Session,
    end_session,
    make_link,
    open_session,
    session_of,
)
from interfaces.http.service import Opened
from policies.access import acting, require
from schema import Capability, Preferences, Subject
from schema.errors import NotAllowed
from schema.turn import Identifier

router = APIRouter(include_in_schema=False, route_class=PageRoute)
api = APIRouter(prefix="/api/v1/subjects/{subject_id}", tags=["subjects"])


def _session(request: Request, service: Opened) -> Session:
    session = session_of(request.cookies.get(COOKIE), service.context.redis)
    if session is None:
        raise SignInFirst
    return session


Me = Annotated[Session, Depends(_session)]


def _checked(me: Me, form_token: Annotated[str, Form()] = "") -> Session:
    if not secrets.compare_digest(form_token.encode(), me.form_token.encode()):
        raise FormExpired
    return me


MyForm = Annotated[Session, Depends(_checked)]


def subject_of_me(me: Session) -> Subject:
    """Return whose memory it is: the person's own."""
    assert me.principal.user_id is not None
    return Subject(tenant_id=me.principal.tenant_id, subject_id=me.principal.user_id)


def zone_of(preferences: Preferences) -> ZoneInfo:
    """Return where the person's clock is: UTC where they never said."""
    return ZoneInfo(preferences.time_zone or "UTC")


@api.post("/page-link", summary="A link that signs a user in to their own pages")
def page_link(
    subject_id: Identifier,
    request: Request,
    principal: Asker,
    service: Opened,
) -> dict[str, Any]:
    """Make a link that opens the pages of a user for whoever follows it first, within five minutes. A backend asks for
    it with `act_as` and sends the user there, who may do there what is theirs: read, write and delete."""
    if principal.agent_id is not None:
        raise NotAllowed(Capability.ACT_AS)
    if Capability.ACT_AS not in principal.capabilities:
        for needed in PAGES_ALLOW:
            require(principal, needed)
    asker = acting(principal, subject_id)
    secret = make_link(asker.tenant_id, subject_id, service.context.redis)
    return {"url": f"{str(request.base_url).rstrip('/')}/me/enter?link={secret}", "expires_in": LINK_SECONDS}


@router.get("/me/enter")
def enter(link: str, service: Opened, request: Request) -> Response:
    """Open a session for whom a link was made."""
    secret = open_session(link, service.context.redis)
    if secret is None:
        return page("sign_in.html", None, code=HTTPStatus.UNAUTHORIZED)
    answer = RedirectResponse("/me", HTTPStatus.SEE_OTHER)
    secure = request.url.scheme == "https"
    answer.set_cookie(COOKIE, secret, SESSION_SECONDS, httponly=True, samesite="lax", secure=secure, path="/")
    return answer


@router.post("/me/sign-out")
def sign_out(_me: MyForm, request: Request, service: Opened) -> Response:
    """End the session."""
    end_session(request.cookies.get(COOKIE, ""), service.context.redis)
    answer = RedirectResponse("/me", HTTPStatus.SEE_OTHER)
    answer.delete_cookie(COOKIE)
    return answer
