"""Tombstones, by which a turn that still comes is known as erased, and what else an erasure of turns takes."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Table, bindparam, delete, func, select, update

import stores.catalog.tables as tables
from schema import Review, Scope, Subject, Tombstone
from stores.catalog.changes import Changes
from stores.catalog.reviews import review_of
from stores.catalog.rows import subject_of
from stores.catalog.statements import insert_new, of_bound_subject, of_subject, subject_parameters
from stores.catalog.store import Store

_OF = select(tables.tombstones.c.scope, tables.tombstones.c.key, tables.tombstones.c.at).where(
    of_bound_subject(tables.tombstones)
)
_SAME = (
    of_bound_subject(tables.tombstones)
    & (tables.tombstones.c.scope == bindparam("of"))
    & (tables.tombstones.c.key == bindparam("what"))
)
_MOVE = update(tables.tombstones).where(_SAME).values(at=bindparam("since"), ended_at=None)
_FINISH = update(tables.tombstones).where(_SAME, tables.tombstones.c.at == bindparam("since"))


class TombstoneStore(Store):
    """The tombstones of all subjects. They are set by `Changes`. Safe to call from many threads and processes."""

    def of(self, subject: Subject, *, unfinished: bool = False) -> list[Tombstone]:
        """Return what of the subject was erased; only erasures that have not come to their end if `unfinished`."""
        query = _OF.where(tables.tombstones.c.ended_at.is_(None)) if unfinished else _OF
        rows = self._rows(query, subject_parameters(subject))
        return [Tombstone(Scope(row.scope), row.key, row.at) for row in rows]

    def since(self, moment: datetime) -> list[tuple[Subject, Tombstone]]:
        """Return what was erased from a moment on, of all subjects."""
        query = select(tables.tombstones).where(tables.tombstones.c.at >= moment)
        return [(subject_of(row), Tombstone(Scope(row.scope), row.key, row.at)) for row in self._rows(query)]

    def unfinished(self, limit: int) -> list[tuple[Subject, datetime]]:
        """Return subjects with erasures that have not come to their end, and since when, longest first."""
        table = tables.tombstones
        began = func.min(table.c.at).label("began")
        query = select(table.c.tenant_id, table.c.subject_id, began).where(table.c.ended_at.is_(None))
        query = query.group_by(table.c.tenant_id, table.c.subject_id).order_by(began).limit(limit)
        return [(subject_of(row), row.began) for row in self._rows(query)]

    def finish(self, subject: Subject, tombstones: Iterable[Tombstone], now: datetime) -> None:
        """Note that erasures have come to their end: nothing of them is left, outside of the catalog either."""
        rows = [_parameters(subject, tombstone) for tombstone in tombstones]
        if rows:
            with self._writers.transaction() as connection:
                connection.execute(_FINISH.values(ended_at=now), rows)
            # Whoever began it may have been killed before it did so.
            self._writers.leave_no_trace()


def write_tombstones(connection: Connection, subject: Subject, tombstones: Iterable[Tombstone]) -> None:
    """Set tombstones; one that stands already is moved to the later moment."""
    for tombstone in tombstones:
        row = {**subject.model_dump(), "scope": tombstone.scope, "key": tombstone.key, "at": tombstone.at}
        if connection.execute(insert_new(connection.dialect.name, tables.tombstones), row).rowcount == 0:
            connection.execute(_MOVE, _parameters(subject, tombstone))


def drop_turns(connection: Connection, changes: Changes) -> None:
    """Drop what else than memories may hold something of the erased turns."""
    if changes.erased_turns:
        for table, condition in rows_of_turns(connection, changes.subject, changes.erased_turns):
            connection.execute(delete(table).where(condition))


def rows_of_turns(connection: Connection, subject: Subject, turn_ids: Collection[str]) -> Iterator[tuple[Table, Any]]:
    """Yield each table that may hold something of some turns, memories apart, and the condition on its rows."""
    yield tables.sources, of_subject(tables.sources, subject) & tables.sources.c.turn_id.in_(turn_ids)
    reviews = [review.id for review in reviews_of(connection, subject) if review.words_of & set(turn_ids)]
    yield tables.reviews, of_subject(tables.reviews, subject) & tables.reviews.c.id.in_(reviews)
    for context in (tables.open_topics, tables.questions, tables.recent_turns):
        yield context, of_subject(context, subject)


def reviews_of(connection: Connection, subject: Subject) -> list[Review]:
    """Return the subject's reviews, decided ones too."""
    rows = connection.execute(select(tables.reviews).where(of_subject(tables.reviews, subject)))
    return [review_of(row) for row in rows]


def _parameters(subject: Subject, tombstone: Tombstone) -> dict[str, Any]:
    return {**subject_parameters(subject), "of": tombstone.scope, "what": tombstone.key, "since": tombstone.at}
