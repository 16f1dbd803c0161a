"""Turns that could not be processed: why, and back in or away with them."""

from __future__ import annotations

import json
from collections import Counter
from datetime import UTC, datetime
from http import HTTPStatus
from itertools import islice
from typing import Annotated, Any, Final

from fastapi import APIRouter, Form, Response
from fastapi.responses import RedirectResponse
from pydantic import TypeAdapter, ValidationError

import interfaces.http.pages.wording as wording
from interfaces.http.pages.language import gettext
from interfaces.http.pages.problems import PageRoute
from interfaces.http.pages.rendering import page
from interfaces.http.pages.sessions import StaffSession
from interfaces.http.pages.sign_in import Staff, StaffForm
from interfaces.http.service import Opened, Service
from producers.replay import replay
from schema import AuditAction, AuditEntry, Subject
from schema.errors import ConflictingTurn, InvalidTurn, NotFound
from schema.turn import Identifier
from stores.dead_letters import DeadLetter, read_dead_letters, remove_dead_letter

router = APIRouter(include_in_schema=False, route_class=PageRoute)
_READ: Final = 10_000
_SHOWN: Final = 200
_IDS: Final = TypeAdapter[str](Identifier)


@router.get("/admin/dead-letters")
def letters(staff: Staff, service: Opened, done: str = "") -> Response:
    """List the dead letters of the tenant, without what they say."""
    # Each has its turn whole: only those are kept that are shown.
    shown: list[DeadLetter] = []
    counts: Counter[str | None] = Counter()
    for letter in islice(read_dead_letters(service.context.redis), _READ):
        tenant = _tenant_of(letter)
        counts[tenant] += 1
        if tenant == staff.tenant_id and len(shown) < _SHOWN:
            shown.append(letter)
    return page(
        "admin/dead_letters.html",
        staff,
        letters=shown,
        more_letters=counts[staff.tenant_id] - len(shown),
        nobodys=counts[None],
        notice=wording.after(done),
    )


@router.get("/admin/dead-letters/{letter_id}")
def letter(letter_id: str, staff: Staff, service: Opened) -> Response:
    """Show a dead letter whole: the reason, and the turn as it came."""
    return _whole(_letter_of(letter_id, staff, service), staff, service)


@router.post("/admin/dead-letters/{letter_id}")
def settle(
    letter_id: str,
    staff: StaffForm,
    service: Opened,
    decision: Annotated[str, Form(pattern="^(replay|throw)$")],
) -> Response:
    """Enqueue a dead letter's turn again, or throw it away for good."""
    context, letter = service.context, _letter_of(letter_id, staff, service)
    if decision == "throw":
        remove_dead_letter(context.redis, letter)
        _note(letter, staff, service, AuditAction.DROPPED, "threw a dead letter away")
        return RedirectResponse("/admin/dead-letters?done=thrown", HTTPStatus.SEE_OTHER)
    try:
        replay(
            letter,
            catalog=context.catalog,
            mailbox=context.mailbox,
            redis=context.redis,
            celery=context.celery,
            look_after=context.settings.sweep_seconds,
        )
    except (InvalidTurn, ConflictingTurn) as error:
        return _whole(
            letter, staff, service, problem=gettext("It stays: %(why)s") % {"why": error}, code=HTTPStatus.CONFLICT
        )
    _note(letter, staff, service, AuditAction.REPLAYED, "enqueued a dead letter again")
    return RedirectResponse("/admin/dead-letters?done=replayed", HTTPStatus.SEE_OTHER)


def _whole(
    letter: DeadLetter, staff: StaffSession, service: Service, *, problem: str = "", code: HTTPStatus = HTTPStatus.OK
) -> Response:
    _note(letter, staff, service, AuditAction.VIEWED, "opened a dead letter")
    turn_text = letter.turn if isinstance(letter.turn, str) else json.dumps(letter.turn, ensure_ascii=False, indent=2)
    return page("admin/dead_letter.html", staff, letter=letter, said=turn_text, problem=problem, code=code)


def _letter_of(letter_id: str, staff: StaffSession, service: Service) -> DeadLetter:
    for letter in islice(read_dead_letters(service.context.redis), _READ):
        if letter.id == letter_id and _tenant_of(letter) == staff.tenant_id:
            return letter
    raise NotFound("there is no such dead letter")


def _tenant_of(letter: DeadLetter) -> str | None:
    """Return whose a letter is; None where its turn does not say so: it may hold anybody's words."""
    turn: Any = letter.turn
    tenant = turn.get("tenant_id", "default") if isinstance(turn, dict) else None
    return tenant if isinstance(tenant, str) else None


def _id(value: Any) -> str | None:
    """Return what a letter says as an id, if it can be one: often it is a letter because that is none."""
    try:
        return _IDS.validate_python(value, strict=True)
    except ValidationError:
        return None


def _note(letter: DeadLetter, staff: StaffSession, service: Service, action: AuditAction, done: str) -> None:
    """Write in the audit what somebody of the staff did with a letter, where it says whose turn it has."""
    user, turn_id = _id(letter.turn.get("user_id")), _id(letter.turn_id)
    if user is None:
        return
    service.context.catalog.registry.note(
        AuditEntry(
            action=action,
            **Subject(tenant_id=staff.tenant_id, subject_id=user).model_dump(),
            at=datetime.now(UTC),
            by=staff.by,
            reason=done,
            turn_id=turn_id,
            policy_version=service.context.policy.version,
        )
    )
