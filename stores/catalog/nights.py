"""The runs of the nightly jobs: which there were, how far each has come, and which subjects are in work.

A run goes through the subjects in the order of their ids: its cursor says up to where they were given out, a page at a
time. A subject that was given out has a row in `night_subjects` until its job is done, with the moment from which
another worker may have it. So nothing is ever held of all subjects, and what a worker leaves behind, others do.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Connection, Table, delete, distinct, func, insert, select, tuple_, update

import stores.catalog.tables as tables
from schema import PreferenceName, Subject
from schema.errors import Transient
from stores.catalog.rows import from_row, subject_of
from stores.catalog.statements import insert_new
from stores.catalog.store import Store

_KEPT = timedelta(days=90)
"""For how long finished runs are kept."""
_UTC = "UTC"
_NAMES_ZONE = tables.preferences.c.name == PreferenceName.TIME_ZONE
_runs, _claimed = tables.night_runs, tables.night_subjects


class ClaimLost(Transient):
    """Other workers took the subjects over: what was done since the last time is not counted here."""


@dataclass(frozen=True)
class NightRun:
    """One run of a job over the subjects of a time zone; None: of all whose zone is not known.

    `chunks` counts the pages given out, `subjects` those that are done; `results` count what was done, by name.
    """

    id: str
    job: str
    zone: str | None
    began_at: datetime
    finished_at: datetime | None
    chunks: int
    subjects: int
    results: Mapping[str, int]


@dataclass(frozen=True)
class Claim:
    """Subjects that one worker does the job of a run for: a page, in the order of their ids, or one that another worker
    left behind. `tries` counts those who tried that one before and did not come back, or gave up."""

    run: NightRun
    number: int
    subjects: tuple[Subject, ...]
    tries: int = 0


class NightRuns(Store):
    """The table of runs. Safe to call from many threads and processes."""

    def begin(self, run_id: str, job: str, zone: str | None, now: datetime) -> bool:
        """Begin a run; False if it has begun before, whoever asked for it."""
        row: dict[str, Any] = {
            "id": run_id,
            "job": job,
            "zone": zone,
            "began_at": now,
            "chunks": 0,
            "subjects": 0,
            "results": {},
        }
        with self._writers.transaction() as connection:
            connection.execute(delete(_runs).where(_runs.c.finished_at < now - _KEPT))
            return connection.execute(insert_new(connection.dialect.name, _runs), row).rowcount == 1

    def zones(self) -> list[str]:
        """Return the time zones that subjects live in, but for UTC: its nights are those of the unknown."""
        value = tables.preferences.c.value
        query = select(value).where(_NAMES_ZONE, value != _UTC).distinct().order_by(value)
        return self._values(query)

    def run(self, run_id: str) -> NightRun | None:
        row = self._row(select(_runs).where(_runs.c.id == run_id))
        return None if row is None else _run_of(row)

    def runs(self, limit: int = 20) -> list[NightRun]:
        """Return the latest runs, newest first."""
        rows = self._rows(select(_runs).order_by(_runs.c.began_at.desc(), _runs.c.id).limit(limit))
        return [_run_of(row) for row in rows]

    def unfinished(self, job: str) -> list[NightRun]:
        """Return the runs of a job that still go on, oldest first."""
        query = select(_runs).where(_runs.c.job == job, _runs.c.finished_at.is_(None)).order_by(_runs.c.began_at)
        return [_run_of(row) for row in self._rows(query)]

    def claim(self, run_id: str, *, size: int, workers: int, now: datetime, patience: timedelta) -> Claim | None:
        """Claim a subject that somebody left behind, or else the next `size` subjects, for as long as `patience`.

        None where nothing is left, and where so many `workers` are at work already. When nothing is in work either, the
        run is finished.
        """
        with self._writers.transaction() as connection:
            run = connection.execute(select(_runs).where(_runs.c.id == run_id).with_for_update()).one_or_none()
            if run is None or run.finished_at is not None:
                return None
            number, until = run.chunks + 1, now + patience
            left_behind = connection.execute(
                select(_claimed)
                .where(_claimed.c.run_id == run_id, ~_is_in_work(now, patience))
                .order_by(_claimed.c.tenant_id, _claimed.c.subject_id)
                .limit(1)
            ).one_or_none()
            if left_behind is not None:
                subject, tries = subject_of(left_behind), left_behind.tries
                connection.execute(
                    update(_claimed)
                    .where(_claimed.c.run_id == run_id, _key(_claimed) == (subject.tenant_id, subject.subject_id))
                    .values(claim=number, next_run_at=until, tries=tries + 1)
                )
                connection.execute(_of(run_id).values(chunks=number))
                return Claim(_run_of(run), number, (subject,), tries)
            if _at_work(connection, run_id, now, patience) >= workers:
                return None
            after = None if run.cursor_tenant is None else (run.cursor_tenant, run.cursor_subject)
            page = _page(connection, run.zone, after, size)
            if not page:
                if not _at_work(connection, run_id):
                    connection.execute(_of(run_id).values(finished_at=now))
                return None
            cursor = {"cursor_tenant": page[-1].tenant_id, "cursor_subject": page[-1].subject_id}
            connection.execute(_of(run_id).values(chunks=number, **cursor))
            row = {"run_id": run_id, "claim": number, "next_run_at": until, "tries": 0}
            connection.execute(insert(_claimed), [row | subject.model_dump() for subject in page])
            return Claim(_run_of(run), number, tuple(page))

    def mark_done(
        self, claim: Claim, done: Sequence[Subject], counts: Mapping[str, int], now: datetime, patience: timedelta
    ) -> None:
        """Count what was done for subjects of a claim, let them go, and keep the others for as long again.

        Raises:
            ClaimLost: others have all of them by now.
        """
        with self._writers.transaction() as connection:
            run = connection.execute(select(_runs).where(_runs.c.id == claim.run.id).with_for_update()).one()
            keys = [(subject.tenant_id, subject.subject_id) for subject in done]
            gone = connection.execute(delete(_claimed).where(*_mine(claim), _key(_claimed).in_(keys)))
            if not gone.rowcount:
                raise ClaimLost
            connection.execute(update(_claimed).where(*_mine(claim)).values(next_run_at=now + patience))
            results = {name: run.results.get(name, 0) + counts.get(name, 0) for name in {**run.results, **counts}}
            connection.execute(_of(claim.run.id).values(subjects=run.subjects + gone.rowcount, results=results))

    def give_back(self, claim: Claim, now: datetime, *, blamed: Subject | None = None) -> None:
        """Leave what is not done of a claim to whoever comes next. `blamed` is the subject that stopped the worker: it
        counts as a try."""
        with self._writers.transaction() as connection:
            connection.execute(update(_claimed).where(*_mine(claim)).values(next_run_at=now, tries=claim.tries))
            if blamed is not None:
                key = _key(_claimed) == (blamed.tenant_id, blamed.subject_id)
                connection.execute(update(_claimed).where(*_mine(claim), key).values(tries=claim.tries + 1))


def _of(run_id: str) -> Any:
    return update(_runs).where(_runs.c.id == run_id)


def _mine(claim: Claim) -> Sequence[Any]:
    return _claimed.c.run_id == claim.run.id, _claimed.c.claim == claim.number


def _key(table: Table) -> Any:
    return tuple_(table.c.tenant_id, table.c.subject_id)


def _is_in_work(now: datetime, patience: timedelta) -> Any:
    """Match the rows whose worker still has time. A moment further ahead was written by a clock that was set back
    since, or is ahead, and may be as old."""
    return (_claimed.c.next_run_at > now) & (_claimed.c.next_run_at <= now + 2 * patience)


def _at_work(
    connection: Connection, run_id: str, now: datetime | None = None, patience: timedelta | None = None
) -> int:
    """Return how many claims of a run are in work; without a moment, how many there are at all."""
    query = select(func.count(distinct(_claimed.c.claim))).where(_claimed.c.run_id == run_id)
    if now is not None and patience is not None:
        query = query.where(_is_in_work(now, patience))
    return connection.execute(query).scalar_one()


def _due(zone: str | None) -> tuple[Table, Any]:
    """Return where the subjects of a time zone are found by the order of their ids, or those whose zone is not known,
    and the condition on the rows there."""
    table, wants = tables.subjects, tables.preferences
    if zone is not None:
        # Their preferences are few beside all subjects.
        return wants, _NAMES_ZONE & (wants.c.value == zone)
    known_zone = (
        select(wants.c.value)
        .where(_NAMES_ZONE, wants.c.tenant_id == table.c.tenant_id, wants.c.subject_id == table.c.subject_id)
        .scalar_subquery()
    )
    return table, known_zone.is_(None) | (known_zone == _UTC)


def _page(connection: Connection, zone: str | None, after: tuple[str, str] | None, limit: int) -> list[Subject]:
    table, condition = _due(zone)
    query = select(table.c.tenant_id, table.c.subject_id).where(condition)
    if after is not None:
        query = query.where(_key(table) > after)
    rows = connection.execute(query.order_by(table.c.tenant_id, table.c.subject_id).limit(limit))
    return [subject_of(row) for row in rows]


def _run_of(row: Any) -> NightRun:
    return from_row(NightRun, row)
