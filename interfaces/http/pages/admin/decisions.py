"""Pages of what waits for somebody's decision, what must stay, and what was erased."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime
from http import HTTPStatus
from typing import Annotated, Final

from fastapi import APIRouter, Form, Response
from fastapi.responses import RedirectResponse

from interfaces.http.pages.addresses import as_path
from interfaces.http.pages.admin.subjects import Text
from interfaces.http.pages.problems import PageRoute
from interfaces.http.pages.rendering import page
from interfaces.http.pages.sign_in import Staff
from interfaces.http.pages.subject_view import STAFF_ROOT, ShownForm, known_subject
from interfaces.http.query_parameters import Cursor
from interfaces.http.service import Opened
from memory.erasure.subjects import left_of_subject
from memory.legal_holds import MAX_WHY_CHARS, set_legal_hold
from recall.cursors import page_of, place_of
from recall.legal_holds import list_legal_holds
from schema import AuditAction, Scope
from schema.errors import NotFound

router = APIRouter(include_in_schema=False, route_class=PageRoute)
_A_PAGE: Final = 50


@router.get("/admin/reviews")
def reviews(staff: Staff, service: Opened, cursor: Cursor = "") -> Response:
    """List what waits for a person, of whom and why; what it would say is shown with the subject, where it is noted."""
    after = place_of(cursor, datetime.fromisoformat, uuid.UUID) if cursor else None
    rows = service.context.catalog.registry.reviews(staff.tenant_id, after=after, limit=_A_PAGE + 1)
    shown, following = page_of(rows, _A_PAGE, lambda review: [review.opened_at, review.id])
    return page("admin/reviews.html", staff, reviews=shown, following=following, is_first=not cursor)


@router.get("/admin/holds")
def holds(staff: Staff, service: Opened, cursor: Cursor = "") -> Response:
    """List what is under legal hold, of whom and for what."""
    shown, following = list_legal_holds(staff.tenant_id, service.context.catalog, cursor=cursor, limit=_A_PAGE)
    return page("admin/holds.html", staff, holds=shown, following=following, is_first=not cursor)


@router.post(f"{STAFF_ROOT}/memories/{{memory_id}}/hold")
def hold(
    memory_id: uuid.UUID,
    view: ShownForm,
    service: Opened,
    why: Annotated[str, Form(min_length=1, max_length=MAX_WHY_CHARS)],
    holds: Annotated[bool, Form()],
) -> Response:
    """Put a memory under legal hold, or lift it."""
    set_legal_hold(
        view.subject, [memory_id], service.context, why=why.strip(), by=view.by, now=datetime.now(UTC), holds=holds
    )
    return RedirectResponse(
        f"{view.root}/memories/{memory_id}?done={'hold' if holds else 'lift'}", HTTPStatus.SEE_OTHER
    )


@router.get("/admin/erasures")
def erasures(staff: Staff, service: Opened, cursor: Cursor = "") -> Response:
    """List what was erased and when a second look found nothing of it."""
    before = place_of(cursor, datetime.fromisoformat, str, str, str) if cursor else None
    registry = service.context.catalog.registry
    rows = registry.erasures(staff.tenant_id, before=before, limit=_A_PAGE + 1)
    shown, following = page_of(rows, _A_PAGE, lambda row: [row.at, row.subject.subject_id, row.scope.value, row.key])
    return page("admin/erasures.html", staff, erasures=shown, following=following, is_first=not cursor)


@router.get("/admin/erasures/proof")
def proof(staff: Staff, service: Opened, subject: Text) -> Response:
    """Look again, now, for anything that is left of an erased subject, and tell who erased it."""
    whose = known_subject(staff.tenant_id, subject, service)
    registry = service.context.catalog.registry
    erased = [
        row for row in registry.erasures(staff.tenant_id, subject_id=subject, limit=500) if row.scope is Scope.SUBJECT
    ]
    if not erased:
        raise NotFound("it was never erased as a whole")
    lines = registry.audit(staff.tenant_id, subject_id=subject, action=AuditAction.ERASED, limit=1)
    return page(
        "admin/proof.html",
        staff,
        whose_path=as_path(subject),
        subject=subject,
        erasure=erased[0],
        line=lines[0].entry if lines else None,
        left=left_of_subject(whose, service.context),
        looked_at=datetime.now(UTC),
    )
