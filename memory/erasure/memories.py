"""Erases memories for a person or an operator: from the catalog, its sources and the index."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, Protocol

from memory.indexing import index_all
from schema import AuditAction, AuditEntry, Event, EventName, Kind, Memory, MemoryType, Policy, Subject
from schema.errors import ConcurrentChange, UnderLegalHold
from stores.catalog import Catalog, Changes
from stores.catalog.erasures import Tombstone
from stores.open import Stores

_ATTEMPTS = 5


class Consequences(Protocol):
    """What an erasure of some memories does to all that hang together with them."""

    @property
    def deleted(self) -> tuple[Memory, ...]: ...

    @property
    def changed(self) -> tuple[Memory, ...]: ...

    @property
    def held(self) -> tuple[uuid.UUID, ...]: ...


Without = Callable[[Collection[uuid.UUID], Mapping[uuid.UUID, Memory], datetime, Policy], Consequences]
"""`policies.consolidation.without`: memory stands below the policies, and is given it."""


def erase(
    subject: Subject,
    memory_ids: Collection[uuid.UUID],
    stores: Stores,
    without: Without,
    *,
    by: str,
    reason: str,
    now: datetime,
    fence: int | None = None,
    stones: Sequence[Tombstone] = (),
    turns: Collection[str] = (),
) -> Consequences:
    """Remove memories, their vectors, and the raw turns that no other memory needs; and `turns`, in the same
    transaction, in which the tombstones are set. A line without content stays.

    A consolidated memory goes with what it was made of; one that was made of a removed memory is told without it. A
    pattern that a removed episode was a part of goes too.

    Raises:
        KeyError: the subject has no such memory.
        ConcurrentChange: others kept changing it; try again.
        UnderLegalHold: so is something that would go, or be told otherwise; nothing was removed.
    """
    for _ in range(_ATTEMPTS):
        known = family(stores.catalog, subject, memory_ids)
        if missing := set(memory_ids) - known.keys():
            raise KeyError(missing.pop())
        patterns = patterns_of(stores.catalog, subject, [known[id_] for id_ in memory_ids])
        what = without({*memory_ids, *patterns}, known | patterns, now, stores.policy)
        if what.held:
            raise UnderLegalHold(what.held)
        try:
            changes = _deletion(subject, what, stores.policy.version, by=by, reason=reason, now=now)
            stores.catalog.erasures.commit(replace(changes, fence=fence), stones, turns)
        except ConcurrentChange:
            continue
        index_all(subject, stores)
        return what
    raise ConcurrentChange


def family(catalog: Catalog, subject: Subject, memory_ids: Iterable[uuid.UUID]) -> dict[uuid.UUID, Memory]:
    """Memories with what they were made of, what was made of them, and what else that was made of; and the subject's
    memories under legal hold."""
    known = catalog.memories(subject, memory_ids)
    parts = {id_ for memory in known.values() for id_ in memory.consolidated_from}
    known |= catalog.memories(subject, parts - known.keys())
    superseded = {id_ for memory in known.values() for id_ in memory.merged_from}
    known |= catalog.memories(subject, superseded - known.keys())
    wholes = {memory.consolidated_into for memory in known.values() if memory.consolidated_into}
    known |= catalog.memories(subject, wholes - known.keys())
    others = {id_ for memory in known.values() for id_ in memory.consolidated_from}
    held = {memory.id: memory for memory in catalog.erasures.legally_held(subject)}
    return held | known | catalog.memories(subject, others - known.keys())


def patterns_of(catalog: Catalog, subject: Subject, memories: Iterable[Memory]) -> dict[uuid.UUID, Memory]:
    """The lasting memories that tell what several episodes had in common, one of these among them: they may name what
    was done in it."""
    episodes = [memory for memory in memories if memory.type is MemoryType.EPISODIC]
    turns = {turn_id for memory in episodes for turn_id in memory.source_turn_ids}
    ids = {id_ for memory in episodes for id_ in (memory.id, *memory.consolidated_from)}
    told = catalog.memories(subject, catalog.erasures.made_of(subject, turns)) if turns else {}
    return {
        id_: memory
        for id_, memory in told.items()
        if memory.kind is Kind.EVENT_PATTERN and memory.type is MemoryType.SEMANTIC and ids & set(memory.related_ids)
    }


def told_anew(memory: Memory) -> dict[str, Any]:
    """The payload of the event that a memory is told without what was forgotten."""
    payload = {"id": str(memory.id), "type": memory.type.value, "category": memory.category, "summary": memory.summary}
    return payload | ({"anew": True} if memory.consolidated_from else {})


def _deletion(
    subject: Subject, what: Consequences, policy_version: str, *, by: str, reason: str, now: datetime
) -> Changes:
    whose = subject.model_dump()

    def line(action: AuditAction, memory: Memory, why: str) -> AuditEntry:
        return AuditEntry(
            action=action, **whose, at=now, by=by, reason=why, memory_id=memory.id, policy_version=policy_version
        )

    deleted = tuple(line(AuditAction.DELETED, memory, reason) for memory in what.deleted)
    changed = tuple(line(AuditAction.UPDATED, memory, "told without what was erased") for memory in what.changed)
    return Changes(
        subject=subject,
        at=now,
        updated=what.changed,
        deleted=what.deleted,
        audit=deleted + changed,
        events=tuple(
            Event(name=EventName.DELETED, **whose, at=now, payload={"id": str(memory.id)}) for memory in what.deleted
        )
        + tuple(Event(name=EventName.UPDATED, **whose, at=now, payload=told_anew(memory)) for memory in what.changed),
    )
