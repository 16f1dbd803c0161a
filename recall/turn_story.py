"""The story of turns, step by step: for whoever runs the fleet, who may see everything."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass

from memory.draft import REVIEW
from schema import AuditEntry, Memory, Review, Status, Subject
from stores.catalog import Catalog
from stores.catalog.turn_records import TurnRecord


@dataclass(frozen=True)
class Step:
    """A line of the audit that names the turn, with the memory that it is about as it is now, and what that took the
    place of. Both are absent where they were forgotten."""

    entry: AuditEntry
    memory: Memory | None
    instead_of: tuple[Memory, ...] = ()


@dataclass(frozen=True)
class TurnStory:
    """A turn that was processed, with what was done because of it, in order, and what was done since to what came of
    it."""

    record: TurnRecord
    steps: tuple[Step, ...]
    reviews: tuple[Review, ...] = ()
    """Those that it opened, but for what went with what it was about."""


def turn_stories(subject: Subject, turn_ids: Sequence[str], catalog: Catalog) -> dict[str, TurnStory]:
    """Return what became of those of a subject's turns that were processed, by turn_id."""
    records = catalog.turn_records.read(subject, turn_ids)
    named = {entry.memory_id for record in records.values() for entry in record.audit if entry.memory_id}
    memories = catalog.memories(subject, named)
    replaced = catalog.memories(subject, {id_ for memory in memories.values() for id_ in memory.supersedes})
    kept = {id_: memory for id_, memory in (memories | replaced).items() if memory.status is not Status.DELETED}
    return {
        turn_id: TurnStory(record, _steps(record, kept), _reviews(record, catalog))
        for turn_id, record in records.items()
    }


def _steps(record: TurnRecord, kept: dict[uuid.UUID, Memory]) -> tuple[Step, ...]:
    steps = []
    for entry in record.audit:
        memory = kept.get(entry.memory_id) if entry.memory_id else None
        ids = memory.supersedes if memory else ()
        steps.append(Step(entry, memory, tuple(kept[id_] for id_ in ids if id_ in kept)))
    return tuple(steps)


def _reviews(record: TurnRecord, catalog: Catalog) -> tuple[Review, ...]:
    ids = (entry.details.get(REVIEW) for entry in record.audit)
    reviews = (catalog.reviews.get(uuid.UUID(str(id_))) for id_ in ids if id_)
    return tuple(review for review in reviews if review)
