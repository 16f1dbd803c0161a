"""One hand's work on a run: it takes a chunk of subjects, does the job for each, and asks for the next hand."""

from __future__ import annotations

import secrets
import time
from collections import Counter
from collections.abc import Callable, Mapping
from datetime import UTC, datetime

import structlog

from memory.failures import is_outage, is_transient
from memory.leases import LeaseKeeper
from memory.metrics import NIGHT_SECONDS, NIGHT_STEPS, NIGHT_SUBJECTS
from schema import Subject
from stores.catalog import Chunk, ChunkLost
from stores.queue import want_hand
from worker.context import WorkerContext
from worker.nights.base import Job
from worker.nights.dispatch import silence
from worker.nights.pace import Pace
from worker.nights.visit import Busy, visit

_log = structlog.get_logger()
_PAGE = 50
"""Subjects between two checkpoints, at most."""
_CHECKPOINT_SECONDS = 5.0
_DEATHS = 3
"""Hands that may die or give up over one subject before it is left for the next night."""


def work(
    run_id: str,
    jobs: Mapping[str, Job],
    context: WorkerContext,
    leases: LeaseKeeper,
    stopping: Callable[[], bool] = lambda: False,
) -> None:
    """Take the next chunk of a run, if there is one and not too many hands are at work, and do it.

    Once `stopping` says that this process is to end, the rest of the chunk is left to another.
    """
    nights, settings = context.catalog.nights, context.settings
    chunk = nights.take(
        run_id,
        secrets.token_hex(8),
        size=settings.night_chunk_subjects,
        hands=settings.night_hands,
        now=datetime.now(UTC),
        silent=silence(settings),
    )
    if chunk is None:
        return
    try:
        _do(chunk, jobs[chunk.run.job], context, leases, stopping)
    except ChunkLost:
        _log.warning("chunk_lost", stage="night", run=run_id)
        return
    except Exception as error:
        # A model that does not answer may be away, or fail over one subject alone: that one is left after some tries.
        nights.give_back(chunk, datetime.now(UTC), silence(settings), blamed=not is_outage(error))
        if not is_transient(error):
            raise
        # Beat asks for hands again soon enough; to ask at once would hammer what is away.
        _log.warning("night_interrupted", stage="night", run=run_id, error=type(error).__name__)
        return
    want_hand(context.celery, run_id)


def _do(chunk: Chunk, job: Job, context: WorkerContext, leases: LeaseKeeper, stopping: Callable[[], bool]) -> None:
    nights = context.catalog.nights
    pace = Pace(leases)
    busy: list[Subject] = []
    # Where a hand died, each step is written down: so it is known over whom the next one does.
    careful, deadly = chunk.deaths > 0, chunk.deaths >= _DEATHS
    while page := nights.page(chunk, _PAGE):
        counts: Counter[str] = Counter()
        done, since = 0, time.monotonic()
        for place, subject in enumerate(page, start=1):
            done += 1
            outcome, steps = ("failed", {}) if deadly else _one(subject, job, context, leases)
            if deadly:
                _log.error("night_given_up", stage="night", job=job.name, hands_lost=chunk.deaths)
                NIGHT_SUBJECTS.labels(job.name, outcome).inc()
                deadly = False
            if outcome == "busy":
                busy.append(subject)
            else:
                counts.update(steps)
                counts[outcome] += 1
            leaving = stopping()
            if leaving or careful or place == len(page) or time.monotonic() - since > _CHECKPOINT_SECONDS:
                chunk = nights.checkpoint(chunk, subject, counts, done, datetime.now(UTC))
                counts, done, since = Counter(), 0, time.monotonic()
            if leaving:
                nights.give_back(chunk, datetime.now(UTC), silence(context.settings))
                return
            pace.rest()
    for subject in busy:
        # Their turns are done by now, mostly; who still talks is looked at in the next night.
        outcome, steps = _one(subject, job, context, leases)
        chunk = nights.checkpoint(chunk, chunk.until, {outcome: 1, **steps}, 0, datetime.now(UTC))
        if outcome == "busy":
            NIGHT_SUBJECTS.labels(job.name, outcome).inc()
    nights.finish(chunk)


def _one(subject: Subject, job: Job, context: WorkerContext, leases: LeaseKeeper) -> tuple[str, dict[str, int]]:
    """Do the job for one subject: what became of it (changed, unchanged, busy, failed), and what was done."""
    started = time.perf_counter()
    steps: dict[str, int] = {}
    try:
        plan = visit(subject, job, context, leases, datetime.now(UTC))
        outcome = "changed" if plan else "unchanged"
        steps = plan.counts() if plan else {}
    except Busy:
        return "busy", {}
    except Exception as error:
        if is_transient(error):
            raise
        # One subject that cannot be done does not keep the others from their night.
        _log.exception("night_failed", stage="night", job=job.name)
        outcome = "failed"
    NIGHT_SECONDS.labels(job.name).observe(time.perf_counter() - started)
    NIGHT_SUBJECTS.labels(job.name, outcome).inc()
    for name, number in steps.items():
        NIGHT_STEPS.labels(job.name, name).inc(number)
    return outcome, steps
