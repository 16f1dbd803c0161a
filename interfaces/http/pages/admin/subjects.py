"""Whose memories there are, and who did what to them: the two lists that everything else begins with."""

from __future__ import annotations

from typing import Annotated, Final
from urllib.parse import urlencode

from fastapi import APIRouter, Query, Response

from interfaces.http.pages.overview import begin_of_day
from interfaces.http.pages.problems import PageRoute
from interfaces.http.pages.rendering import page
from interfaces.http.pages.sign_in import Staff
from interfaces.http.query_parameters import Cursor
from interfaces.http.service import Opened
from recall.cursors import page_of, place_of
from schema import AuditAction

router = APIRouter(include_in_schema=False, route_class=PageRoute)
_A_PAGE: Final = 50
Text = Annotated[str, Query(max_length=200)]
Day = Annotated[str, Query(max_length=10)]


@router.get("/admin")
def subjects(staff: Staff, service: Opened, begins: Text = "", cursor: Cursor = "") -> Response:
    """List the subjects of the tenant, or those whose ids begin with something."""
    [after] = place_of(cursor, str) if cursor else [""]
    rows = service.context.catalog.registry.subjects(staff.tenant_id, begins=begins, after=after, limit=_A_PAGE + 1)
    shown, following = page_of(rows, _A_PAGE, lambda row: [row.subject.subject_id])
    return page(
        "admin/subjects.html",
        staff,
        subjects=shown,
        begins=begins,
        is_first=not cursor,
        following=following and urlencode({"begins": begins, "cursor": following}),
    )


@router.get("/admin/audit")
def audit(
    staff: Staff,
    service: Opened,
    subject: Text = "",
    by: Text = "",
    action: Annotated[str, Query(max_length=20)] = "",
    since: Day = "",
    until: Day = "",
    cursor: Cursor = "",
) -> Response:
    """List who did what, latest first."""
    [before] = place_of(cursor, int) if cursor else [None]
    rows = service.context.catalog.registry.audit(
        staff.tenant_id,
        subject_id=subject,
        by=by,
        action=AuditAction(action) if action in set(AuditAction) else None,
        since=begin_of_day(since),
        until=begin_of_day(until, days=1),
        before=before,
        limit=_A_PAGE + 1,
    )
    shown, following = page_of(rows, _A_PAGE, lambda row: [row.id])
    wanted = {"subject": subject, "by": by, "action": action, "since": since, "until": until}
    return page(
        "admin/audit.html",
        staff,
        rows=shown,
        wanted=wanted,
        actions=sorted(AuditAction),
        is_first=not cursor,
        following=following and urlencode({**wanted, "cursor": following}),
    )
