"""Erasure of a turn, a conversation or a whole subject: everywhere, with a proof.

The order makes it hard to race: the lease of the subject's mailbox first, so that no turn of it is in work; then the
catalog, whose fence refuses what a worker with an older lease still wants to write; then everything else. The catalog's
transaction sets tombstones too, so that a turn that is still on its way brings nothing back. What comes meanwhile waits
in the mailbox and is worked on afterwards: the moment of the erasure by the mailbox's clock tells it from the rest.
Tombstones stand as going on until a second look finds nothing: an erasure that was killed after that transaction is
finished by the fleet, and one that was killed before has done nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime

import structlog

from memory.agreement import drop_strays
from memory.context import MemoryContext
from memory.erasure.authored import erase_authored, note_authored
from memory.erasure.memories import ERASED, erase_memories
from memory.erasure.proof import (
    Proof,
    clear_logs,
    events_of_erased,
    graph_facts,
    line_of,
    look_again,
    rewrite_broker_file,
)
from memory.erasure.queue import Erasure, begin_erasure, drop_waiting, forget_waiting, late_erasure
from memory.events import announce_all, stream_key
from memory.indexing import index_all
from memory.leases import SubjectBusy, subject_lease
from memory.spending import spending
from schema import AuditAction, AuditEntry, Memory, Scope, Subject
from schema.errors import LeaseLost
from stores.index.base import BESIDE, Family
from stores.mailbox import Lease

_log = structlog.get_logger()
_ALL = 10**9


def erase_subject(
    subject: Subject,
    context: MemoryContext,
    *,
    by: str,
    now: datetime,
    wait_seconds: float | None = None,
    authored: bool = False,
) -> Proof:
    """Erase all that is known of a subject, and all of its turns wherever they wait. What they wrote in the archives of
    others is noted in the proof; with `authored` what of it was personal to them goes too.

    `wait_seconds` is how long the workers are waited for that have its turns in hand, 5 unless given.

    Raises:
        SubjectBusy: a worker has the subject's turns in hand for longer than one waits; try again.
        UnderLegalHold: so are some of its memories or documents; nothing was erased.
    """
    proof, erasures = Proof(), context.catalog.erasures
    with subject_lease(subject, context, wait_seconds=wait_seconds, before_turns=True) as lease:
        erasure = begin_erasure(subject, [(Scope.SUBJECT, "")], context)
        line = AuditEntry(
            action=AuditAction.ERASED,
            **subject.model_dump(),
            at=now,
            by=by,
            reason="the subject was erased by command",
            policy_version=context.policy.version,
        )
        facts, vectors = graph_facts(subject, context), _count_vectors(subject, context)
        rows, memories = erasures.wipe(subject, lease.token, erasure.tombstones, line)
        proof.removed |= {line_of(family): count for family, count in vectors.items()}
        proof.removed |= {f"catalog: {table}": count for table, count in rows.items() if count}
        _clear(erasure, lease, context, proof)
        proof.removed["index"] += len(memories)
        _count_facts(facts, subject, context, proof)
        rewrite_broker_file(context, proof)
        proof.left = {f"catalog: {table}": count for table, count in erasures.count_left(subject).items()}
        look_again(erasure, context, proof)
    if authored:
        erase_authored(subject, context, proof, by=by, now=now)
    note_authored(subject, context, proof)
    _finish(erasure, proof, context, now)
    return proof


@spending("change")
def erase_turns(
    subject: Subject,
    scope: Scope,
    key: str,
    context: MemoryContext,
    *,
    by: str,
    now: datetime,
    wait_seconds: float | None = None,
) -> tuple[Proof, Sequence[Memory]]:
    """Erase one turn or one conversation of a subject: its raw turns, and every memory that came of any of them, even
    if it came of others too. Returns the proof, and the memories that are told anew without them.

    Raises:
        SubjectBusy, ConcurrentChange: others work on the subject; try again.
        UnderLegalHold: so is one of the memories; nothing was erased.
    """
    proof, erasures = Proof(), context.catalog.erasures
    with subject_lease(subject, context, wait_seconds=wait_seconds, before_turns=True) as lease:
        turns = {key} if scope is Scope.TURN else erasures.turns_of(subject, key)
        erasure = begin_erasure(subject, {(scope, key), *((Scope.TURN, turn_id) for turn_id in turns)}, context)
        rows = erasures.left_of(subject, turns)
        meant = erasures.made_of(subject, turns)
        if scope is Scope.CONVERSATION:
            meant = [*meant, *(id_ for id_ in erasures.said_in(subject, key) if id_ not in meant)]
        facts, vectors = graph_facts(subject, context), _count_vectors(subject, context)
        aftermath = erase_memories(
            subject,
            meant,
            context,
            by=by,
            reason=ERASED,
            now=now,
            fence=lease.token,
            tombstones=erasure.tombstones,
            turns=turns,
        )
        proof.removed = {"memories": len(aftermath.deleted)}
        proof.removed |= {f"catalog: {table}": count for table, count in rows.items()}
        gone = Counter(vectors) - Counter(_count_vectors(subject, context))
        proof.removed |= {line_of(family): count for family, count in gone.items()}
        _clear(erasure, lease, context, proof)
        _count_facts(facts, subject, context, proof)
        rewrite_broker_file(context, proof)
        proof.left = {"memories": len(erasures.made_of(subject, turns))}
        proof.left |= {f"catalog: {table}": count for table, count in erasures.left_of(subject, turns).items()}
        look_again(erasure, context, proof, aftermath)
    _finish(erasure, proof, context, now)
    return proof, aftermath.changed


def finish_erasures(context: MemoryContext, limit: int, now: datetime) -> int:
    """Bring erasures to their end that were killed on the way, or that left something. Returns of how many subjects.

    The catalog has been done with each of them: what is left is outside of it. What the subject has said since stays.
    """
    finished = 0
    for subject, _ in context.catalog.tombstones.unfinished(limit):
        proof = Proof()
        with suppress(SubjectBusy, LeaseLost), subject_lease(subject, context) as lease:
            erasure = late_erasure(subject, context.catalog.tombstones.of(subject, unfinished=True), context)
            _clear(erasure, lease, context, proof)
            rewrite_broker_file(context, proof)
            look_again(erasure, context, proof)
            _finish(erasure, proof, context, now)
            finished += proof.is_over
            if not proof.is_over:
                _log.warning("erasure_goes_on", stage="night", left=sum(proof.left.values()), unshown=proof.unshown)
    return finished


def left_of_subject(subject: Subject, context: MemoryContext) -> dict[str, int]:
    """Count what there is now of a subject that was erased, everywhere: what is still there, and what came since."""
    proof = Proof()
    proof.left = {f"catalog: {table}": count for table, count in context.catalog.erasures.count_left(subject).items()}
    look_again(late_erasure(subject, context.catalog.tombstones.of(subject), context), context, proof)
    return proof.left


def _clear(erasure: Erasure, lease: Lease, context: MemoryContext, proof: Proof) -> None:
    """Drop what is meant everywhere but in the catalog."""
    subject = erasure.subject
    # One that goes on where another was killed finds in the jobs of which families vectors went.
    for family in {job.family for job in context.catalog.index_jobs(subject, limit=_ALL)} & set(BESIDE):
        proof.removed.setdefault(line_of(family), 0)
    index_all(subject, context)
    if erasure.whole:
        proof.removed["index"] = drop_strays(Family.MEMORIES, subject, context)
        for family in BESIDE:
            if line_of(family) in proof.removed:
                drop_strays(family, subject, context)
        events = events_of_erased(erasure, context)
        proof.removed["events"] = len(events)
        if events:
            context.redis.xdel(stream_key(subject), *events)
    else:
        announce_all(subject, context)
    proof.removed |= drop_waiting(erasure, lease, context)
    clear_logs(subject, context, proof)


def _count_vectors(subject: Subject, context: MemoryContext) -> dict[Family, int]:
    """Count what of a subject has vectors beside the memories', by the families of which there is any."""
    counts = {family: context.catalog.families.count(family, subject) for family in BESIDE}
    return {family: count for family, count in counts.items() if count}


def _count_facts(before: dict[str, int], subject: Subject, context: MemoryContext, proof: Proof) -> None:
    """Note how many facts left a graph of its own."""
    after = graph_facts(subject, context)
    proof.removed |= {name: max(0, count - after.get(name, 0)) for name, count in before.items()}


def _finish(erasure: Erasure, proof: Proof, context: MemoryContext, now: datetime) -> None:
    """Note that an erasure is over, if there is nothing to try again: otherwise the fleet does within the hour."""
    if any(job.action == "delete" for job in context.catalog.index_jobs(erasure.subject)):
        proof.notes.append(
            "another process was telling the index of it: the sweep removes again what that may still write, and the "
            "fleet looks again within the hour"
        )
    elif proof.is_over:
        context.catalog.tombstones.finish(erasure.subject, erasure.tombstones, now)
        forget_waiting(erasure.subject, context)
    else:
        proof.notes.append("the fleet looks again within the hour, until nothing is left")
