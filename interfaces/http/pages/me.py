"""My memory: all that is known about the person before the page, and what they may do about it."""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator, Mapping
from datetime import UTC, datetime
from http import HTTPStatus
from itertools import groupby
from typing import Annotated, Any, Final

from fastapi import APIRouter, Form, Query, Response
from fastapi.responses import RedirectResponse
from fastapi.sse import EventSourceResponse, ServerSentEvent
from pydantic import ValidationError

from interfaces.http.memories import Verb, do
from interfaces.http.pages.entering import Me, MyForm, subject_of_me
from interfaces.http.pages.rendering import page
from interfaces.http.pages.sessions import Session
from interfaces.http.service import Opened
from memory.edits import Edit, NotKept, NotPossible, VersionMismatch, edit
from memory.erasure.memories import erase_memories
from recall.events import audience_of, listen
from recall.filters import Filters
from recall.listing import list_memories, origin_of
from recall.retrieve import retrieve
from schema import Memory, MemoryType, Status

router = APIRouter(include_in_schema=False)
_A_PAGE: Final = 50


@router.get("/me")
def overview(
    me: Me,
    service: Opened,
    ask: Annotated[str, Query(max_length=500)] = "",
    kind: Annotated[str, Query(alias="type")] = "",
    state: Annotated[str, Query(alias="status")] = Status.ACTIVE.value,
    cursor: Annotated[str | None, Query(max_length=300)] = None,
) -> Response:
    """Show all that is known, by category, or what answers a question."""
    subject = subject_of_me(me)
    types = (MemoryType(kind),) if kind in set(MemoryType) else ()
    statuses = (Status(state),) if state in set(Status) else (Status.ACTIVE,)
    if ask.strip():
        filters = Filters(types=types)
        hits = retrieve(me.principal, [subject], ask, service.context, filters=filters, limit=30, now=datetime.now(UTC))
        memories, following = [hit.memory for hit in hits], None
    else:
        listed = list_memories(
            me.principal,
            subject,
            service.context,
            filters=Filters(types=types, statuses=statuses),
            cursor=cursor,
            limit=_A_PAGE,
        )
        memories, following = listed.memories, listed.cursor
    by_category = sorted(memories, key=lambda memory: memory.category)
    groups = [(name, list(some)) for name, some in groupby(by_category, key=lambda memory: memory.category)]
    return page(
        "overview.html",
        me,
        groups=groups,
        ask=ask,
        type=kind,
        state=statuses[0].value,
        cursor=following,
        waiting=service.context.catalog.reviews.count_open(subject),
        preferences=service.context.catalog.preferences.of(subject),
    )


@router.get("/me/memories/{memory_id}")
def details(memory_id: uuid.UUID, me: Me, service: Opened) -> Response:
    """Show one memory with the words it came from, and all that was done to it."""
    return _details(memory_id, me, service)


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
        return RedirectResponse(f"/me/memories/{memory_id}", HTTPStatus.SEE_OTHER)
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
    return RedirectResponse("/me", HTTPStatus.SEE_OTHER)


@router.post("/me/memories/{memory_id}/{verb}")
def act(memory_id: uuid.UUID, verb: Verb, me: MyForm, service: Opened) -> Response:
    """Pin, put away, take out again, never mention, or mention again."""
    try:
        do(verb, me.principal, subject_of_me(me), memory_id, service)
    except NotPossible as error:
        return _details(memory_id, me, service, problem=str(error), code=HTTPStatus.CONFLICT)
    return RedirectResponse(f"/me/memories/{memory_id}", HTTPStatus.SEE_OTHER)


@router.get("/me/live", response_class=EventSourceResponse)
async def live(me: Me, service: Opened) -> AsyncIterator[ServerSentEvent]:
    """Tell the page that something changed, not what."""
    audience = audience_of(me.principal, subject_of_me(me), None)
    async for event in listen(audience, None, service.context, service.async_redis):
        if event is None:
            yield ServerSentEvent(comment="still here")
        else:
            yield ServerSentEvent(event=event.name, data="")


def _details(
    memory_id: uuid.UUID,
    me: Session,
    service: Opened,
    *,
    problem: str = "",
    draft: str = "",
    code: HTTPStatus = HTTPStatus.OK,
) -> Response:
    origin = origin_of(me.principal, subject_of_me(me), memory_id, service.context)
    related = service.context.catalog.memories(
        subject_of_me(me), [*origin.memory.supersedes, *filter(None, [origin.memory.superseded_by])]
    )
    return page(
        "memory.html",
        me,
        code=code,
        memory=origin.memory,
        sources=origin.sources,
        audit=origin.audit,
        replaced=_among(related, origin.memory.supersedes),
        replaced_by=_among(related, [origin.memory.superseded_by] if origin.memory.superseded_by else []),
        problem=problem,
        draft=draft or origin.memory.summary,
    )


def _among(memories: Mapping[uuid.UUID, Memory], ids: Any) -> list[Memory]:
    return [memories[id_] for id_ in ids if id_ in memories]
