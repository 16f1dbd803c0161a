"""Jobs that the index must still be told of, and who may be telling it.

A job is ended only by who was alone with it from before reading the memory until after telling the index. So whatever
another may write late, a job still stands from which it is put right.
"""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any

from sqlalchemy import Connection, Row, bindparam, delete, func, or_, select, update

import stores.catalog.tables as tables
from schema import Subject
from stores.catalog.changes import IndexJob
from stores.catalog.index_watches import watch
from stores.catalog.indexed import read_family_versions
from stores.catalog.rows import from_row, subject_of
from stores.catalog.statements import any_of, of_subject, upsert
from stores.index.base import Family

_JOBS = tables.index_jobs
_DELETE = delete(_JOBS).where(
    _JOBS.c.memory_id == bindparam("id"), _JOBS.c.version == bindparam("done"), _JOBS.c.generation == bindparam("seen")
)
_TO_TAKE = select(_JOBS).where(_JOBS.c.memory_id.in_(any_of("ids"))).order_by(_JOBS.c.memory_id).with_for_update()
_PASS_OVER = update(_JOBS).where(_JOBS.c.memory_id.in_(any_of("ids"))).values(generation=_JOBS.c.generation + 1)
_TAKE = _PASS_OVER.values(taken_at=bindparam("now"))


@dataclass(frozen=True)
class Backlog:
    """Numbers of index jobs and events that wait, and since when the oldest job does."""

    index_jobs: int
    oldest_index_job: datetime | None
    events: int


def queue_jobs(connection: Connection, jobs: Sequence[IndexJob], since: datetime, *, taken: bool) -> None:
    """Queue jobs in a transaction that writes. A job that stands for the same memory becomes the newer one, and nobody
    who had it may end it. With `taken` its writer tells the index now."""
    if jobs:
        taken_at = datetime.now(UTC) if taken else None
        rows = [_row(job, since) | {"taken_at": taken_at} for job in jobs]
        connection.execute(_queue_statement(connection.dialect.name), rows)


def read_jobs(
    connection: Connection, subject: Subject | None, besides: tuple[datetime, datetime] | None, limit: int
) -> list[IndexJob]:
    """Return the jobs of one subject or of all, oldest first; not those that were taken, or are from, between two
    moments, if given."""
    query = select(_JOBS).order_by(_JOBS.c.since).limit(limit)
    if besides is not None:
        taken_at = func.coalesce(_JOBS.c.taken_at, _JOBS.c.since)
        query = query.where(or_(taken_at < besides[0], taken_at > besides[1]))
    if subject is not None:
        query = query.where(of_subject(_JOBS, subject))
    return [_job_of(row) for row in connection.execute(query)]


def take_jobs(connection: Connection, jobs: Sequence[IndexJob], patience: timedelta) -> list[IndexJob]:
    """Take jobs, and answer them as they may be ended: by nobody where another took one less than `patience` ago, and
    may be at work on it, or where one is no longer as it was read.

    What another took before that, and did not end, is watched: it may tell the index late.
    """
    now = datetime.now(UTC)
    there = {row.memory_id: row for row in connection.execute(_TO_TAKE, {"ids": [job.memory_id for job in jobs]})}
    if there:
        connection.execute(_TAKE, {"ids": list(there), "now": now})
        watch(connection, [_job_of(row) for row in there.values() if row.taken_at is not None], now)
    return [replace(job, generation=_taken(job, there.get(job.memory_id), now, patience)) for job in jobs]


def pass_over(connection: Connection, memory_ids: Sequence[uuid.UUID]) -> None:
    """Let nobody mark those jobs done of whose memories the index is told otherwise in this transaction: who has one
    may tell what was so before."""
    connection.execute(_PASS_OVER, {"ids": list(memory_ids)})


def mark_jobs_done(connection: Connection, jobs: Sequence[IndexJob]) -> dict[uuid.UUID, int]:
    """Mark jobs done that nobody had beside us, and return the versions at which their memories and chunks are by now;
    those that are gone are left out."""
    mine = [
        {"id": job.memory_id, "done": job.version, "seen": job.generation} for job in jobs if job.generation is not None
    ]
    if mine:
        connection.execute(_DELETE, mine)
    versions: dict[uuid.UUID, int] = {}
    for family in Family:
        versions |= read_family_versions(connection, family, [job.memory_id for job in jobs if job.family is family])
    return versions


def _taken(job: IndexJob, row: Row[Any] | None, now: datetime, patience: timedelta) -> int | None:
    if row is None or row.version != job.version:
        return None
    # One from far ahead was taken by a clock that is wrong, and may be as old.
    is_shared = row.taken_at is not None and abs(now - row.taken_at) < patience
    return None if is_shared else row.generation + 1


def _row(job: IndexJob, since: datetime) -> dict[str, Any]:
    return {
        "memory_id": job.memory_id,
        **job.subject.model_dump(),
        "index_key": job.index_key,
        "action": job.action,
        "version": job.version,
        "since": since,
        "family": job.family,
    }


def _job_of(row: Row[Any]) -> IndexJob:
    return from_row(IndexJob, row, subject=subject_of(row), family=Family(row.family))


@cache
def _queue_statement(dialect: str) -> Any:
    statement = upsert(dialect, _JOBS)
    excluded = statement.excluded
    return statement.on_conflict_do_update(
        index_elements=[_JOBS.c.memory_id],
        set_={
            "action": excluded.action,
            "version": excluded.version,
            "since": excluded.since,
            "generation": _JOBS.c.generation + 1,
            "taken_at": func.coalesce(excluded.taken_at, _JOBS.c.taken_at),
        },
    )
