"""Candidates that wait for a person."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from datetime import datetime
from functools import cache
from typing import Any

from sqlalchemy import Connection, Row, delete, func, select, tuple_, update

import stores.catalog.tables as tables
from schema import Asker, Memory, Review, ReviewStatus, Settlement, Subject
from schema.errors import ConcurrentChange
from stores.catalog.changes import Changes
from stores.catalog.rows import ids_from
from stores.catalog.statements import insert_new, of_subject
from stores.catalog.store import Reader

_IN_DOCUMENT = {
    "candidate",
    "conversation_id",
    "agent_id",
    "author_id",
    "visibility",
    "links",
    "document_id",
    "wish",
    "wished_in",
}


class Reviews(Reader):
    """Candidates that wait for a person, and those that one decided. Reads only: reviews are opened and settled by
    `Changes`."""

    def get(self, id_: uuid.UUID) -> Review | None:
        """Return one review by its id, whoever's it is: for operators, never for an answer to a principal."""
        row = self._row(select(tables.reviews).where(tables.reviews.c.id == id_))
        return None if row is None else review_of(row)

    def ids_like(self, start: str, *, limit: int = 10) -> list[uuid.UUID]:
        """Return the ids of reviews that begin with these hexadecimal digits, hyphens or not: for operators.

        Raises:
            ValueError: it is no start of an id.
        """
        table = tables.reviews
        first, last = ids_from(start)
        query = select(table.c.id).where(table.c.id >= first, table.c.id <= last).order_by(table.c.id).limit(limit)
        return self._values(query)

    def page(
        self,
        subject: Subject | None = None,
        *,
        status: ReviewStatus = ReviewStatus.OPEN,
        after: tuple[datetime, uuid.UUID] | None = None,
        limit: int = 200,
    ) -> list[Review]:
        """Return reviews of one subject or of all, oldest first, from behind the moment and id of one that was read."""
        table = tables.reviews
        query = select(table).where(table.c.status == status).order_by(table.c.opened_at, table.c.id).limit(limit)
        if subject is not None:
            query = query.where(of_subject(table, subject))
        if after is not None:
            query = query.where(tuple_(table.c.opened_at, table.c.id) > after)
        return [review_of(row) for row in self._rows(query)]

    def count_open(self, subject: Subject | None = None) -> int:
        """Return how many wait, of one subject or of all."""
        table = tables.reviews
        query = select(func.count()).where(table.c.status == ReviewStatus.OPEN)
        if subject is not None:
            query = query.where(of_subject(table, subject))
        return self._count(query)


def review_of(row: Row[Any]) -> Review:
    columns = dict(row._mapping)
    document = columns.pop("document")
    return Review.model_validate({"candidate": None, **columns, **(document or {})})


@cache
def _open_statement(dialect: str) -> Any:
    return insert_new(dialect, tables.reviews)


def write_reviews(connection: Connection, changes: Changes) -> None:
    """Open and settle reviews, and drop those that were made of what is deleted.

    Raises:
        ConcurrentChange: one that is settled was no longer open.
    """
    if changes.reviews:
        rows = [
            review.model_dump(exclude=_IN_DOCUMENT) | {"document": review.model_dump(mode="json", include=_IN_DOCUMENT)}
            for review in changes.reviews
        ]
        connection.execute(_open_statement(connection.dialect.name), rows)
    for settlement in changes.settled:
        _settle(connection, changes.subject, settlement, changes.at)
    if changes.withdrawn or changes.deleted:
        _drop(connection, changes.subject, changes.withdrawn, changes.deleted)


def _settle(connection: Connection, subject: Subject, settlement: Settlement, at: datetime) -> None:
    table = tables.reviews
    done = connection.execute(
        update(table)
        .where(table.c.id == settlement.review_id, of_subject(table, subject), table.c.status == ReviewStatus.OPEN)
        .values(status=settlement.status, decided_at=at, decided_by=settlement.by, document=None)
    )
    if done.rowcount != 1:
        raise ConcurrentChange


def _drop(connection: Connection, subject: Subject, withdrawn: Sequence[uuid.UUID], deleted: Sequence[Memory]) -> None:
    """Drop reviews that are named, and those that tell what a deleted memory or a turn of it told; a wish to forget of
    which something is left to decide loses its words, which may name what went."""
    table = tables.reviews
    gone = {memory.id for memory in deleted}
    turns = {turn_id for memory in deleted for turn_id in memory.source_turn_ids}
    rows = connection.execute(select(table).where(of_subject(table, subject), table.c.status == ReviewStatus.OPEN))
    waiting = list(map(review_of, rows))
    ids = set(withdrawn) | {
        review.id for review in waiting if _is_moot(review, gone) or (review.candidate and turns & review.words_of)
    }
    if ids:
        connection.execute(delete(table).where(of_subject(table, subject), table.c.id.in_(ids)))
    for review in waiting:
        if review.id not in ids and review.wish is not None and gone.intersection(review.links):
            wordless = review.model_copy(update={"wish": None})
            connection.execute(
                update(table)
                .where(of_subject(table, subject), table.c.id == review.id)
                .values(document=wordless.model_dump(mode="json", include=_IN_DOCUMENT))
            )


def _is_moot(review: Review, gone: set[uuid.UUID]) -> bool:
    """Return whether nothing is left to decide on without the memories that go: all that a wish to forget may have
    meant, or any that a candidate was made of."""
    links = set(review.links)
    return bool(links) and links <= gone if review.asked_by is Asker.FORGETTING else bool(links & gone)
