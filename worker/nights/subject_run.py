"""Do a nightly job for one subject, under the lease of its mailbox, so that it never races a turn."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import datetime

from memory.indexing import indexed_vectors
from memory.leases import LeaseKeeper
from memory.publish import publish
from memory.spending import spending
from schema import Subject
from schema.errors import ConcurrentChange, StaleFence, Transient
from stores.mailbox import Lease
from stores.redis import FleetLock, try_lock
from worker.context import WorkerContext
from worker.freed_memory import give_back_freed_memory
from worker.nights.base import Job, Plan
from worker.nights.throttle import Pace

PLANNING = "afterturn:night:planning:"
"""Names of the locks under which plans are made ahead begin so."""


class Busy(Transient):
    """The subject has turns pending or in work: they go first."""


class _Resting:
    """Rests between the steps of a plan, and keeps the lock under which it is made, however long it takes."""

    def __init__(self, pace: Pace, lock: FleetLock, seconds: float) -> None:
        self._pace, self._lock = pace, lock
        self._renew_after = seconds / 3
        self._renewed_at = time.monotonic()

    def rest(self) -> None:
        """Rest, and renew the lock where a third of its time has passed.

        Raises:
            Busy: it has run out, and another worker may plan for the subject by now.
        """
        self._pace.rest()
        if time.monotonic() - self._renewed_at > self._renew_after:
            if not self._lock.renew():
                raise Busy("the lock of the plan ran out")
            self._renewed_at = time.monotonic()


def run_for_subject(
    subject: Subject, job: Job, context: WorkerContext, leases: LeaseKeeper, now: datetime
) -> Plan | None:
    """Do a job for one subject, and return what was done; None where there was nothing to do.

    Raises:
        Busy: turns go first, or changed what was planned, or another worker plans for the subject; try again later.
        Exception: whatever a store or a model raised. Of a plan that is made ahead, what was written before stays.
    """
    with spending("night") as spent:
        try:
            return _run(subject, job, context, leases, now)
        finally:
            # Of a plan that came to nothing, or was not to be written, no commit said what it cost.
            if rows := spent.rows():
                with suppress(Transient):
                    context.catalog.costs.note(subject, rows, now)
            if job.ahead:
                give_back_freed_memory()


def _run(subject: Subject, job: Job, context: WorkerContext, leases: LeaseKeeper, now: datetime) -> Plan | None:
    if not job.needs(subject, context, now):
        return None
    if not job.ahead:
        with _lease(subject, context, leases) as lease:
            return _written(job.plan(subject, context, now), lease, context)
    # A plan that is made ahead may be large: one worker of the fleet at a time makes one for a subject.
    name, seconds = f"{PLANNING}{{{subject.key}}}", context.settings.turn_deadline_seconds
    with try_lock(context.redis, name, seconds) as lock:
        if lock is None:
            raise Busy("another worker plans for the subject")
        rest = _Resting(Pace(leases), lock, seconds).rest
        plan = job.plan(subject, replace(context, rest=rest), now)
        for changes in plan.changes if plan.steps else ():
            rest()
            with _lease(subject, context, leases) as lease:
                _written(replace(plan, changes=(changes,)), lease, context)
        return plan if plan.steps else None


def _written(plan: Plan, lease: Lease, context: WorkerContext) -> Plan | None:
    if not plan.steps:
        return None
    try:
        write(plan, lease.token, context)
    except (ConcurrentChange, StaleFence) as error:
        raise Busy(f"what was planned for has changed: {type(error).__name__}") from error
    return plan


@contextmanager
def _lease(subject: Subject, context: WorkerContext, leases: LeaseKeeper) -> Iterator[Lease]:
    """Hold the subject's lease for as long as the block takes.

    Raises:
        Busy: the subject has turns pending or in work.
    """
    lease = context.mailbox.acquire_lease(subject, context.settings.lease_seconds, turns_first=True)
    if lease is None:
        raise Busy("the subject has turns pending or in work")
    try:
        with leases.keeping(lease):
            yield lease
    finally:
        context.mailbox.release_lease(lease)


def write(plan: Plan, fence: int, context: WorkerContext) -> None:
    """Publish a plan under a lease's token.

    Raises:
        ConcurrentChange, StaleFence: that transaction of the plan, and those behind it, were not written.
    """
    for changes in plan.changes:
        # A night changes what becomes of a memory, not its words.
        same_words = [memory for memory in changes.updated if memory.id not in plan.vectors]
        publish(replace(changes, fence=fence), {**indexed_vectors(same_words, context), **plan.vectors}, context)
