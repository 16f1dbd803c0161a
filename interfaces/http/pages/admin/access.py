"""Who may ask: keys of the tenant, and members of subjects that are not themselves."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from http import HTTPStatus
from typing import Annotated, Final

from fastapi import APIRouter, Form, Response
from fastapi.responses import RedirectResponse
from pydantic import ValidationError

import interfaces.http.pages.wording as wording
from interfaces.http.pages.language import gettext
from interfaces.http.pages.problems import PageRoute
from interfaces.http.pages.rendering import page
from interfaces.http.pages.sessions import StaffSession
from interfaces.http.pages.sign_in import Staff, StaffForm
from interfaces.http.query_parameters import Cursor
from interfaces.http.service import Opened, Service
from memory.keys import issue, revoke
from memory.members import remove_member, set_member
from policies.access import in_force
from recall.cursors import page_of, place_of
from schema import AuditAction, AuditEntry, Capability, MemberRole, Subject
from schema.errors import NotFound
from schema.turn import Identifier

router = APIRouter(include_in_schema=False, route_class=PageRoute)
_A_PAGE: Final = 50
Name = Annotated[str, Form(min_length=1, max_length=100)]


@router.get("/admin/keys")
def keys(staff: Staff, service: Opened, done: str = "") -> Response:
    """List the tenant's keys, with what they may do and when they were used last."""
    return _keys(staff, service, notice=wording.after(done))


@router.post("/admin/keys")
def make_key(
    staff: StaffForm,
    service: Opened,
    name: Name,
    can: Annotated[list[Capability], Form()] = [],  # noqa: B006
    user: Annotated[str, Form(max_length=200)] = "",
    agent: Annotated[str, Form(max_length=200)] = "",
    days: Annotated[str, Form(pattern=r"^\d{0,4}$")] = "",
) -> Response:
    """Make a key, and show it this once."""
    if not can:
        return _keys(staff, service, problem=gettext("Say what it may do."), code=HTTPStatus.UNPROCESSABLE_ENTITY)
    now = datetime.now(UTC)
    try:
        issued = issue(
            name,
            staff.tenant_id,
            can,
            service.context.catalog,
            by=staff.by,
            now=now,
            user_id=user.strip() or None,
            agent_id=agent.strip() or None,
            expires_at=now + timedelta(days=int(days)) if days.strip("0") else None,
        )
    except ValidationError:
        problem = gettext("That can be no name, user or agent: say a name, and ids without control characters.")
        return _keys(staff, service, problem=problem, code=HTTPStatus.UNPROCESSABLE_ENTITY)
    _note(issued.key.id, "key_made", staff, service)
    return _keys(staff, service, secret=issued.secret)


@router.post("/admin/keys/{key_id}/revoke")
def end_key(key_id: str, staff: StaffForm, service: Opened) -> Response:
    """End a key at once, for good."""
    key = service.context.catalog.keys.get(key_id)
    if key is None or key.tenant_id != staff.tenant_id:
        raise NotFound("there is no such key")
    revoke(key_id, service.context.catalog, now=datetime.now(UTC))
    _note(key_id, "key_revoked", staff, service)
    return RedirectResponse("/admin/keys?done=revoked", HTTPStatus.SEE_OTHER)


@router.get("/admin/members")
def members(staff: Staff, service: Opened, cursor: Cursor = "", done: str = "") -> Response:
    """List who is a member of what."""
    after = place_of(cursor, str, str) if cursor else None
    rows = service.context.catalog.registry.members(staff.tenant_id, after=after, limit=_A_PAGE + 1)
    shown, following = page_of(rows, _A_PAGE, lambda member: [member.subject.subject_id, member.user_id])
    return page(
        "admin/members.html",
        staff,
        members=shown,
        roles=list(MemberRole),
        following=following,
        is_first=not cursor,
        notice=wording.after(done),
    )


@router.post("/admin/members")
def change_member(
    staff: StaffForm,
    service: Opened,
    subject: Annotated[Identifier, Form()],
    user: Annotated[Identifier, Form()],
    role: Annotated[MemberRole | None, Form()] = None,
) -> Response:
    """Make a user a member of a subject in a role, or without one take the membership away."""
    context, whose = service.context, Subject(tenant_id=staff.tenant_id, subject_id=subject)
    now, rules = datetime.now(UTC), context.policy.version
    if role is None:
        remove_member(whose, user, context.catalog, by=staff.by, now=now, policy_version=rules)
    else:
        set_member(whose, user, role, context.catalog, by=staff.by, now=now, policy_version=rules)
    return RedirectResponse(f"/admin/members?done={'member' if role else 'removed'}", HTTPStatus.SEE_OTHER)


def _note(key_id: str, done: str, staff: StaffSession, service: Service) -> None:
    service.context.catalog.registry.note(
        AuditEntry(
            action=AuditAction.KEY,
            tenant_id=staff.tenant_id,
            subject_id=key_id,
            at=datetime.now(UTC),
            by=staff.by,
            reason=done,
            policy_version=service.context.policy.version,
        )
    )


def _keys(
    staff: StaffSession,
    service: Service,
    *,
    secret: str = "",
    notice: str = "",
    problem: str = "",
    code: HTTPStatus = HTTPStatus.OK,
) -> Response:
    now = datetime.now(UTC)
    keys = service.context.catalog.keys.all(staff.tenant_id)
    return page(
        "admin/keys.html",
        staff,
        code=code,
        keys=[(key, in_force(key, now)) for key in reversed(keys)],
        capabilities=list(Capability),
        secret=secret,
        notice=notice,
        problem=problem,
    )
