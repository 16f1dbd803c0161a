"""Whose memory a page shows, and to whom: to the person themself, or to staff of their tenant."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated, Any, Final
from urllib.parse import unquote
from zoneinfo import ZoneInfo

from fastapi import Depends, Form, Request, Response
from pydantic import ValidationError

from interfaces.http.pages.addresses import as_path
from interfaces.http.pages.rendering import page
from interfaces.http.pages.sessions import Session, StaffSession
from interfaces.http.pages.sign_in import require_token, session_here, staff_of, subject_of_me, zone_of
from interfaces.http.service import Opened, Service
from schema import AuditAction, AuditEntry, Preferences, Principal, Subject
from schema.errors import NotFound

STAFF_ROOT: Final = "/admin/subjects/{whose}"
"""The pages of one subject for staff, by what `as_path` makes of its id."""


@dataclass(frozen=True)
class View:
    """Whose memory a page shows, and to whom. `root` is where the pages of that memory begin."""

    session: Session | StaffSession
    subject: Subject
    reader: Principal | None
    """Who reads; None for staff, who see all there is of a subject of their tenant."""
    by: str
    """The name by which the audit calls whoever does something."""
    root: str
    preferences: Preferences

    @property
    def is_staff(self) -> bool:
        """Return whether somebody else than the person looks."""
        return isinstance(self.session, StaffSession)

    def page(self, template: str, **values: Any) -> Response:
        """Return a page of the subject's memory, as `rendering.page`."""
        whose = self.subject.subject_id
        return page(template, self.session, zone=self.zone, root=self.root, whose=whose, **values)

    @property
    def zone(self) -> ZoneInfo:
        """Return where the person's clock is."""
        return zone_of(self.preferences)


def note_look(
    view: View, service: Service, reason: str, memory_id: uuid.UUID | None = None, *, document_id: str | None = None
) -> None:
    """Write in the audit that somebody of the staff looks at a subject's memory, before they do. A person's look at
    their own is nobody's affair."""
    if not view.is_staff:
        return
    line = AuditEntry(
        action=AuditAction.VIEWED,
        **view.subject.model_dump(),
        at=datetime.now(UTC),
        by=view.by,
        reason=reason,
        memory_id=memory_id,
        document_id=document_id,
        policy_version=service.context.policy.version,
    )
    service.context.catalog.registry.note(line)


def _view(request: Request, service: Opened) -> View:
    catalog = service.context.catalog
    whose = request.path_params.get("whose")
    if whose is None:
        me = session_here(request, service)
        subject = subject_of_me(me)
        return View(me, subject, me.principal, me.principal.key_id, "/me", catalog.preferences.of(subject))
    staff = staff_of(request, service)
    subject = known_subject(staff.tenant_id, unquote(whose), service)
    root = STAFF_ROOT.format(whose=as_path(subject.subject_id))
    return View(staff, subject, None, staff.by, root, catalog.preferences.of(subject))


def known_subject(tenant_id: str, subject_id: str, service: Service) -> Subject:
    """Return the subject of a tenant with this id.

    Raises:
        NotFound: the tenant has none.
    """
    try:
        subject = Subject(tenant_id=tenant_id, subject_id=subject_id)
    except ValidationError as error:
        raise NotFound("there is no such subject") from error
    if not service.context.catalog.registry.knows(subject):
        raise NotFound("there is no such subject")
    return subject


Shown = Annotated[View, Depends(_view)]
"""A route's parameter: whose memory it is about, and who asks."""


def _form(view: Shown, form_token: Annotated[str, Form()] = "") -> View:
    require_token(view.session, form_token)
    return view


ShownForm = Annotated[View, Depends(_form)]
"""As `Shown`, for a form that comes from a page of the session."""
