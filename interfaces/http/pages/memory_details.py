"""One memory: where it came from, what was done to it and why, and what may be done about it."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime
from http import HTTPStatus
from typing import Annotated

from fastapi import APIRouter, Form, Response
from fastapi.responses import RedirectResponse
from pydantic import ValidationError

import interfaces.http.pages.wording as wording
from interfaces.http.pages.language import gettext
from interfaces.http.pages.problems import PageRoute
from interfaces.http.pages.subject_view import STAFF_ROOT, Shown, ShownForm, View, note_look
from interfaces.http.service import Opened
from memory.edits import Edit, NotPossible, Verb, apply_verb, edit
from memory.erasure.memories import erase_memories
from memory.statement_screening import NotKept
from memory.versions import VersionMismatch
from recall.listing import get_memory, origin_of
from recall.registry import history_of, near_of

router = APIRouter(include_in_schema=False, route_class=PageRoute)


@router.get("/me/memories/{memory_id}")
@router.get(f"{STAFF_ROOT}/memories/{{memory_id}}")
def details(memory_id: uuid.UUID, view: Shown, service: Opened, done: str = "") -> Response:
    """Show one memory with the words it came from, and all that was done to it."""
    note_look(view, service, "opened a memory", memory_id)
    return _details(memory_id, view, service, notice=wording.after(done))


@router.post("/me/memories/{memory_id}/edit")
@router.post(f"{STAFF_ROOT}/memories/{{memory_id}}/edit")
def change(
    memory_id: uuid.UUID,
    view: ShownForm,
    service: Opened,
    summary: Annotated[str, Form(max_length=2_000)],
    version: Annotated[int, Form()],
) -> Response:
    """Have a memory say something else."""
    wanted, now = Edit(summary), datetime.now(UTC)
    try:
        edit(
            view.reader,
            view.subject,
            memory_id,
            wanted,
            service.context,
            now=now,
            versions=[version],
            by=view.by,
            by_hand=True,
        )
    except VersionMismatch:
        problem = gettext(
            "It was changed by somebody else while you wrote. Here is what it says now; your words stand below."
        )
    except NotKept as error:
        problem = gettext("This cannot be kept: %(why)s.") % {"why": error}
    except ValidationError:
        problem = gettext("Write one or two sentences, 600 characters at most.")
    else:
        return RedirectResponse(f"{view.root}/memories/{memory_id}?done=edit", HTTPStatus.SEE_OTHER)
    return _details(memory_id, view, service, problem=problem, draft=summary, code=HTTPStatus.CONFLICT)


@router.post("/me/memories/{memory_id}/delete")
@router.post(f"{STAFF_ROOT}/memories/{{memory_id}}/delete")
def delete(memory_id: uuid.UUID, view: ShownForm, service: Opened) -> Response:
    """Erase a memory for good."""
    get_memory(view.reader, view.subject, memory_id, service.context)
    erase_memories(
        view.subject,
        [memory_id],
        service.context,
        by=view.by,
        reason="erased for its person" if view.is_staff else "erased by its person",
        now=datetime.now(UTC),
    )
    return RedirectResponse(f"{view.root}?done=delete", HTTPStatus.SEE_OTHER)


@router.post("/me/memories/{memory_id}/{verb}")
@router.post(f"{STAFF_ROOT}/memories/{{memory_id}}/{{verb}}")
def act(memory_id: uuid.UUID, verb: Verb, view: ShownForm, service: Opened) -> Response:
    """Pin, put away, take out again, never mention, or mention again."""
    try:
        apply_verb(view.reader, view.subject, memory_id, verb, service.context, now=datetime.now(UTC), by=view.by)
    except NotPossible as error:
        return _details(memory_id, view, service, problem=str(error), code=HTTPStatus.CONFLICT)
    return RedirectResponse(f"{view.root}/memories/{memory_id}?done={verb}", HTTPStatus.SEE_OTHER)


def _details(
    memory_id: uuid.UUID,
    view: View,
    service: Opened,
    *,
    problem: str = "",
    notice: str = "",
    draft: str = "",
    code: HTTPStatus = HTTPStatus.OK,
) -> Response:
    reader, subject = view.reader, view.subject
    origin = origin_of(reader, subject, memory_id, service.context)
    memory, uses = origin.memory, service.context.catalog.uses.of(subject, memory_id)
    return view.page(
        "memory.html",
        code=code,
        memory=memory,
        sources=origin.sources,
        uses=uses,
        used_at=max((memory.last_accessed, *(use.last_at for use in uses))),
        audit=origin.audit,
        is_quiet=memory.conversation_id is not None and view.preferences.pauses(memory.conversation_id),
        history=history_of(reader, subject, memory, service.context),
        near=near_of(reader, subject, memory, service.context),
        put_away_days=round(service.context.policy.archive_kept_days),
        problem=problem,
        notice=notice,
        draft=draft or memory.summary,
    )
