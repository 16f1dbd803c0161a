"""Memories over HTTP: search, list, read, write, and what a person does to one."""

from __future__ import annotations

import uuid
from dataclasses import replace
from datetime import UTC, datetime
from http import HTTPStatus
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Request, Response
from pydantic import BaseModel, ConfigDict, Field, StrictBool

from interfaces.http.credentials import Asker, subject_of
from interfaces.http.etags import IfMatch, TellETag, etag_of, versions_in
from interfaces.http.idempotency import OnceOnly
from interfaces.http.query_parameters import About, AboutMany, Wanted
from interfaces.http.service import Opened, Service
from memory.edits import Edit, Verb, apply_verb, edit
from memory.erasure.memories import forget_memory
from memory.remember import Statement, remember
from policies.access import acting
from recall.listing import count_memories, get_memory, list_memories, origin_of, related_to, vector_of
from recall.memory_out import (
    VISIBILITY_OF,
    HitOut,
    MemoryOut,
    Scope,
    WholeMemory,
    fields_of,
    hit_out,
    memory_out,
)
from recall.retrieve import retrieve
from schema import Kind, Memory, Principal, Status, Subject
from schema.base import NO_NUL
from schema.errors import Denied, NotFound
from schema.memory import Category, Summary, Tag
from schema.turn import Identifier, Moment

router = APIRouter(prefix="/api/v1/memories", tags=["memories"])
Offset = Annotated[int, Query(ge=0, le=10_000, description="skips so many")]


class PageOut(BaseModel):
    """A page of memories, latest created first; `cursor` asks for the next one, and is null on the last."""

    items: list[MemoryOut]
    cursor: str | None
    total: int | None = Field(description="how many all pages have together; null where a cursor was sent")
    limit: int
    offset: int


class RememberedOut(BaseModel):
    """Outcome of a statement, and the memory that says it now; null where none does."""

    outcome: Literal["created", "updated", "known", "held"]
    memory_id: uuid.UUID | None
    memory: MemoryOut | None


class WholeMemoryOut(WholeMemory):
    """A memory whole; its ETag is what an edit is to name in If-Match."""

    embedding: list[float] | None = Field(
        None, description="with `include=embedding`: its vector; null where the index has none of it yet"
    )


class MemoryIn(BaseModel):
    """A statement to remember: one or two sentences."""

    model_config = ConfigDict(extra="forbid")

    content: Summary
    memory_type: Kind = Kind.USER_FACT
    category: Annotated[str, Field(max_length=60, pattern=NO_NUL)] | None = None
    scope: Scope | None = None
    tags: Annotated[list[Tag], Field(max_length=20)] = []
    importance: Annotated[float, Field(ge=0, le=1, strict=True)] | None = None
    confidence: Annotated[float, Field(ge=0, le=1, strict=True)] = 0.8
    pinned: StrictBool = False
    occurred_at: Moment | None = None
    user_id: Identifier | None = None
    agent_id: Identifier | None = None


class MemoryPatch(BaseModel):
    """New values of a memory's fields; what is left out stays."""

    model_config = ConfigDict(extra="forbid")

    content: Summary | None = None
    category: Category | None = None
    tags: Annotated[list[Tag], Field(max_length=20)] | None = None
    importance: Annotated[float, Field(ge=0, le=1, strict=True)] | None = None
    confidence: Annotated[float, Field(ge=0, le=1, strict=True)] | None = None
    scope: Scope | None = None


@router.get("/search", summary="Find what answers a question")
def search(
    request: Request,
    about: AboutMany,
    filters: Wanted,
    service: Opened,
    query: Annotated[
        str | None,
        Query(min_length=1, max_length=2_000, pattern=r"\S", description="unset: what the filters let through"),
    ] = None,
    limit: Annotated[int, Query(ge=1, le=100)] = 10,
    offset: Offset = 0,
    explain: bool = False,
) -> list[HitOut | MemoryOut]:
    """Find the memories that answer a question best; a question about nothing that is known gets none.

    Without a question it is a list of what the filters let through, latest created first, and nothing is measured.
    """
    if query is None:
        page = list_memories(
            about.principal, about.subject, service.context, filters=filters, offset=offset, limit=limit
        )
        service.answers.note(request, about.principal, about.subject, (memory.id for memory in page.memories))
        return [memory_out(memory) for memory in page.memories]
    hits = retrieve(
        about.principal,
        [about.subject],
        query,
        service.context,
        filters=filters,
        limit=limit,
        offset=offset,
        explain=explain,
        now=datetime.now(UTC),
    )
    service.answers.note(request, about.principal, about.subject, (hit.memory.id for hit in hits))
    return [hit_out(hit) for hit in hits]


@router.get("", include_in_schema=False)
@router.get("/", summary="List what is known")
def list_(
    about: AboutMany,
    filters: Wanted,
    service: Opened,
    words: Annotated[str, Query(max_length=200, pattern=NO_NUL, description="words that the summary must have")] = "",
    status: Annotated[list[Status], Query()] = [Status.ACTIVE],  # noqa: B006
    cursor: Annotated[str | None, Query(max_length=300)] = None,
    offset: Offset = 0,
    limit: Annotated[int, Query(ge=1, le=100)] = 50,
) -> PageOut:
    """List memories page by page. By its cursor a list is complete while others write: what is there all the time comes
    exactly once. `offset` skips so many, from the cursor on where there is one."""
    wanted = replace(filters, statuses=tuple(status))
    page = list_memories(
        about.principal,
        about.subject,
        service.context,
        filters=wanted,
        words=words,
        cursor=cursor,
        offset=offset,
        limit=limit,
    )
    total = (
        None if cursor else count_memories(about.principal, about.subject, service.context, filters=wanted, words=words)
    )
    items = [memory_out(memory) for memory in page.memories]
    return PageOut(items=items, cursor=page.cursor, total=total, limit=limit, offset=offset)


@router.post("", status_code=HTTPStatus.CREATED, include_in_schema=False)
@router.post(
    "/",
    status_code=HTTPStatus.CREATED,
    responses={HTTPStatus.OK: {"model": RememberedOut, "description": "Merged into what is known, or known already"}},
    summary="Remember something outright",
)
def create(given: MemoryIn, principal: Asker, service: Opened, response: Response, once: OnceOnly) -> RememberedOut:
    """Remember a statement by the same decision as what comes of a turn: 201 where it is new, 200 where it was merged
    into what is known, or known already."""
    asker = acting(principal, given.user_id, given.agent_id)
    subject = subject_of(asker, given.user_id)
    statement = Statement(
        given.content,
        given.memory_type,
        given.category,
        tuple(given.tags),
        given.confidence,
        VISIBILITY_OF[given.scope],
        given.occurred_at,
        pinned=given.pinned,
        importance=given.importance,
    )

    fresh: list[Memory | None] = []

    def remembering() -> dict[str, Any]:
        remembered = remember(asker, subject, statement, service.context, now=datetime.now(UTC))
        fresh.append(remembered.memory)
        return {"outcome": remembered.outcome, "memory_id": str(remembered.memory.id) if remembered.memory else None}

    receipt = once(remembering)
    if receipt["outcome"] != "created":
        response.status_code = HTTPStatus.OK
    memory = fresh[0] if fresh else _known(receipt["memory_id"], asker, subject, service)
    shown = memory_out(memory) if memory else None
    return RememberedOut(outcome=receipt["outcome"], memory_id=shown and shown.memory_id, memory=shown)


@router.get("/{memory_id}", summary="Read one memory")
def read(
    memory_id: uuid.UUID,
    about: About,
    service: Opened,
    tell_etag: TellETag,
    include: Annotated[Literal["embedding"] | None, Query(description="what is told beside the rest")] = None,
) -> WholeMemoryOut:
    """Read a memory, whatever its status; its ETag is what a change is to name in If-Match."""
    memory = get_memory(about.principal, about.subject, memory_id, service.context)
    tell_etag(memory.version)
    return WholeMemoryOut(
        **fields_of(memory),
        related_memories=related_to(about.principal, memory, service.context),
        embedding=vector_of(memory, service.context) if include else None,
    )


@router.get("/{memory_id}/origin", summary="Where a memory came from, and what was done to it")
def origin(memory_id: uuid.UUID, about: About, service: Opened) -> dict[str, Any]:
    """Tell the turns that a memory came from, quoted, and every line of its audit."""
    traced = origin_of(about.principal, about.subject, memory_id, service.context)
    return {
        "memory": memory_out(traced.memory).model_dump(mode="json"),
        "sources": [turn.model_dump(mode="json", exclude_none=True) for turn in traced.sources],
        "audit": [line.model_dump(mode="json", exclude_none=True) for line in traced.audit],
    }


@router.patch("/{memory_id}", summary="Change what a memory says or counts")
def change(
    memory_id: uuid.UUID,
    given: MemoryPatch,
    about: About,
    service: Opened,
    response: Response,
    if_match: IfMatch = None,
) -> MemoryOut:
    """Change a memory; with If-Match only while it is at that version, else 412."""
    tags = None if given.tags is None else tuple(given.tags)
    wanted = Edit(given.content, given.category, tags, given.importance, given.confidence, VISIBILITY_OF[given.scope])
    versions, now = versions_in(if_match), datetime.now(UTC)
    memory = edit(about.principal, about.subject, memory_id, wanted, service.context, now=now, versions=versions)
    response.headers["ETag"] = etag_of(memory.version)
    return memory_out(memory)


@router.post("/{memory_id}/{verb}", summary="Pin, unpin, archive, restore, suppress or unsuppress a memory")
def act(
    memory_id: uuid.UUID,
    verb: Verb,
    about: About,
    service: Opened,
    response: Response,
    if_match: IfMatch = None,
) -> MemoryOut:
    """Do to a memory what the verb says; with If-Match only while it is at that version, else 412. Doing it again
    changes nothing."""
    versions, now = versions_in(if_match), datetime.now(UTC)
    memory = apply_verb(about.principal, about.subject, memory_id, verb, service.context, now=now, versions=versions)
    response.headers["ETag"] = etag_of(memory.version)
    return memory_out(memory)


@router.delete("/{memory_id}", status_code=HTTPStatus.NO_CONTENT, summary="Erase a memory for good")
def delete(memory_id: uuid.UUID, about: About, service: Opened, if_match: IfMatch = None) -> None:
    """Erase a memory, its vector, and the raw turns that nothing else needs; with If-Match only while it is at that
    version, else 412. A line without content stays; and in the broker's append-only file the turn as it came, until the
    broker writes that anew: to erase the subject has it do so at once, and tells."""
    forget_memory(
        about.principal,
        about.subject,
        memory_id,
        service.context,
        reason="erased over HTTP",
        now=datetime.now(UTC),
        versions=versions_in(if_match),
    )


def _known(memory_id: str | None, asker: Principal, subject: Subject, service: Service) -> Memory | None:
    """Return a memory as it is now; None where it was erased since, or may be written and not seen."""
    if memory_id is None:
        return None
    try:
        return get_memory(asker, subject, uuid.UUID(memory_id), service.context)
    except (NotFound, Denied):
        return None
