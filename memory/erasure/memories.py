"""Erases memories for a person or an operator, and says what hangs together with a memory that goes."""

from __future__ import annotations

import uuid
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from datetime import datetime

from memory.context import MemoryContext
from memory.draft import Draft
from memory.erasure.raw_turns import reduced_turns
from memory.failures import retry_on_conflict
from memory.publish import publish
from memory.rights import NO_SUCH, name_of, require_deletable, writable_memory
from memory.spending import spending
from memory.tracing import memory_span
from memory.versions import require_version
from policies.unconsolidation import Aftermath, without
from schema import Kind, Memory, MemoryType, Principal, Scope, Status, Subject, Tombstone
from schema.errors import NotFound, UnderLegalHold
from stores.catalog import Catalog
from stores.open import Stores

ERASED = "erased by command"
"""Why, in the audit."""


def forget_memory(
    principal: Principal | None,
    subject: Subject,
    memory_id: uuid.UUID,
    context: MemoryContext,
    *,
    reason: str,
    now: datetime,
    versions: Collection[int] | None = None,
    by: str | None = None,
) -> None:
    """Erase a memory for a principal who may, with `versions` only while it is at one of those; `by` is who does it,
    for the audit, where that is another than the principal's key or an operator.

    Raises:
        NotFound, NotAMember, NotAllowed: it may not, or sees no such memory.
        VersionMismatch, ConcurrentChange, UnderLegalHold: see `erase_memories`.
    """
    require_deletable(principal)
    writable_memory(principal, subject, memory_id, context.catalog)
    by = by or name_of(principal)
    erase_memories(subject, [memory_id], context, by=by, reason=reason, now=now, versions=versions)


@spending("change")
@retry_on_conflict
def erase_memories(
    subject: Subject,
    memory_ids: Collection[uuid.UUID],
    context: MemoryContext,
    *,
    by: str,
    reason: str,
    now: datetime,
    versions: Collection[int] | None = None,
    fence: int | None = None,
    tombstones: Sequence[Tombstone] = (),
    turns: Collection[str] = (),
) -> Aftermath:
    """Remove memories, with `versions` only while each is at one of those, their vectors, and the raw turns that no
    other memory needs; and `turns`, in the same transaction, in which the tombstones are set. A line without content
    stays. Of a turn of which something provisional goes nothing is kept when it comes.

    Raises:
        NotFound: the subject has no such memory.
        VersionMismatch: one is at another version; nothing was removed.
        ConcurrentChange: others kept changing it; try again.
        UnderLegalHold: so is something that would go, or be told otherwise; nothing was removed.
    """
    with memory_span("delete_memory", count=len(memory_ids)):
        draft = Draft(subject, now, context.policy.version, by=by)
        aftermath = remove(memory_ids, draft, context, reason)
        for memory_id in memory_ids:
            require_version(draft.read[memory_id], versions)
        if aftermath.held:
            raise UnderLegalHold(aftermath.held)
        stones = (*tombstones, *_of_turns_to_come(aftermath.deleted, now))
        publish(replace(draft.changes(fence), tombstones=stones, erased_turns=frozenset(turns)), {}, context)
        return aftermath


def _of_turns_to_come(deleted: Iterable[Memory], now: datetime) -> list[Tombstone]:
    noted = (memory for memory in deleted if memory.status is Status.PROVISIONAL)
    return [Tombstone(Scope.TURN, turn_id, now) for memory in noted for turn_id in memory.source_turn_ids]


def remove(
    memory_ids: Collection[uuid.UUID], draft: Draft, stores: Stores, reason: str, *, staying: Sequence[Memory] = ()
) -> Aftermath:
    """Remove memories on a draft, unless any that would go, or be told otherwise, is under legal hold.

    A consolidated memory goes with what it was made of; one that was made of a removed memory is told without it. A
    pattern that a removed episode was a part of goes too. `staying` are memories that will be made of what goes.

    Raises:
        NotFound: the subject has no such memory.
    """
    draft.load(family(stores.catalog, draft.subject, memory_ids).values())
    if set(memory_ids) - draft.current.keys():
        raise NotFound(NO_SUCH)
    patterns = patterns_of(stores.catalog, draft.subject, [draft.current[id_] for id_ in memory_ids])
    draft.load(patterns.values())
    aftermath = without({*memory_ids, *patterns}, draft.current, draft.now, stores.policy)
    if not aftermath.held:
        for turn in reduced_turns(draft.subject, aftermath.deleted, stores.catalog, staying):
            draft.reduced[turn.turn_id] = turn
        for memory in aftermath.deleted:
            draft.delete(memory, reason)
        for memory in aftermath.changed:
            draft.reword(memory, "told without what was forgotten")
    return aftermath


def family(catalog: Catalog, subject: Subject, memory_ids: Iterable[uuid.UUID]) -> dict[uuid.UUID, Memory]:
    """Return memories with what they were made of, what was made of them, and what else that was made of; and the
    subject's memories under legal hold."""
    relatives = catalog.memories(subject, memory_ids)
    originals = {id_ for memory in relatives.values() for id_ in memory.consolidated_from}
    relatives |= catalog.memories(subject, originals - relatives.keys())
    superseded = {id_ for memory in relatives.values() for id_ in memory.merged_from}
    relatives |= catalog.memories(subject, superseded - relatives.keys())
    wholes = {memory.consolidated_into for memory in relatives.values() if memory.consolidated_into}
    relatives |= catalog.memories(subject, wholes - relatives.keys())
    others = {id_ for memory in relatives.values() for id_ in memory.consolidated_from}
    under_hold = {memory.id: memory for memory in catalog.legal_holds(subject)}
    return under_hold | relatives | catalog.memories(subject, others - relatives.keys())


def patterns_of(catalog: Catalog, subject: Subject, memories: Iterable[Memory]) -> dict[uuid.UUID, Memory]:
    """Return the lasting memories that tell what several episodes had in common, one of these among them: they may name
    what was done in it."""
    episodes = [memory for memory in memories if memory.type is MemoryType.EPISODIC]
    turns = {turn_id for memory in episodes for turn_id in memory.source_turn_ids}
    ids = {id_ for memory in episodes for id_ in (memory.id, *memory.consolidated_from)}
    of_turns = catalog.memories(subject, catalog.erasures.made_of(subject, turns)) if turns else {}
    return {
        id_: memory
        for id_, memory in of_turns.items()
        if memory.kind is Kind.EVENT_PATTERN and memory.type is MemoryType.SEMANTIC and ids & set(memory.related_ids)
    }
