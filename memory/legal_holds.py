"""Sets and lifts legal holds: what is under one stays, whatever time, the user or an operator does."""

from __future__ import annotations

import uuid
from collections.abc import Collection
from datetime import datetime

from memory.indexing import index_all
from schema import AuditAction, AuditEntry, Memory, Subject
from schema.errors import ConcurrentChange
from stores.catalog import Changes
from stores.open import Stores

MAX_WHY_CHARS = 200
_ATTEMPTS = 5


def hold(
    subject: Subject,
    memory_ids: Collection[uuid.UUID],
    stores: Stores,
    *,
    why: str,
    by: str,
    now: datetime,
    holds: bool = True,
) -> list[Memory]:
    """Put memories of a subject under legal hold, or with `holds` False lift it; answers those of which that is news.

    Each of them gets a line in the audit with `why`, at most `MAX_WHY_CHARS` long: a case and its number, say, and
    never what a memory says. Under hold a memory keeps its words and its raw turns: nothing deletes it, and nothing
    that it was made of.

    Raises:
        KeyError: the subject has no such memory; nothing was changed.
        ConcurrentChange: others kept changing one of them; try again.
    """
    for _ in range(_ATTEMPTS):
        known = stores.catalog.memories(subject, memory_ids)
        if missing := set(memory_ids) - known.keys():
            raise KeyError(missing.pop())
        changed = tuple(
            memory.model_copy(update={"legal_hold": holds, "version": memory.version + 1})
            for memory in known.values()
            if memory.legal_hold is not holds
        )
        lines = tuple(
            AuditEntry(
                action=AuditAction.HELD if holds else AuditAction.LIFTED,
                **subject.model_dump(),
                at=now,
                by=by,
                reason=why[:MAX_WHY_CHARS],
                memory_id=memory.id,
                policy_version=stores.policy.version,
            )
            for memory in changed
        )
        try:
            if changed:
                stores.catalog.commit(Changes(subject=subject, at=now, updated=changed, audit=lines))
        except ConcurrentChange:
            continue
        index_all(subject, stores)
        return list(changed)
    raise ConcurrentChange
