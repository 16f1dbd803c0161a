"""How a person comes in and leaves, and how a page knows who sits before it."""

from __future__ import annotations

import secrets
from datetime import UTC, datetime
from http import HTTPStatus
from typing import Annotated, Any
from zoneinfo import ZoneInfo

from fastapi import APIRouter, Depends, Form, Query, Request, Response
from fastapi.responses import RedirectResponse

from interfaces.http.credentials import Admin, Asker
from interfaces.http.pages.problems import FormExpired, LinkSpent, PageRoute, SignInFirst
from interfaces.http.pages.sessions import (
    COOKIE,
    LINK_SECONDS,
    PAGES_ALLOW,
    SESSION_SECONDS,
    STAFF_COOKIE,
    Session,
    StaffSession,
    end_session,
    end_sessions,
    make_link,
    make_staff_link,
    open_session,
    open_staff_session,
    session_of,
    staff_session_of,
)
from interfaces.http.service import Opened
from policies.access import acting, require
from schema import Capability, Preferences, Principal, Subject
from schema.errors import NotAllowed
from schema.turn import Identifier

router = APIRouter(include_in_schema=False, route_class=PageRoute)
api = APIRouter(prefix="/api/v1", tags=["subjects"])


def session_here(request: Request, service: Opened) -> Session:
    """Return the session of the person who asks.

    Raises:
        SignInFirst: none is open.
    """
    session = session_of(request.cookies.get(COOKIE), service.context.redis)
    if session is None:
        raise SignInFirst
    return session


Me = Annotated[Session, Depends(session_here)]


def _checked(me: Me, form_token: Annotated[str, Form()] = "") -> Session:
    require_token(me, form_token)
    return me


MyForm = Annotated[Session, Depends(_checked)]


def staff_of(request: Request, service: Opened) -> StaffSession:
    """Return the session of whoever of the staff asks.

    Raises:
        SignInFirst: none is open.
    """
    secret, context = request.cookies.get(STAFF_COOKIE), service.context
    session = staff_session_of(secret, context.redis, context.catalog, datetime.now(UTC))
    if session is None:
        raise SignInFirst
    return session


Staff = Annotated[StaffSession, Depends(staff_of)]


def _checked_staff(staff: Staff, form_token: Annotated[str, Form()] = "") -> StaffSession:
    require_token(staff, form_token)
    return staff


StaffForm = Annotated[StaffSession, Depends(_checked_staff)]


def require_token(session: Session | StaffSession, form_token: str) -> None:
    """Check that a form comes from a page of the session.

    Raises:
        FormExpired: it does not.
    """
    if not secrets.compare_digest(form_token.encode(), session.form_token.encode()):
        raise FormExpired


def subject_of_me(me: Session) -> Subject:
    """Return whose memory it is: the person's own."""
    assert me.principal.user_id is not None
    return Subject(tenant_id=me.principal.tenant_id, subject_id=me.principal.user_id)


def zone_of(preferences: Preferences) -> ZoneInfo:
    """Return where the person's clock is: UTC where they never said."""
    return ZoneInfo(preferences.time_zone or "UTC")


@api.post("/subjects/{subject_id}/page-link", summary="A link that signs a user in to their own pages")
def page_link(
    subject_id: Identifier,
    request: Request,
    principal: Asker,
    service: Opened,
) -> dict[str, Any]:
    """Make a link that opens the pages of a user for whoever follows it first, within five minutes. A backend asks for
    it with `act_as` and sends the user there, who may do there what is theirs: read, write and delete."""
    asker = _vouching(principal, subject_id)
    secret = make_link(asker.tenant_id, subject_id, service.context.redis)
    return {"url": f"{str(request.base_url).rstrip('/')}/me/enter?link={secret}", "expires_in": LINK_SECONDS}


@api.delete(
    "/subjects/{subject_id}/page-sessions",
    status_code=HTTPStatus.NO_CONTENT,
    summary="Sign a user out of their pages everywhere",
)
def end_page_sessions(subject_id: Identifier, principal: Asker, service: Opened) -> None:
    """Close all sessions of a user's pages at once, and the links to them that nobody followed yet: when a device is
    lost, or an account closes. It needs what a link needs."""
    asker = _vouching(principal, subject_id)
    end_sessions(asker.tenant_id, subject_id, service.context.redis)


def _vouching(principal: Principal, subject_id: str) -> Principal:
    """Return the user for whose pages a key vouches.

    Raises:
        NotAllowed: the key may not.
    """
    if principal.agent_id is not None:
        raise NotAllowed(Capability.ACT_AS)
    if Capability.ACT_AS not in principal.capabilities:
        for needed in PAGES_ALLOW:
            require(principal, needed)
    return acting(principal, subject_id)


@api.post("/staff-link", summary="A link that signs somebody of the staff in to the pages of the tenant")
def staff_link(
    request: Request,
    principal: Admin,
    service: Opened,
    name: Annotated[Identifier, Query(description="who of the staff it is for: what the audit says", max_length=100)],
) -> dict[str, Any]:
    """Make a link that opens the pages for staff for whoever follows it first, within five minutes. Whoever asks for it
    needs `admin` and vouches for the name; what is opened by it closes when the key ends."""
    secret = make_staff_link(principal.tenant_id, name, principal.key_id, service.context.redis)
    return {"url": f"{str(request.base_url).rstrip('/')}/admin/enter?link={secret}", "expires_in": LINK_SECONDS}


@router.get("/me/enter")
def enter(link: str, service: Opened, request: Request) -> Response:
    """Open a session for whom a link was made."""
    return entered("/me", COOKIE, open_session(link, service.context.redis), request)


@router.get("/admin/enter")
def enter_as_staff(link: str, service: Opened, request: Request) -> Response:
    """Open a session for whom of the staff a link was made."""
    return entered("/admin", STAFF_COOKIE, open_staff_session(link, service.context.redis), request)


def entered(pages: str, cookie: str, secret: str | None, request: Request) -> Response:
    """Return the way to some pages with the cookie of a session.

    Raises:
        LinkSpent: no session was opened.
    """
    if secret is None:
        raise LinkSpent
    answer = RedirectResponse(pages, HTTPStatus.SEE_OTHER)
    secure = request.url.scheme == "https"
    path = "/" if cookie == COOKIE else pages
    answer.set_cookie(cookie, secret, SESSION_SECONDS, httponly=True, samesite="lax", secure=secure, path=path)
    return answer


@router.post("/me/sign-out")
def sign_out(_me: MyForm, request: Request, service: Opened) -> Response:
    """End the session."""
    end_session(request.cookies.get(COOKIE, ""), service.context.redis)
    answer = RedirectResponse("/me", HTTPStatus.SEE_OTHER)
    answer.delete_cookie(COOKIE)
    return answer


@router.post("/me/sign-out-everywhere")
def sign_out_everywhere(me: MyForm, service: Opened) -> Response:
    """End all sessions of the person, on every device."""
    assert me.principal.user_id is not None
    end_sessions(me.principal.tenant_id, me.principal.user_id, service.context.redis)
    answer = RedirectResponse("/me", HTTPStatus.SEE_OTHER)
    answer.delete_cookie(COOKIE)
    return answer


@router.post("/admin/sign-out")
def sign_out_staff(_staff: StaffForm, request: Request, service: Opened) -> Response:
    """End the session of somebody of the staff."""
    end_session(request.cookies.get(STAFF_COOKIE, ""), service.context.redis)
    answer = RedirectResponse("/admin", HTTPStatus.SEE_OTHER)
    answer.delete_cookie(STAFF_COOKIE, path="/admin")
    return answer
