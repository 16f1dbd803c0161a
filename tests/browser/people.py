"""People about whom something is known: their memories, written as the worker writes them."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import numpy as np

from memory.context import MemoryContext
from memory.documents.indexing import make_searchable
from memory.documents.put import put_document
from memory.draft import Draft
from memory.publish import publish
from policies.merge import supersede
from schema import (
    Asker,
    Candidate,
    Document,
    Fact,
    Kind,
    Memory,
    MemoryType,
    Message,
    Preference,
    PreferenceName,
    Review,
    Subject,
    Turn,
    Way,
    memory_id,
)
from stores.catalog.uses import Use
from stores.index.base import Vector

FIRST_DAY = datetime(2026, 9, 1, 8, 30, tzinfo=UTC)


def a_memory(subject: Subject, number: int, summary: str, context: MemoryContext, **changes: Any) -> Memory:
    """The `number`th memory of a subject, from 0: one a day."""
    type_ = changes.get("type", MemoryType.SEMANTIC)
    said_at = FIRST_DAY + timedelta(days=number)
    fields: dict[str, Any] = {
        "id": memory_id(subject, type_, turn_id_of(subject, number), 0),
        **subject.model_dump(),
        "type": type_,
        "kind": Kind.USER_FACT,
        "category": "Personal",
        "summary": summary,
        "source_turn_ids": (turn_id_of(subject, number),),
        "conversation_id": "kitchen",
        "importance": 0.62,
        "trust_score": 0.85,
        "confidence": 0.9,
        "occurred_at": said_at,
        "said_at": said_at,
        "created_at": said_at,
        "updated_at": said_at,
        "last_accessed": said_at,
        "embedding_model": context.embedder.name,
        "policy_version": context.policy.version,
    }
    return Memory(**fields | changes)


def turn_id_of(subject: Subject, number: int) -> str:
    return f"{subject.subject_id}-{number}"


def a_turn(subject: Subject, number: int, said: str, answered: str = "Noted.") -> Turn:
    return Turn(
        schema_version=1,
        turn_id=turn_id_of(subject, number),
        tenant_id=subject.tenant_id,
        user_id=subject.subject_id,
        conversation_id="kitchen",
        messages=[Message(role="user", content=said), Message(role="assistant", content=answered)],
        occurred_at=FIRST_DAY + timedelta(days=number),
    )


def know(
    subject: Subject, memories: Sequence[Memory], context: MemoryContext, *, turns: Sequence[Turn] = ()
) -> list[uuid.UUID]:
    """Have these memories known, with the turns that they came of; their vectors are measured."""
    draft = Draft(subject, memories[-1].created_at, context.policy.version, by="worker")
    for memory in memories:
        draft.create(memory, _vector(memory.summary, context), "nothing similar")
    publish(replace(draft.changes(), sources=tuple(turns)), draft.vectors, context)
    return [memory.id for memory in memories]


_vectors: dict[str, Vector] = {}


def _vector(summary: str, context: MemoryContext) -> Vector:
    """The vector of a summary, measured once: many tests know the same."""
    if summary not in _vectors:
        _vectors[summary] = context.embedder.embed([summary])[0]
    return _vectors[summary]


def know_many(subject: Subject, count: int, context: MemoryContext) -> None:
    """Have many memories known; their vectors are made up, so that they are there at once."""
    shapes = np.random.default_rng(16).normal(size=(count, context.embedder.dimensions)).astype(np.float32)
    vectors = shapes / np.linalg.norm(shapes, axis=1, keepdims=True)
    draft = Draft(subject, FIRST_DAY, context.policy.version, by="worker")
    categories = context.settings.categories
    for number in range(count):
        category = categories[number % len(categories)]
        facts = (
            Fact(entity="User", verb="has been to", object=f"place {number}"),
            *((_home("Porto"),) if number == 5 else ()),
        )
        told = f"She has been to place number {number}."
        memory = a_memory(subject, number, told, context, category=category, facts=facts)
        draft.create(memory, vectors[number], "nothing similar")
    publish(draft.changes(), draft.vectors, context)


def many_id(subject: Subject, number: int) -> uuid.UUID:
    """The id of the `number`th memory that `know_many` has known."""
    return memory_id(subject, MemoryType.SEMANTIC, turn_id_of(subject, number), 0)


def replace_by(old: uuid.UUID, new: Memory, reason: str, context: MemoryContext, turn: Turn) -> uuid.UUID:
    """Have a memory take the place of another."""
    known = context.catalog.memory(old)
    assert known is not None
    draft = Draft(known.subject, new.created_at, context.policy.version, by="worker")
    draft.load([known])
    new = new.model_copy(update={"supersedes": (old,)})
    draft.create(new, _vector(new.summary, context), reason)
    draft.supersede(supersede(known, new.id, draft.now), new, reason)
    publish(replace(draft.changes(), sources=(turn,)), draft.vectors, context)
    return new.id


def ask(
    subject: Subject, summary: str, context: MemoryContext, *, links: tuple[uuid.UUID, ...] = (), turn_id: str = "read"
) -> uuid.UUID:
    """Have a candidate wait for its person; returns the review's id."""
    now = FIRST_DAY + timedelta(days=20)
    candidate = Candidate(
        turn_id=turn_id,
        ordinal=0,
        type=MemoryType.SEMANTIC,
        kind=Kind.USER_FACT,
        category="Personal",
        summary=summary,
        source="external",
        confidence=0.7,
        occurred_at=now,
        said_at=now,
    )
    review = Review.of(
        subject,
        candidate,
        Asker.AUTHORITY,
        reason="contradicts_more_trusted",
        policy_version=context.policy.version,
        opened_at=now,
        links=links,
    )
    draft = Draft(subject, now, context.policy.version, by="worker")
    draft.queue_review(review)
    publish(draft.changes(), {}, context)
    return review.id


@dataclass(frozen=True)
class _Told:
    """What somebody said, and the memory that came of it."""

    said: str
    summary: str
    more: dict[str, Any] = field(default_factory=dict)


def _home(city: str) -> Fact:
    return Fact(entity="User", verb="lives in", object=city, attribute="home_city")


_MAYA: Final = (
    _Told("Good morning! I live in Lisbon, near the river.", "Maya lives in Lisbon.", {"facts": (_home("Lisbon"),)}),
    _Told(
        "By the way, I'm vegan, and allergic to peanuts. Please remember that.",
        "Maya is vegan and allergic to peanuts.",
        {"explicit": True, "pinned": True, "access_count": 7},
    ),
    _Told("Yes, two cats, Miso and Nori.", "Maya has two cats, Miso and Nori.", {"access_count": 1}),
    _Told(
        "I put aside 400 euros every month for a sabbatical.",
        "Maya saves 400 euros a month for a sabbatical.",
        {"category": "Budget", "confidence": 0.7},
    ),
    _Told(
        "Lea and I finally had dinner yesterday!",
        "Maya had dinner with her sister Lea on 4 September 2026.",
        {
            "type": MemoryType.EPISODIC,
            "confidence": 0.5,
            "facts": (
                Fact(entity="User", verb="has sister", object="Lea", attribute="sister"),
                Fact(entity="Lea", verb="had dinner with", object="User"),
            ),
        },
    ),
    _Told(
        "Please keep it short, and no emoji.",
        "Maya wants short answers without emoji.",
        {"type": MemoryType.PROCEDURAL, "kind": Kind.USER_PREFERENCE, "category": "Other"},
    ),
)


def maya(subject: Subject, context: MemoryContext) -> dict[str, uuid.UUID]:
    """Have Maya's memory known, and return the ids of what the tests ask about by name."""
    memories = [a_memory(subject, number, told.summary, context, **told.more) for number, told in enumerate(_MAYA)]
    turns = [a_turn(subject, number, told.said) for number, told in enumerate(_MAYA)]
    ids = know(subject, memories, context, turns=turns)
    moved = a_memory(subject, 9, "Maya lives in Berlin since September 2026.", context, facts=(_home("Berlin"),))
    berlin = replace_by(ids[0], moved, "home_city changed", context, a_turn(subject, 9, "I moved to Berlin last week!"))
    context.catalog.uses.count(
        [],
        [
            Use(ids[1], subject, Way.CONTEXT, None, 6, FIRST_DAY + timedelta(days=12)),
            Use(ids[1], subject, Way.TOOL, "coach", 1, FIRST_DAY + timedelta(days=11)),
        ],
    )
    review = ask(subject, "Maya eats fish on Fridays.", context, links=(ids[1],))
    context.catalog.commit(_wishing(subject, "my ex", context))
    return {"lisbon": ids[0], "vegan": ids[1], "cats": ids[2], "berlin": berlin, "review": review}


def _wishing(subject: Subject, topic: str, context: MemoryContext) -> Any:
    draft = Draft(subject, FIRST_DAY, context.policy.version, by="worker")
    draft.set_preference(Preference(name=PreferenceName.BLOCKED_TOPIC, value=topic), "wish", "topic_blocked")
    return draft.changes()


def tell(subject: Subject, context: MemoryContext) -> None:
    """A story of a subject, `mill`, made searchable as the worker does."""
    text = "The old mill stood at the river, and my father ground the rye of the village in it until the flood of 1962."
    content = "\n\n".join(f"{text} That was in the year {1900 + number}." for number in range(30))
    story = Document(document_id="mill", **subject.model_dump(), title="The mill", content=content)
    put_document(None, story, context, now=FIRST_DAY)
    make_searchable(subject, "mill", context, lambda: FIRST_DAY)
