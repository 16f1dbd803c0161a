"""Sets and lifts legal holds: what is under one stays, whatever time, the user or an operator does."""

from __future__ import annotations

import uuid
from collections.abc import Collection
from datetime import datetime

from memory.context import MemoryContext
from memory.draft import Draft
from memory.failures import retry_on_conflict
from memory.publish import publish
from schema import Memory, Subject

MAX_WHY_CHARS = 200


@retry_on_conflict
def set_legal_hold(
    subject: Subject,
    memory_ids: Collection[uuid.UUID],
    context: MemoryContext,
    *,
    why: str,
    by: str,
    now: datetime,
    holds: bool = True,
) -> list[Memory]:
    """Put memories of a subject under legal hold, or with `holds` False lift it. Returns those of which that is news.

    Each of them is announced, and gets a line in the audit with `why`, at most `MAX_WHY_CHARS` long: a case and its
    number, say, and never what a memory says. Under hold a memory keeps its words and its raw turns: nothing deletes
    it, and nothing that it was made of.

    Raises:
        KeyError: the subject has no such memory; nothing was changed.
        ConcurrentChange: others kept changing one of them; try again.
    """
    memories = context.catalog.memories(subject, memory_ids)
    if missing := set(memory_ids) - memories.keys():
        raise KeyError(missing.pop())
    draft = Draft(subject, now, context.policy.version, by=by)
    draft.load(memories.values())
    for memory in memories.values():
        if memory.legal_hold is not holds:
            draft.set_legal_hold(memory, holds, why[:MAX_WHY_CHARS])
    if draft.changed:
        publish(draft.changes(), {}, context)
    return list(draft.updated())
