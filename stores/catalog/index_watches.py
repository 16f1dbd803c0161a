"""Entries of indexes that are looked at again, ever more rarely, until an hour has passed.

Somebody told the index of them while another, who had taken the same job, was never heard of again: a hung process, or
a request that is still under way, may tell the older state yet, and no job would say so.
"""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import Connection, bindparam, delete, select, update

import stores.catalog.tables as tables
from schema import Subject
from stores.catalog.changes import IndexJob
from stores.catalog.rows import subject_of
from stores.catalog.statements import upsert
from stores.catalog.store import Store
from stores.index.base import Family

FIRST_LOOK: Final = timedelta(minutes=1)
WATCHED_FOR: Final = timedelta(hours=1)
_WATCHES = tables.index_watches
_LOOKED_AT = (_WATCHES.c.id == bindparam("of")) & (_WATCHES.c.since == bindparam("began"))
"""The watch that was looked at, and not one that has begun since."""
_LATER = update(_WATCHES).where(_LOOKED_AT).values(next_at=bindparam("at"))
_OVER = delete(_WATCHES).where(_LOOKED_AT)


@dataclass(frozen=True)
class Watch:
    """An entry of an index that is looked at again, since when."""

    id: uuid.UUID
    subject: Subject
    index_key: uuid.UUID
    family: Family
    since: datetime


def watch(connection: Connection, jobs: Sequence[IndexJob], now: datetime) -> None:
    """Watch from now on the entries of some jobs."""
    if not jobs:
        return
    statement = upsert(connection.dialect.name, _WATCHES)
    excluded = statement.excluded
    again = statement.on_conflict_do_update(
        index_elements=[_WATCHES.c.id], set_={"since": excluded.since, "next_at": excluded.next_at}
    )
    connection.execute(again, [_row(job, now) for job in jobs])


class IndexWatches(Store):
    """Entries of indexes that are watched. Safe to call from many threads and processes."""

    def due(self, now: datetime, limit: int) -> list[Watch]:
        """Return those that are to be looked at by now, the longest due first."""
        query = select(_WATCHES).where(_WATCHES.c.next_at <= now).order_by(_WATCHES.c.next_at).limit(limit)
        return [
            Watch(row.id, subject_of(row), row.index_key, Family(row.family), row.since) for row in self._rows(query)
        ]

    def looked_at(self, watches: Sequence[Watch], now: datetime) -> None:
        """Look again when twice the time has passed, and no more at what was watched for an hour."""
        later = [
            {"of": watch.id, "began": watch.since, "at": now + (now - watch.since)}
            for watch in watches
            if now - watch.since < WATCHED_FOR
        ]
        over = [{"of": watch.id, "began": watch.since} for watch in watches if now - watch.since >= WATCHED_FOR]
        with self._writers.transaction() as connection:
            for statement, rows in ((_LATER, later), (_OVER, over)):
                if rows:
                    connection.execute(statement, rows)


def _row(job: IndexJob, now: datetime) -> dict[str, object]:
    return {
        "id": job.memory_id,
        **job.subject.model_dump(),
        "index_key": job.index_key,
        "family": job.family,
        "since": now,
        "next_at": now + FIRST_LOOK,
    }
