"""One memory: where it came from, what was done to it and why, and what its person may do about it."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime
from http import HTTPStatus
from typing import Annotated

from fastapi import APIRouter, Form, Response
from fastapi.responses import RedirectResponse
from pydantic import ValidationError

import interfaces.http.pages.words as words
from interfaces.http.memories import Verb, do
from interfaces.http.pages.entering import Me, MyForm, subject_of_me, zone_of
from interfaces.http.pages.problems import PageRoute
from interfaces.http.pages.rendering import page
from interfaces.http.pages.sessions import Session
from interfaces.http.service import Opened
from memory.edits import Edit, NotKept, NotPossible, VersionMismatch, edit
from memory.erasure.memories import erase_memories
from recall.listing import origin_of
from recall.registry import history_of, near_of

router = APIRouter(include_in_schema=False, route_class=PageRoute)


@router.get("/me/memories/{memory_id}")
def details(memory_id: uuid.UUID, me: Me, service: Opened, done: str = "") -> Response:
    """Show one memory with the words it came from, and all that was done to it."""
    return _details(memory_id, me, service, told=words.DONE.get(done, ""))


@router.post("/me/memories/{memory_id}/edit")
def change(
    memory_id: uuid.UUID,
    me: MyForm,
    service: Opened,
    summary: Annotated[str, Form(max_length=2_000)],
    version: Annotated[int, Form()],
) -> Response:
    """Have a memory say something else."""
    now = datetime.now(UTC)
    try:
        edit(me.principal, subject_of_me(me), memory_id, Edit(summary), service.context, now=now, version=version)
    except VersionMismatch:
        problem = "It was changed by somebody else while you wrote. Here is what it says now; your words stand below."
    except NotKept as error:
        problem = f"This cannot be kept: {error}."
    except ValidationError:
        problem = "Write one or two sentences, 600 characters at most."
    else:
        return RedirectResponse(f"/me/memories/{memory_id}?done=edit", HTTPStatus.SEE_OTHER)
    return _details(memory_id, me, service, problem=problem, draft=summary, code=HTTPStatus.CONFLICT)


@router.get("/me/memories/{memory_id}/delete")
def ask_delete(memory_id: uuid.UUID, me: Me, service: Opened) -> Response:
    """Ask once more before a memory is deleted for good."""
    origin = origin_of(me.principal, subject_of_me(me), memory_id, service.context)
    return page("delete.html", me, memory=origin.memory)


@router.post("/me/memories/{memory_id}/delete")
def delete(memory_id: uuid.UUID, me: MyForm, service: Opened) -> Response:
    """Erase a memory for good."""
    origin_of(me.principal, subject_of_me(me), memory_id, service.context)
    erase_memories(
        subject_of_me(me),
        [memory_id],
        service.context,
        by=me.principal.key_id,
        reason="erased by its person",
        now=datetime.now(UTC),
    )
    return RedirectResponse("/me?done=delete", HTTPStatus.SEE_OTHER)


@router.post("/me/memories/{memory_id}/{verb}")
def act(memory_id: uuid.UUID, verb: Verb, me: MyForm, service: Opened) -> Response:
    """Pin, put away, take out again, never mention, or mention again."""
    try:
        do(verb, me.principal, subject_of_me(me), memory_id, service)
    except NotPossible as error:
        return _details(memory_id, me, service, problem=str(error), code=HTTPStatus.CONFLICT)
    return RedirectResponse(f"/me/memories/{memory_id}?done={verb}", HTTPStatus.SEE_OTHER)


def _details(
    memory_id: uuid.UUID,
    me: Session,
    service: Opened,
    *,
    problem: str = "",
    told: str = "",
    draft: str = "",
    code: HTTPStatus = HTTPStatus.OK,
) -> Response:
    subject, catalog = subject_of_me(me), service.context.catalog
    origin = origin_of(me.principal, subject, memory_id, service.context)
    memory = origin.memory
    return page(
        "memory.html",
        me,
        code=code,
        zone=zone_of(catalog.preferences.of(subject)),
        memory=memory,
        sources=origin.sources,
        audit=origin.audit,
        history=history_of(me.principal, subject, memory, service.context),
        near=near_of(me.principal, subject, memory, service.context),
        put_away_days=round(service.context.policy.archive_kept_days),
        problem=problem,
        told=told,
        draft=draft or memory.summary,
    )
