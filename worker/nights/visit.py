"""One subject's night: a job is done under the lease of the subject's mailbox, so that it never races a turn."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime

import structlog

from memory.events import announce_left
from memory.failures import is_transient
from memory.indexing import index
from memory.leases import LeaseKeeper
from schema import Memory, Subject
from schema.errors import ConcurrentChange, StaleFence, Transient
from stores.catalog import Changes
from stores.index.base import Vector
from worker.context import WorkerContext
from worker.nights.base import Job, Plan
from worker.nights.pace import Pace, Unhurried

_log = structlog.get_logger()


class Busy(Transient):
    """The subject has turns pending or in work: they go first."""


def visit(subject: Subject, job: Job, context: WorkerContext, leases: LeaseKeeper, now: datetime) -> Plan | None:
    """Do a job for one subject, and answer what was done; None where there was nothing to do.

    Raises:
        Busy: turns go first, or changed what was planned; try again later.
        Exception: whatever a store or a model raised; nothing was written.
    """
    if not job.needs(subject, context, now):
        return None
    planned = job.plan(subject, _unhurried(context, leases), now) if job.ahead else None
    lease = context.mailbox.acquire_lease(subject, context.settings.lease_seconds, turns_first=True)
    if lease is None:
        raise Busy
    try:
        with leases.keeping(lease):
            plan = planned or job.plan(subject, context, now)
            if not plan.steps:
                return None
            write(plan, lease.token, context)
            return plan
    except (ConcurrentChange, StaleFence) as error:
        raise Busy from error
    finally:
        context.mailbox.release_lease(lease)


def _unhurried(context: WorkerContext, leases: LeaseKeeper) -> WorkerContext:
    return replace(context, embedder=Unhurried(context.embedder, Pace(leases)))


def write(plan: Plan, fence: int, context: WorkerContext) -> None:
    """Commit a plan under a lease's token, and tell the index and the listeners.

    Raises:
        ConcurrentChange, StaleFence: that transaction of the plan, and those behind it, were not written.
    """
    for changes in plan.changes:
        _write(replace(changes, fence=fence), plan.vectors, context)


def _write(changes: Changes, made: Mapping[uuid.UUID, Vector], context: WorkerContext) -> None:
    written = (*changes.created, *changes.updated)
    vectors = {**made, **_vectors_held([memory for memory in written if memory.id not in made], context)}
    event_ids = context.catalog.commit(
        changes, {memory.summary: vectors[memory.id] for memory in written if memory.id in vectors}
    )
    try:
        index(changes.index_jobs(), context, vectors=vectors)
        announce_left(list(zip(event_ids, changes.events, strict=True)), context)
    except Exception as error:
        if not is_transient(error):
            raise
        _log.warning("index_or_events_behind", stage="night", error=type(error).__name__)


def _vectors_held(memories: Sequence[Memory], context: WorkerContext) -> dict[uuid.UUID, Vector]:
    """The vectors that the index has of memories' summaries: a night changes what becomes of a memory, not its words.

    What the index has yet to be told may have other words by now, and is embedded anew.
    """
    if not memories:
        return {}
    subject = memories[0].subject
    behind = {job.memory_id for job in context.catalog.index_jobs(subject)}
    keys = [memory.index_key for memory in memories if memory.version > 1 and memory.id not in behind]
    return {entry.memory_id: entry.vector for entry in context.index.fetch(subject, keys)} if keys else {}
