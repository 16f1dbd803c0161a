"""Begin nights when their moment has come, and ask workers for their pages.

Beat asks each quarter of an hour. A job's moment is told by each subject's own clock, so a night is a run for each
time zone whose moment has just passed, and one for the subjects whose zone nobody knows. A run's id is made of its
job, moment and zone: however many beats ask, it begins once. A message only says that a page of a run wants to be done;
how far that has come is in the catalog, so a message that is lost costs time until beat asks again, and nothing else.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import structlog

from schema.cron import Cron
from schema.settings import Settings
from stores.queue import request_night_page
from worker.context import WorkerContext
from worker.nights.base import JobName

_log = structlog.get_logger()
_CATCH_UP = timedelta(hours=2)
"""How late a night may begin: past that it is day, and the next one is not far."""


def tick(job: JobName, context: WorkerContext, now: datetime) -> list[str]:
    """Begin the runs whose moment has come, and ask for pages of all that go on. Return the ids of those begun.

    A night that is not over when the next one's moment comes goes on in its place: so the last subjects have their turn
    too, and nights do not heap up while a model is away.
    """
    begun = []
    if moments := moments_of(job, context.settings):
        cron = Cron.parse(moments)
        going_on = {run.zone: run.id for run in context.catalog.nights.unfinished(job)}
        for zone in (None, *context.catalog.nights.zones()):
            moment = cron.latest(now, _clock_of(zone), _CATCH_UP)
            if moment is None:
                continue
            minute = f"{moment:%Y-%m-%dT%H:%M}"
            if zone in going_on:
                if going_on[zone] != _id_of(job, minute, zone):
                    _log.warning("night_goes_on", stage="night", run=going_on[zone])
            elif run_id := begin(job, minute, zone, context, now):
                _log.info("night_begins", stage="night", run=run_id)
                begun.append(run_id)
    for run in context.catalog.nights.unfinished(job):
        request_pages(run.id, context)
    return begun


def _clock_of(zone: str | None) -> tzinfo:
    """Return the clock of a time zone; UTC where none is known: a machine's list of zones may be old."""
    if zone is None:
        return UTC
    try:
        return ZoneInfo(zone)
    except (ZoneInfoNotFoundError, ValueError):
        _log.warning("time_zone_unknown_here", stage="night", zone=zone)
        return UTC


def moments_of(job: JobName, settings: Settings) -> str:
    """Return the setting that says when a job is done; empty if never."""
    of_jobs = {
        "consolidate": settings.night_consolidate,
        "promote": settings.night_promote,
        "forget": settings.night_forget,
    }
    return of_jobs[job]


def begin(job: JobName, moment: str, zone: str | None, context: WorkerContext, now: datetime) -> str | None:
    """Begin one run; return its id, or None if it has begun before."""
    run_id = _id_of(job, moment, zone)
    return run_id if context.catalog.nights.begin(run_id, job, zone, now) else None


def _id_of(job: JobName, moment: str, zone: str | None) -> str:
    return f"{job}/{moment}/{zone or 'UTC'}"


def request_pages(run_id: str, context: WorkerContext) -> None:
    """Ask for as many workers as a run may have; one that comes when so many are at work claims nothing."""
    for _ in range(context.settings.night_slots):
        request_night_page(context.celery, run_id)


def patience(settings: Settings) -> timedelta:
    """Return how long a worker may be silent before others take over: past that it has ended its own process."""
    return timedelta(seconds=settings.turn_deadline_seconds)
