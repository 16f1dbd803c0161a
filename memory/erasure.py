"""Erases memories for a person or an operator: from the catalog, its sources and the index."""

from __future__ import annotations

import uuid
from datetime import datetime

from memory.catalog import Changes, ConcurrentChange
from memory.indexing import index
from memory.schema import AuditAction, AuditEntry, Event, EventName, Memory, Subject
from memory.stores import Stores

_ATTEMPTS = 5


def erase(subject: Subject, memory_id: uuid.UUID, stores: Stores, *, by: str, reason: str, now: datetime) -> Memory:
    """Remove a memory, its vector, and the raw turns that no other memory needs. An audit line without content stays.

    Raises:
        KeyError: the subject has no such memory.
        ConcurrentChange: others kept changing it; try again.
    """
    for _ in range(_ATTEMPTS):
        memory = stores.catalog.memories(subject, [memory_id])[memory_id]
        try:
            stores.catalog.commit(_deletion(memory, stores.policy.version, by=by, reason=reason, now=now))
        except ConcurrentChange:
            continue
        index(stores.catalog.index_jobs(subject), stores)
        return memory
    raise ConcurrentChange


def _deletion(memory: Memory, policy_version: str, *, by: str, reason: str, now: datetime) -> Changes:
    whose = memory.subject.model_dump()
    return Changes(
        subject=memory.subject,
        at=now,
        deleted=(memory,),
        audit=(
            AuditEntry(
                action=AuditAction.DELETED,
                **whose,
                at=now,
                by=by,
                reason=reason,
                memory_id=memory.id,
                policy_version=policy_version,
            ),
        ),
        events=(Event(name=EventName.DELETED, **whose, at=now, payload={"id": str(memory.id)}),),
    )
