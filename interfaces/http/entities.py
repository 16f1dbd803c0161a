"""Entities over HTTP: the facts that are known of one, all or those that a question is about, and their summary.

Source: "Vectorized Episodic and Vectorized Semantic memory", section 0.E.1, whose parameters these are.
"""

from __future__ import annotations

import uuid
from dataclasses import replace
from datetime import UTC, datetime
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Query
from pydantic import AwareDatetime, BaseModel, ConfigDict, Field

from interfaces.http.credentials import Asker, subject_of
from interfaces.http.query_parameters import Cursor
from interfaces.http.service import Opened
from policies.access import acting
from recall.anchors import MOST_FACTS, EntityFacts, EntityName, KnownFact, Mode, Question, look_up
from recall.cursors import InvalidCursor
from recall.entity_summary import sum_up
from schema import Principal, Subject
from schema.turn import Identifier

router = APIRouter(prefix="/api/v1/graph/entities", tags=["graph"])


class EntityOut(BaseModel):
    """An entity by its type, and what it is called; `entity_id` stays the same for as long as its subject does."""

    entity_id: uuid.UUID
    type: Literal["user_id", "name"]
    value: str


class FactOut(BaseModel):
    """A fact: `name` is its object, `fact_id` the object with its type, `relationship_key` the whole assertion.

    `distance` counts steps from where the graph was entered; `score` is null where nothing was asked, or where it was
    walked to.
    """

    fact_id: str
    relationship_key: str
    type: str
    name: str
    verb: str
    entity: str
    attribute: str | None
    memory_id: uuid.UUID
    summary: str
    source_turn_ids: list[str]
    said_at: AwareDatetime
    confidence: float
    distance: int
    score: float | None


class RagDebugOut(BaseModel):
    """How facts were selected: where the graph was entered and how near that was, by ids and never by text."""

    mode: Mode
    top_k: int
    min_score: float | None
    vector_hits: list[dict[str, Any]]
    verified_anchors: list[str]
    timings_ms: dict[str, float]


class EntityFactsOut(BaseModel):
    """An entity and its facts."""

    entity: EntityOut
    facts: list[FactOut]
    cursor: str | None = Field(description="asks for the next facts; null where there are none, or `rag_query` asked")
    rag_debug: RagDebugOut | None = None


class EntitySummaryOut(BaseModel):
    """A few sentences on an entity, and the assertions that they rest on; `by` says who wrote them."""

    entity: EntityOut
    summary: str
    by: Literal["model", "memories"]
    relationship_keys: list[str]
    rag_debug: RagDebugOut | None = None


class _LookUp(BaseModel):
    model_config = ConfigDict(arbitrary_types_allowed=True)

    principal: Principal
    subject: Subject
    entity: EntityName
    question: Question
    """Its text is empty where nothing is asked."""
    debug: bool


async def _look_up(
    principal: Asker,
    type: Annotated[
        Literal["user_id", "name"], Query(description="`user_id`: a subject; `name`: what has a name in a memory")
    ],
    value: Annotated[Identifier, Query(description="the subject's id, or the name, in any case")],
    rag_query: Annotated[str, Query(max_length=2_000, description="what the facts are wanted for; empty: all")] = "",
    rag_top_k: Annotated[int, Query(ge=1, le=100, description="how many memories are looked at")] = 10,
    rag_min_score: Annotated[float | None, Query(ge=0, le=1, description="how near they are at least")] = None,
    rag_mode: Mode = "semantic",
    rag_expand_hops: Annotated[int, Query(ge=0, le=3, description="how far to walk on from what was found")] = 0,
    rag_debug: Annotated[bool, Query(description="tell how the facts were selected")] = False,
    user_id: Annotated[Identifier | None, Query(description="in whose memory; unset: the key's user")] = None,
    subject_id: Annotated[Identifier | None, Query(description="in which subject's memory, if it is no user")] = None,
    agent_id: Annotated[Identifier | None, Query(description="which agent asks, with the capability act_as")] = None,
) -> _LookUp:
    asker = acting(principal, user_id, agent_id)
    whose = value if type == "user_id" else subject_id or user_id
    return _LookUp(
        principal=asker,
        subject=subject_of(asker, whose),
        entity=EntityName(type, value),
        question=Question(rag_query, rag_top_k, rag_min_score, rag_mode, rag_expand_hops),
        debug=rag_debug,
    )


Wanted = Annotated[_LookUp, Depends(_look_up)]


@router.get("/lookup", summary="The facts that are known of an entity")
def lookup(
    wanted: Wanted,
    service: Opened,
    cursor: Cursor = "",
    limit: Annotated[int, Query(ge=1, le=MOST_FACTS)] = MOST_FACTS,
) -> EntityFactsOut:
    """Return all facts of an entity, page by page, or with `rag_query` those that it is about: memories are found by
    meaning and by words, and what is told are facts that are still true. What is not asked for by `rag_query` ignores
    the other `rag_` parameters, and what is has no second page. By its cursor the list is complete while others write:
    what is known all the time comes exactly once."""
    entity_facts = _found(wanted, service, cursor, limit)
    facts = [_fact(fact) for fact in entity_facts.facts]
    return EntityFactsOut(
        entity=_entity(entity_facts), facts=facts, cursor=entity_facts.cursor, rag_debug=_debug(wanted, entity_facts)
    )


@router.get("/lookup/summary", summary="A few sentences on an entity")
def lookup_summary(wanted: Wanted, service: Opened) -> EntitySummaryOut:
    """Sum up the facts of an entity, all or those that `rag_query` is about: by the language model, where one is set,
    each sentence resting on facts that are named; else in the words of the best memories."""
    entity_facts = _found(wanted, service)
    summary = sum_up(entity_facts, service.context.llm)
    return EntitySummaryOut(
        entity=_entity(entity_facts),
        summary=summary.text,
        by=summary.by,
        relationship_keys=list(summary.relationship_keys),
        rag_debug=_debug(wanted, entity_facts),
    )


def _found(wanted: _LookUp, service: Opened, cursor: str = "", limit: int = MOST_FACTS) -> EntityFacts:
    text = wanted.question.text.strip()
    if text and cursor:
        raise InvalidCursor
    return look_up(
        wanted.principal,
        wanted.subject,
        wanted.entity,
        service.context,
        question=replace(wanted.question, text=text) if text else None,
        cursor=cursor,
        limit=limit,
        now=datetime.now(UTC),
    )


def _entity(entity_facts: EntityFacts) -> EntityOut:
    return EntityOut(entity_id=entity_facts.entity_id, type=entity_facts.entity.type, value=entity_facts.entity.value)


def _fact(fact: KnownFact) -> FactOut:
    relation, memory = fact.relation, fact.memory
    return FactOut(
        fact_id=fact.fact_id,
        relationship_key=fact.relationship_key,
        type=fact.object_type,
        name=relation.object,
        verb=relation.verb,
        entity=relation.entity,
        attribute=relation.attribute,
        memory_id=memory.id,
        summary=memory.summary,
        source_turn_ids=list(relation.sources),
        said_at=memory.said_at,
        confidence=memory.confidence,
        distance=relation.distance,
        score=fact.score,
    )


def _debug(wanted: _LookUp, entity_facts: EntityFacts) -> RagDebugOut | None:
    if not wanted.debug:
        return None
    question = wanted.question
    return RagDebugOut(
        mode=question.mode,
        top_k=question.most,
        min_score=question.min_similarity,
        vector_hits=[
            {
                "collection": anchor.family,
                "score": anchor.score,
                "similarity": anchor.similarity,
                "anchor_type": anchor.type,
                "anchor_id": anchor.id,
            }
            | ({"relationship_key": anchor.relationship_key} if anchor.relationship_key else {})
            for anchor in entity_facts.anchors
        ],
        verified_anchors=[anchor.id for anchor in entity_facts.anchors if anchor.is_verified],
        timings_ms={part: round(1_000 * seconds, 3) for part, seconds in entity_facts.seconds.items()},
    )
