"""Do one page of a nightly run: claim subjects, do the job for each, and ask for the next page."""

from __future__ import annotations

import time
from collections import Counter, deque
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import UTC, datetime

import structlog

from memory.failures import is_outage, is_transient
from memory.leases import LeaseKeeper
from memory.metrics import NIGHT_SECONDS, NIGHT_STEPS, NIGHT_SUBJECTS
from schema import Subject
from stores.catalog import Claim, ClaimLost
from stores.queue import request_night_page
from worker.context import WorkerContext
from worker.nights.base import Job
from worker.nights.dispatch import patience
from worker.nights.subject_run import Busy, run_for_subject
from worker.nights.throttle import Pace

_log = structlog.get_logger()
_CHECKPOINT_SUBJECTS = 50
_CHECKPOINT_SECONDS = 5.0
_TRIES = 3
"""Workers that may die or give up over one subject before it is left for the next night."""


def do_page(
    run_id: str,
    jobs: Mapping[str, Job],
    context: WorkerContext,
    leases: LeaseKeeper,
    stopping: Callable[[], bool] = lambda: False,
) -> None:
    """Claim the next subjects of a run, if there are any and not too many workers are at it, and do the job for them.

    Once `stopping` says that this process is to end, the rest is left to another.
    """
    settings = context.settings
    claim = context.catalog.nights.claim(
        run_id,
        size=settings.night_chunk_subjects,
        workers=settings.night_slots,
        now=datetime.now(UTC),
        patience=patience(settings),
    )
    if claim is None:
        return
    page = _Page(claim, context)
    try:
        page.do(jobs[claim.run.job], leases, stopping)
    except ClaimLost:
        _log.warning("chunk_lost", stage="night", run=run_id)
    except Exception as error:
        # A model that does not answer may be away, or fail over one subject alone: that one is left after some tries.
        page.give_back(blame=not is_outage(error))
        if not is_transient(error):
            raise
        # Beat asks again soon enough; to ask at once would hammer what is away.
        _log.warning("night_interrupted", stage="night", run=run_id, error=type(error).__name__)
    else:
        request_night_page(context.celery, run_id)


class _Page:
    """The subjects of one claim, and what was done for them since the catalog was last told."""

    def __init__(self, claim: Claim, context: WorkerContext) -> None:
        self._claim = claim
        self._context = context
        self._waiting = deque(claim.subjects)
        self._done: list[Subject] = []
        self._counts: Counter[str] = Counter()
        self._since = time.monotonic()

    def do(self, job: Job, leases: LeaseKeeper, stopping: Callable[[], bool]) -> None:
        """Do a job for each subject. Who talks is tried again at the end, and then left for the next night: most turns
        are done by then.

        Raises:
            ClaimLost: others have the subjects by now.
            Exception: something that the job needs is away; the subject is the first of those not done.
        """
        pace = Pace(leases)
        talking: set[Subject] = set()
        while self._waiting and not stopping():
            subject = self._waiting[0]
            outcome, steps = self._run(subject, job, leases)
            self._waiting.popleft()
            if outcome == "busy" and subject not in talking:
                talking.add(subject)
                self._waiting.append(subject)
                continue
            NIGHT_SUBJECTS.labels(job.name, outcome).inc()
            for name, number in steps.items():
                NIGHT_STEPS.labels(job.name, name).inc(number)
            self._done.append(subject)
            self._counts.update({outcome: 1, **steps})
            if len(self._done) >= _CHECKPOINT_SUBJECTS or time.monotonic() - self._since > _CHECKPOINT_SECONDS:
                self._checkpoint()
            pace.rest()
        self._checkpoint()
        if self._waiting:
            self.give_back()

    def give_back(self, *, blame: bool = False) -> None:
        """Leave what is not done to others; `blame` the subject that is first among it."""
        with suppress(ClaimLost):
            self._checkpoint()
        blamed = self._waiting[0] if blame and self._waiting else None
        self._context.catalog.nights.give_back(self._claim, datetime.now(UTC), blamed=blamed)

    def _run(self, subject: Subject, job: Job, leases: LeaseKeeper) -> tuple[str, dict[str, int]]:
        """Do the job for one subject: what became of it (changed, unchanged, busy, failed), and what was done."""
        if self._claim.tries >= _TRIES:
            _log.error("night_given_up", stage="night", job=job.name, tries=self._claim.tries)
            return "failed", {}
        started = time.perf_counter()
        try:
            plan = run_for_subject(subject, job, self._context, leases, datetime.now(UTC))
        except Busy:
            return "busy", {}
        except Exception as error:
            if is_transient(error):
                raise
            # One subject that cannot be done does not keep the others from their night.
            _log.exception("night_failed", stage="night", job=job.name)
            return "failed", {}
        finally:
            NIGHT_SECONDS.labels(job.name).observe(time.perf_counter() - started)
        return ("changed", plan.counts()) if plan else ("unchanged", {})

    def _checkpoint(self) -> None:
        if self._done:
            self._context.catalog.nights.mark_done(
                self._claim, self._done, self._counts, datetime.now(UTC), patience(self._context.settings)
            )
        self._done, self._counts, self._since = [], Counter(), time.monotonic()
