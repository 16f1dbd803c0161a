"""Forget: memories that nobody used for long are archived, and after a while deleted."""

from __future__ import annotations

import uuid
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from memory.draft import Draft
from memory.erasure.memories import family
from policies.decay import DecayState, Fate, fate
from policies.importance import use
from policies.unconsolidation import without
from schema import Memory, Policy, Status, Subject
from stores.catalog import Changes
from stores.catalog.decay import Usage
from worker.context import WorkerContext
from worker.nights.base import BY, CHANGES_A_TRANSACTION, Job, Plan, Step

_Due = tuple[Usage, Fate, str]


def needs(subject: Subject, context: WorkerContext, now: datetime) -> bool:
    """Return whether any memory was used, or has faded enough."""
    return bool(_due(subject, context, now))


def plan(subject: Subject, context: WorkerContext, now: datetime) -> Plan:
    """Fold what was used into the memories, archive what has faded, delete what was archived for long enough."""
    due = _due(subject, context, now)
    gone: set[uuid.UUID] = set()
    changes, steps = [], []
    for begin in range(0, len(due), CHANGES_A_TRANSACTION):
        written, done = _forget(due[begin : begin + CHANGES_A_TRANSACTION], gone, subject, context, now)
        changes.append(written)
        gone |= {memory.id for memory in written.deleted}
        steps += done
    return Plan(tuple(changes), tuple(steps))


def _forget(
    due: Sequence[_Due], gone: Collection[uuid.UUID], subject: Subject, context: WorkerContext, now: datetime
) -> tuple[Changes, list[Step]]:
    """Return what becomes of a part of the memories, but for those that are gone already."""
    draft = Draft(subject, now, context.policy.version, by=BY)
    draft.load(context.catalog.memories(subject, [usage.id for usage, _, _ in due]).values())
    steps: list[Step] = []
    folded, doomed = [], set()
    relatives = family(context.catalog, subject, [usage.id for usage, its_fate, _ in due if its_fate is Fate.DELETE])
    for usage, its_fate, why in due:
        memory = draft.current.get(usage.id)
        if (
            memory is None
            or memory.id in gone
            or (its_fate is Fate.DELETE and _takes_what_stays(memory, relatives, context, now))
        ):
            continue
        if usage.access:
            folded.append(usage.access)
            memory = used(memory, usage.access.times, usage.access.last_at, context.policy)
            draft.refresh(memory)
        if its_fate is Fate.ARCHIVE:
            draft.archive(memory, why)
        elif its_fate is Fate.DELETE:
            draft.delete(memory, why)
            doomed.add(memory.id)
        steps.append(Step.of("refresh" if its_fate is Fate.KEEP else its_fate.value, memory, why))
    draft.load(relatives.values())
    for memory in without(doomed, draft.read, now, context.policy).deleted:
        if memory.id not in doomed:
            draft.delete(memory, "it was a part of a memory that is gone")
            steps.append(Step.of("delete", memory, "it was a part of a memory that is gone"))
    return replace(draft.changes(), folded=tuple(folded)), steps


def _takes_what_stays(
    memory: Memory, relatives: Mapping[uuid.UUID, Memory], context: WorkerContext, now: datetime
) -> bool:
    """Return whether what is to stay would go with a memory: with a consolidated one go its originals, which were kept
    for it, and with what was left of a superseded one that."""
    aftermath = without([memory.id], relatives, now, context.policy)
    return bool(aftermath.held) or any(deleted.pinned for deleted in aftermath.deleted)


def used(memory: Memory, times: int, last_at: datetime, policy: Policy) -> Memory:
    """Return a memory with accesses counted: its importance grows by what use adds to it ("Memory System - Mechanics",
    section 3)."""
    count = memory.access_count + times
    grown = policy.importance_access_weight * (use(count) - use(memory.access_count))
    return memory.model_copy(
        update={
            "access_count": count,
            "last_accessed": max(memory.last_accessed, last_at),
            "importance": min(1.0, memory.importance + grown),
        }
    )


def _due(subject: Subject, context: WorkerContext, now: datetime) -> list[_Due]:
    policy = context.policy
    idle_days = policy.forget_light_days if policy.forget_light else policy.archive_idle_days
    usages = context.catalog.decay.idle(
        subject,
        unused_since=now - timedelta(days=idle_days),
        archived_before=now - timedelta(days=policy.archive_kept_days),
    )
    judged = [(usage, *fate(_decay_state(usage), now, policy)) for usage in usages]
    due = [verdict for verdict in judged if verdict[1] is not Fate.KEEP or verdict[0].access]
    # The next night goes on.
    return due[: context.settings.night_memories]


def _decay_state(usage: Usage) -> DecayState:
    return DecayState(
        status=Status(usage.status),
        importance=usage.importance,
        pinned=usage.pinned,
        legal_hold=usage.legal_hold,
        last_used=usage.last_used,
        updated_at=usage.updated_at,
    )


FORGET = Job("forget", needs, plan)
