"""Undo a consolidation: the originals are active again, and stay apart."""

from __future__ import annotations

import uuid
from datetime import datetime

from memory.context import MemoryContext
from memory.draft import Draft
from memory.indexing import indexed_vectors
from memory.leases import subject_lease
from memory.publish import publish
from policies.unconsolidation import apart
from schema import AuditAction, Memory, Subject
from schema.errors import Refused, UnderLegalHold


class NothingToUndo(Refused):
    """The memory is not made of others, or these are gone. The message says which."""


def unconsolidate(
    subject: Subject, memory_id: uuid.UUID, context: MemoryContext, *, by: str, now: datetime
) -> list[Memory]:
    """Delete a consolidated memory and make its originals active again. Returns them.

    Raises:
        NothingToUndo: it is no such memory.
        UnderLegalHold: so it is; it stays.
        SubjectBusy: a worker has the subject's turns in hand for longer than one waits.
    """
    with subject_lease(subject, context) as lease:
        whole = context.catalog.memories(subject, [memory_id]).get(memory_id)
        if whole is None or not whole.consolidated_from:
            raise NothingToUndo("it is not a consolidated memory: there is nothing to take apart")
        originals = context.catalog.memories(subject, whole.consolidated_from)
        if not originals:
            raise NothingToUndo("none of the memories that it was made of is left")
        if whole.legal_hold:
            raise UnderLegalHold([whole.id])
        draft = Draft(subject, now, context.policy.version, by=by)
        draft.load([whole, *originals.values()])
        draft.delete(whole, "taken apart by command")
        for memory in originals.values():
            draft.update(apart(memory, now), None, "taken out of a consolidated memory", AuditAction.RESTORED)
        publish(draft.changes(lease.token), indexed_vectors(list(originals.values()), context), context)
        return list(draft.updated())
