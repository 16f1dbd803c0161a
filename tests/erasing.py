"""Erase one memory in a test, and look what is left of it."""

from __future__ import annotations

import uuid
from datetime import datetime

from memory.context import MemoryContext
from memory.erasure.memories import ERASED, erase_memories
from memory.erasure.proof import Proof, left_of_memories
from schema import Subject


def erase_memory(subject: Subject, memory_id: uuid.UUID, context: MemoryContext, *, by: str, now: datetime) -> Proof:
    """Erase one memory with all that says the same."""
    aftermath = erase_memories(subject, [memory_id], context, by=by, reason=ERASED, now=now)
    gone = {memory.id for memory in aftermath.deleted}
    turns = {turn_id for memory in aftermath.deleted for turn_id in memory.source_turn_ids}
    unneeded = [turn_id for turn_id in sorted(turns) if not context.catalog.erasures.made_of(subject, [turn_id])]
    return Proof(
        removed={"memories": len(gone)},
        left={
            "memories": len(context.catalog.memories(subject, gone)),
            "sources": len(context.catalog.sources(subject, unneeded)),
            **left_of_memories(subject, aftermath, context),
        },
    )
