"""Subjects over HTTP: context, retrieval, reviews, export and erasure."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from datetime import UTC, datetime
from http import HTTPStatus
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Query, Request
from fastapi.responses import StreamingResponse
from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, field_validator

from interfaces.erasing import erase
from interfaces.http.credentials import Asker
from interfaces.http.idempotency import OnceOnly
from interfaces.http.pages.sessions import end_sessions
from interfaces.http.query_parameters import Cursor
from interfaces.http.service import Opened, Service
from memory.export import export
from memory.reviews import approve, asked_in, hidden_by, is_for, reject
from memory.rights import require_deletable, require_person, require_writable, seen_of
from policies.access import acting
from recall.audience import audiences, avoided_topics_in
from recall.context_block import context_block
from recall.iterative import Limits, Outcome, is_due, retrieve_in_rounds
from recall.memory_out import HitOut, hit_out
from recall.reviews import list_open_reviews
from schema import Asker as ReviewAsker
from schema import (
    Capability,
    Labels,
    MemoryType,
    Message,
    Principal,
    Review,
    ReviewStatus,
    Subject,
    Visibility,
)
from schema.errors import NotFound, NotTheSubject
from schema.turn import Identifier
from stores.catalog import Catalog

router = APIRouter(prefix="/api/v1/subjects/{subject_id}", tags=["subjects"])
_NO_SUCH_REVIEW = "there is no such open review"


class _Asked(BaseModel):
    principal: Principal
    subject: Subject


async def _asked(
    subject_id: Identifier,
    principal: Asker,
    user_id: Annotated[Identifier | None, Query(description="for whom, with the capability act_as")] = None,
    agent_id: Annotated[Identifier | None, Query(description="which agent, with the capability act_as")] = None,
) -> _Asked:
    asker = acting(principal, user_id, agent_id)
    return _Asked(principal=asker, subject=Subject(tenant_id=asker.tenant_id, subject_id=subject_id))


About = Annotated[_Asked, Depends(_asked)]


class ContextOut(BaseModel):
    """Text for a prompt, the memories that stand in it, and the ids of the documents of which excerpts do."""

    text: str
    used: list[uuid.UUID]
    documents: list[str]
    etag: str
    tokens: int


_SAID_BY_THE_USER = {
    "type": "object",
    "properties": {"role": {"const": "user"}, "content": {"type": "string", "pattern": r"\S"}},
    "required": ["role", "content"],
}


class AboutToAnswerIn(BaseModel):
    """The last messages of a conversation, oldest first, which an agent is about to answer; `turn_number` counts its
    turns from 1."""

    model_config = ConfigDict(extra="forbid")

    messages: Annotated[
        list[Message], Field(min_length=1, max_length=100, json_schema_extra={"contains": _SAID_BY_THE_USER})
    ]
    turn_number: Annotated[int, Field(ge=1)] = 1

    @field_validator("messages")
    @classmethod
    def _the_user_said_something(cls, messages: list[Message]) -> list[Message]:
        if not any(message.role == "user" and message.content.strip() for message in messages):
            raise ValueError("none of them is the user's: send at least what the user said last")
        return messages


class RetrievedOut(BaseModel):
    """The context that an agent is given before it answers: `outcome` says how it came about, `rounds` how often the
    model was asked."""

    memories: list[HitOut]
    rounds: int = 0
    outcome: Outcome | Literal["not_due", "agent_disabled"]


class HiddenOut(BaseModel):
    """A memory that is hidden until a person decides whether it is forgotten."""

    memory_id: uuid.UUID
    content: str


class ReviewOut(BaseModel):
    """Something that a person must decide on: what would be kept, or forgotten, who wants it looked at, and by which
    rules; `content` is null once that is gone. `wish` are the words of a wish to forget, and `hidden` the memories that
    it may have meant."""

    review_id: uuid.UUID
    asked_by: ReviewAsker
    reason: str
    opened_at: AwareDatetime
    content: str | None
    type: MemoryType | None
    wish: str | None = None
    hidden: list[HiddenOut] = []


class ReviewsOut(BaseModel):
    """A page of what waits, oldest first; `cursor` asks for the next one, and is null on the last."""

    items: list[ReviewOut]
    cursor: str | None


class TextIn(BaseModel):
    """Something an assistant is about to say."""

    model_config = ConfigDict(extra="forbid")

    text: Annotated[str, Field(min_length=1, max_length=20_000)]


@router.get("/context", summary="What a prompt is given of what is known")
def context(
    request: Request,
    about: About,
    service: Opened,
    question: Annotated[str, Query(max_length=4_000)] = "",
    tokens: Annotated[int, Query(ge=50, le=20_000)] = 600,
    bullets: Annotated[int | None, Query(ge=1, le=20)] = None,
) -> ContextOut:
    """Build a block for a prompt: cited, dated, within a budget, what stands first, and the same bytes until something
    is written."""
    block = context_block(
        about.principal,
        [about.subject],
        question,
        service.context,
        budget_tokens=tokens,
        bullets=bullets,
        now=datetime.now(UTC),
    )
    service.answers.note(request, about.principal, about.subject, block.used)
    return ContextOut.model_validate(block, from_attributes=True)


@router.post("/retrieval", summary="What an agent should know before it answers")
def retrieval(request: Request, given: AboutToAnswerIn, about: About, service: Opened) -> RetrievedOut:
    """Search in rounds: a language model, where there is one, asks for memories until it can choose what helps to
    answer. Without one it is a search by the user's last message."""
    settings, agent = service.context.settings, about.principal.agent_id
    if not settings.switches_of(agent).retriever:
        return RetrievedOut(memories=[], outcome="agent_disabled")
    if not is_due(given.turn_number, settings.retriever_every_turns):
        return RetrievedOut(memories=[], outcome="not_due")
    retrieved = retrieve_in_rounds(
        about.principal,
        [about.subject],
        given.messages,
        service.context,
        llm=service.context.llm,
        limits=Limits(settings.retriever_rounds, settings.retriever_messages, settings.retriever_deadline_ms / 1_000),
        now=datetime.now(UTC),
    )
    service.answers.note(request, about.principal, about.subject, (hit.memory.id for hit in retrieved.hits))
    return RetrievedOut(
        memories=[hit_out(hit) for hit in retrieved.hits], rounds=retrieved.rounds, outcome=retrieved.outcome
    )


@router.post("/topics/check", summary="Whether something may be said to the subject")
def check_topic(given: TextIn, about: About, service: Opened) -> dict[str, Any]:
    """Tell whether a text is on none of the topics that the subject wants left alone, and on which it is: to those who
    see what members share."""
    on = avoided_topics_in(about.principal, about.subject, given.text, service.context)
    return {"may_be_said": not on, "topics": on}


@router.get("/reviews", summary="What waits for a decision")
def reviews(
    about: About,
    service: Opened,
    cursor: Cursor = "",
    limit: Annotated[int, Query(ge=1, le=100)] = 50,
) -> ReviewsOut:
    """List the candidates that a person must decide on, and what a wish to forget may have meant (`asked_by`
    "forgetting": to approve is to erase it, to reject to show it again), oldest first. By its cursor the list is
    complete while others decide, and while more comes to wait."""
    _require_whole(about, service)
    catalog = service.context.catalog
    seen = seen_of(about.principal, about.subject, catalog)
    waiting, following = list_open_reviews(seen, about.subject, catalog, cursor=cursor, limit=limit)
    return ReviewsOut(items=[_review(review, catalog) for review in waiting], cursor=following or None)


class DecisionIn(BaseModel):
    """Which of the memories that a wish to forget hid are erased; the others are told again. All are without this."""

    model_config = ConfigDict(extra="forbid")

    memory_ids: Annotated[list[uuid.UUID], Field(min_length=1, max_length=10_000)]


@router.post("/reviews/{review_id}/{decision}", summary="Let a candidate become a memory, or drop it")
def decide_review(
    review_id: uuid.UUID,
    decision: Literal["approve", "reject"],
    about: About,
    service: Opened,
    once: OnceOnly,
    chosen: DecisionIn | None = None,
) -> dict[str, Any]:
    """Decide on a candidate, or on what a wish to forget may have meant: of several memories, to approve with
    `memory_ids` erases those alone, and shows the others again. No agent decides what waits for a person."""
    _require_whole(about, service)
    require_person(about.principal)
    return once(lambda: _decide(review_id, decision, chosen, about, service))


def _decide(
    review_id: uuid.UUID, decision: str, chosen: DecisionIn | None, about: _Asked, service: Service
) -> dict[str, Any]:
    catalog = service.context.catalog
    review = catalog.reviews.get(review_id)
    if review is None or review.subject != about.subject or review.status is not ReviewStatus.OPEN:
        raise NotFound(_NO_SUCH_REVIEW)
    if not is_for(seen_of(about.principal, about.subject, catalog), review, catalog):
        raise NotFound(_NO_SUCH_REVIEW)
    now, by = datetime.now(UTC), about.principal.key_id
    if decision == "reject":
        reject(review_id, service.context, by=by, now=now)
        return {"decision": decision, "memory_id": None}
    only = chosen.memory_ids if chosen else None
    approved = approve(review_id, service.context, by=by, now=now, only=only)
    return {"decision": decision, "memory_id": str(approved.memory.id) if approved.memory else None}


@router.get(
    "/export",
    response_class=StreamingResponse,
    responses={HTTPStatus.OK: {"content": {"application/x-ndjson": {"schema": {"type": "string"}}}}},
    summary="All that is known of a subject, with the words it came from",
)
def export_all(about: About, service: Opened) -> StreamingResponse:
    """Stream every memory with its raw turns, and every document that the key may see, as JSON lines."""
    _require_whole(about, service)
    seen = seen_of(about.principal, about.subject, service.context.catalog)
    lines: Iterator[str] = export(service.context, subject=about.subject, seen=seen)
    return StreamingResponse((f"{line.rstrip()}\n" for line in lines), media_type="application/x-ndjson")


@router.delete("", summary="Forget a subject, with a proof")
def forget(about: About, service: Opened) -> dict[str, Any]:
    """Erase all that is known of a subject wherever it lies, and look again everywhere: what was removed, and what is
    left. Who was signed in to its pages is signed out."""
    require_deletable(about.principal)
    _require_whole(about, service)
    proof = erase(about.subject, service.context, by=about.principal.key_id)
    end_sessions(about.subject.tenant_id, about.subject.subject_id, service.context.redis)
    return {"removed": proof.removed, "left": proof.left, "notes": proof.notes, "clean": proof.is_clean}


def require_write(about: _Asked, service: Opened) -> None:
    """Check that who asks may write what is the subject's own.

    Raises:
        NotAMember, NotAllowed: they may not.
    """
    shared = Labels(Visibility.PRIVATE, about.subject.subject_id, None)
    require_writable(about.principal, about.subject, shared, service.context.catalog)


def _require_whole(about: _Asked, service: Opened) -> None:
    """Check that who asks may have to do with all of a subject's memory: the words that it came from, and what others
    called private. That may the subject, and who administers."""
    require_write(about, service)
    [audience] = audiences(about.principal, [about.subject], service.context)
    if not audience.reads_turns and Capability.ADMIN not in about.principal.capabilities:
        raise NotTheSubject(Capability.ADMIN)


def _review(review: Review, catalog: Catalog) -> ReviewOut:
    candidate = review.candidate
    return ReviewOut(
        review_id=review.id,
        asked_by=review.asked_by,
        reason=review.reason,
        opened_at=review.opened_at,
        content=asked_in(review, catalog) or None,
        type=candidate.type if candidate else None,
        wish=review.wish,
        hidden=[HiddenOut(memory_id=memory.id, content=memory.summary) for memory in hidden_by(review, catalog)]
        if review.asked_by is ReviewAsker.FORGETTING
        else [],
    )
