"""The runs of the nightly jobs: which there were, how far each has come, and who works on which part of it.

A run goes through the subjects in the order of their ids. Its cursor says up to where they were given out, a chunk of
them at a time; a chunk is a row for as long as somebody works on it, and its start moves along with the work. So
nothing is ever held of all subjects, and what a worker leaves behind, another takes up where it stopped.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Connection, Engine, Table, delete, func, insert, select, tuple_, update

import stores.catalog.tables as tables
from schema import PreferenceName, Subject
from schema.errors import Transient
from stores.catalog.statements import insert_new
from stores.catalog.writers import Writers

_KEPT = timedelta(days=90)
"""For how long finished runs are kept."""
_NOBODY = ""
"""Holds a chunk that was given back."""
_UTC = "UTC"
_NAMES_ZONE = tables.preferences.c.name == PreferenceName.TIME_ZONE
_runs, _chunks = tables.night_runs, tables.night_chunks


class ChunkLost(Transient):
    """Another worker took the chunk over: what was done of it since the last checkpoint is not counted here."""


@dataclass(frozen=True)
class NightRun:
    """One run of a job over the subjects of a time zone; None: of all whose zone is not known.

    `chunks` counts those given out, `subjects` those that are done; `results` count what was done, by name.
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
class Chunk:
    """The subjects behind `after` up to `until`, in the order of their ids, given to one holder. `deaths` counts the
    holders that fell silent at this very place."""

    run: NightRun
    number: int
    holder: str
    after: Subject | None
    until: Subject
    deaths: int = 0


class NightRuns:
    """The table of runs. Safe to call from many threads and processes."""

    def __init__(self, engine: Engine, writers: Writers) -> None:
        self._engine = engine
        self._writers = writers

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
        """The time zones that any subject is known to live in, but for UTC: its nights are those of the unknown."""
        value = tables.preferences.c.value
        query = select(value).where(_NAMES_ZONE, value != _UTC).distinct().order_by(value)
        with self._engine.connect() as connection:
            return list(connection.execute(query).scalars())

    def run(self, run_id: str) -> NightRun | None:
        with self._engine.connect() as connection:
            row = connection.execute(select(_runs).where(_runs.c.id == run_id)).one_or_none()
        return None if row is None else _run_of(row)

    def runs(self, limit: int = 20) -> list[NightRun]:
        """The latest runs, newest first."""
        with self._engine.connect() as connection:
            rows = connection.execute(select(_runs).order_by(_runs.c.began_at.desc(), _runs.c.id).limit(limit))
            return [_run_of(row) for row in rows]

    def unfinished(self, job: str) -> list[NightRun]:
        """The runs of a job that still go on, oldest first."""
        query = select(_runs).where(_runs.c.job == job, _runs.c.finished_at.is_(None)).order_by(_runs.c.began_at)
        with self._engine.connect() as connection:
            return [_run_of(row) for row in connection.execute(query)]

    def in_work(self, run_id: str, now: datetime, silent: timedelta) -> int:
        """On how many chunks somebody works who was heard of for no longer ago than `silent`."""
        with self._engine.connect() as connection:
            return _in_work(connection, run_id, _is_heard(now, silent))

    def take(
        self, run_id: str, holder: str, *, size: int, hands: int, now: datetime, silent: timedelta
    ) -> Chunk | None:
        """Take a chunk to work on: one whose holder has been silent, or the next `size` subjects.

        None when enough hands are at work already, and when nothing is left; when nothing is in work either, the run
        is finished.
        """
        with self._writers.transaction() as connection:
            row = connection.execute(select(_runs).where(_runs.c.id == run_id).with_for_update()).one_or_none()
            if row is None or row.finished_at is not None:
                return None
            left = connection.execute(
                select(_chunks)
                .where(_chunks.c.run_id == run_id, ~_is_heard(now, silent))
                .order_by(_chunks.c.number)
                .limit(1)
            ).one_or_none()
            if left is not None:
                deaths = left.deaths + (left.holder != _NOBODY)
                connection.execute(_of(run_id, left.number).values(holder=holder, beat_at=now, deaths=deaths))
                after, until = (
                    _subject(left.after_tenant, left.after_subject),
                    _named(left.until_tenant, left.until_subject),
                )
                return Chunk(_run_of(row), left.number, holder, after, until, deaths)
            if _in_work(connection, run_id, _is_heard(now, silent)) >= hands:
                return None
            return self._next(connection, row, holder, size, now)

    def _next(self, connection: Connection, row: Any, holder: str, size: int, now: datetime) -> Chunk | None:
        after = _subject(row.cursor_tenant, row.cursor_subject)
        page = _page(connection, row.zone, after, None, size)
        this_run = update(_runs).where(_runs.c.id == row.id)
        if not page:
            if not _in_work(connection, row.id):
                connection.execute(this_run.values(finished_at=now))
            return None
        until, number = page[-1], row.chunks + 1
        connection.execute(
            this_run.values(cursor_tenant=until.tenant_id, cursor_subject=until.subject_id, chunks=number)
        )
        connection.execute(
            insert(_chunks).values(
                run_id=row.id,
                number=number,
                after_tenant=after.tenant_id if after else None,
                after_subject=after.subject_id if after else None,
                until_tenant=until.tenant_id,
                until_subject=until.subject_id,
                holder=holder,
                beat_at=now,
                deaths=0,
            )
        )
        return Chunk(_run_of(row), number, holder, after, until)

    def page(self, chunk: Chunk, limit: int) -> list[Subject]:
        """The next subjects of a chunk, in the order of their ids; none when it is done."""
        with self._engine.connect() as connection:
            return _page(connection, chunk.run.zone, chunk.after, chunk.until, limit)

    def checkpoint(
        self, chunk: Chunk, reached: Subject, counts: Mapping[str, int], subjects: int, now: datetime
    ) -> Chunk:
        """Write down that a chunk is done up to a subject, and what was done: the chunk as it is then.

        Raises:
            ChunkLost: another worker has it by now.
        """
        with self._writers.transaction() as connection:
            run = connection.execute(select(_runs).where(_runs.c.id == chunk.run.id).with_for_update()).one()
            moved = connection.execute(
                _of(chunk.run.id, chunk.number)
                .where(_chunks.c.holder == chunk.holder)
                .values(after_tenant=reached.tenant_id, after_subject=reached.subject_id, beat_at=now, deaths=0)
            )
            if moved.rowcount != 1:
                raise ChunkLost
            results = dict(run.results)
            for name, count in counts.items():
                results[name] = results.get(name, 0) + count
            connection.execute(
                update(_runs)
                .where(_runs.c.id == chunk.run.id)
                .values(subjects=run.subjects + subjects, results=results)
            )
        return replace(chunk, after=reached)

    def finish(self, chunk: Chunk) -> None:
        """Strike a chunk that is done; one that another worker has by now stays."""
        with self._writers.transaction() as connection:
            connection.execute(delete(_chunks).where(*_mine(chunk)))

    def give_back(self, chunk: Chunk, now: datetime, silent: timedelta, *, blamed: bool = False) -> None:
        """Leave the rest of a chunk to whoever comes next. `blamed` says that the next subject may be what stopped the
        holder: it counts as a death."""
        left = {"holder": _NOBODY, "beat_at": now - 2 * silent, "deaths": _chunks.c.deaths + int(blamed)}
        with self._writers.transaction() as connection:
            connection.execute(update(_chunks).where(*_mine(chunk)).values(left))


def _of(run_id: str, number: int) -> Any:
    return update(_chunks).where(_chunks.c.run_id == run_id, _chunks.c.number == number)


def _mine(chunk: Chunk) -> Sequence[Any]:
    return _chunks.c.run_id == chunk.run.id, _chunks.c.number == chunk.number, _chunks.c.holder == chunk.holder


def _is_heard(now: datetime, silent: timedelta) -> Any:
    """That the holder of a chunk was heard of lately. What was heard in the future was by a clock that was set back
    since, or is ahead, and may be as old."""
    return _chunks.c.beat_at.between(now - silent, now + silent)


def _in_work(connection: Connection, run_id: str, condition: Any = None) -> int:
    query = select(func.count()).select_from(_chunks).where(_chunks.c.run_id == run_id)
    if condition is not None:
        query = query.where(condition)
    return connection.execute(query).scalar_one()


def _due(zone: str | None) -> tuple[Table, Any]:
    """Where the subjects of a time zone are found by the order of their ids, or those whose zone is not known, and the
    condition on the rows there."""
    table, wants = tables.subjects, tables.preferences
    if zone is not None:
        # Their preferences are few beside all subjects.
        return wants, _NAMES_ZONE & (wants.c.value == zone)
    known = (
        select(wants.c.value)
        .where(_NAMES_ZONE, wants.c.tenant_id == table.c.tenant_id, wants.c.subject_id == table.c.subject_id)
        .scalar_subquery()
    )
    return table, known.is_(None) | (known == _UTC)


def _page(
    connection: Connection, zone: str | None, after: Subject | None, until: Subject | None, limit: int
) -> list[Subject]:
    table, condition = _due(zone)
    key = tuple_(table.c.tenant_id, table.c.subject_id)
    limits = [condition]
    if after is not None:
        limits.append(key > (after.tenant_id, after.subject_id))
    if until is not None:
        limits.append(key <= (until.tenant_id, until.subject_id))
    query = select(table.c.tenant_id, table.c.subject_id).where(*limits)
    rows = connection.execute(query.order_by(table.c.tenant_id, table.c.subject_id).limit(limit))
    return [_named(row.tenant_id, row.subject_id) for row in rows]


def _named(tenant_id: str, subject_id: str) -> Subject:
    return Subject(tenant_id=tenant_id, subject_id=subject_id)


def _subject(tenant_id: str | None, subject_id: str | None) -> Subject | None:
    return None if tenant_id is None or subject_id is None else _named(tenant_id, subject_id)


def _run_of(row: Any) -> NightRun:
    return NightRun(
        id=row.id,
        job=row.job,
        zone=row.zone,
        began_at=row.began_at,
        finished_at=row.finished_at,
        chunks=row.chunks,
        subjects=row.subjects,
        results=dict(row.results),
    )
