"""What an erasure does to the catalog, and the tombstones by which a turn that still comes is known as erased."""

from __future__ import annotations

import uuid
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import Connection, Engine, Table, bindparam, delete, func, insert, select, update

import stores.catalog.tables as tables
from schema import AuditEntry, Memory, Review, Subject, Turn
from schema.errors import UnderLegalHold
from stores.catalog.changes import Changes
from stores.catalog.reviews import review_of
from stores.catalog.rows import index_job_rows, memory_of
from stores.catalog.statements import insert_new, mine, of_subject, whose
from stores.catalog.writers import Writers
from stores.catalog.writing import TransactionalGraph, note_removal, take_turn, write
from stores.index.base import TransactionalIndex

_TOMBSTONES = select(tables.tombstones.c.scope, tables.tombstones.c.key, tables.tombstones.c.at).where(
    mine(tables.tombstones)
)
_SAME = (
    mine(tables.tombstones)
    & (tables.tombstones.c.scope == bindparam("of"))
    & (tables.tombstones.c.key == bindparam("what"))
)
_BURY_AGAIN = update(tables.tombstones).where(_SAME).values(at=bindparam("since"), ended_at=None)
_END = update(tables.tombstones).where(_SAME, tables.tombstones.c.at == bindparam("since"))
_STAYS = ("subjects", "tombstones")
"""Tables of which an erasure of a subject leaves the subject's row: ids, a fencing token, revisions and a moment."""


class Scope(StrEnum):
    """What was erased."""

    SUBJECT = "subject"
    CONVERSATION = "conversation"
    TURN = "turn"


@dataclass(frozen=True)
class Tombstone:
    """That something was erased at a moment: `key` is the conversation's or the turn's id, empty for a subject."""

    scope: Scope
    key: str
    at: datetime

    def covers(self, turn: Turn) -> bool:
        """Whether a turn is of what was erased: said before, or the very turn."""
        match self.scope:
            case Scope.SUBJECT:
                return turn.occurred_at <= self.at
            case Scope.CONVERSATION:
                return turn.conversation_id == self.key and turn.occurred_at <= self.at
            case Scope.TURN:
                return turn.turn_id == self.key


class ErasureStore:
    """Erasures. Safe to call from many threads and processes."""

    def __init__(
        self,
        engine: Engine,
        writers: Writers,
        transactional_index: TransactionalIndex | None = None,
        graph: TransactionalGraph | None = None,
    ) -> None:
        self._engine = engine
        self._writers = writers
        self._transactional_index = transactional_index
        self._graph = graph

    def tombstones(self, subject: Subject) -> list[Tombstone]:
        """What of the subject was erased."""
        with self._engine.connect() as connection:
            rows = connection.execute(_TOMBSTONES, whose(subject))
            return [Tombstone(Scope(row.scope), row.key, row.at) for row in rows]

    def going_on(self, limit: int) -> list[tuple[Subject, datetime]]:
        """Subjects with erasures that have not come to their end, and since when, longest first."""
        table = tables.tombstones
        began = func.min(table.c.at).label("began")
        query = select(table.c.tenant_id, table.c.subject_id, began).where(table.c.ended_at.is_(None))
        query = query.group_by(table.c.tenant_id, table.c.subject_id).order_by(began).limit(limit)
        with self._engine.connect() as connection:
            return [
                (Subject(tenant_id=row.tenant_id, subject_id=row.subject_id), row.began)
                for row in connection.execute(query)
            ]

    def begun(self, subject: Subject) -> list[Tombstone]:
        """The tombstones of the subject's erasures that have not come to their end."""
        with self._engine.connect() as connection:
            rows = connection.execute(_TOMBSTONES.where(tables.tombstones.c.ended_at.is_(None)), whose(subject))
            return [Tombstone(Scope(row.scope), row.key, row.at) for row in rows]

    def end(self, subject: Subject, stones: Iterable[Tombstone], now: datetime) -> None:
        """Note that an erasure has come to its end: nothing of it is left, outside of the catalog either."""
        rows = [{**whose(subject), "of": stone.scope, "what": stone.key, "since": stone.at} for stone in stones]
        if rows:
            with self._writers.transaction() as connection:
                connection.execute(_END.values(ended_at=now), rows)
            # Whoever began it may have been killed before it did so.
            self._writers.leave_no_trace()

    def legally_held(self, subject: Subject | None = None, *, limit: int | None = None) -> list[Memory]:
        """The memories under legal hold, of a subject or of all, in the order of whose they are."""
        table = tables.memories
        query = select(table.c.document).where(table.c.legal_hold)
        if subject is not None:
            query = query.where(of_subject(table, subject))
        query = query.order_by(table.c.tenant_id, table.c.subject_id, table.c.created_at, table.c.id).limit(limit)
        with self._engine.connect() as connection:
            return [memory_of(document) for document in connection.execute(query).scalars()]

    def turns_of(self, subject: Subject, conversation_id: str) -> set[str]:
        """The turns of a conversation, as far as sources, memories and reviews tell."""
        with self._engine.connect() as connection:
            turns = {
                row.turn_id
                for row in connection.execute(
                    select(tables.sources.c.turn_id, tables.sources.c.turn).where(of_subject(tables.sources, subject))
                )
                if row.turn.get("conversation_id") == conversation_id
            }
            documents = connection.execute(
                select(tables.memories.c.document).where(of_subject(tables.memories, subject))
            ).scalars()
            for memory in map(memory_of, documents):
                if memory.conversation_id == conversation_id:
                    turns.update(memory.source_turn_ids)
            for review in _waiting(connection, subject):
                if review.candidate and review.conversation_id == conversation_id:
                    turns.add(review.candidate.turn_id)
        return turns

    def made_of(self, subject: Subject, turn_ids: Collection[str]) -> list[uuid.UUID]:
        """The memories that came of any of these turns."""
        table = tables.provenance
        with self._engine.connect() as connection:
            return list(
                connection.execute(
                    select(table.c.memory_id)
                    .where(of_subject(table, subject), table.c.turn_id.in_(turn_ids))
                    .distinct()
                ).scalars()
            )

    def commit(self, changes: Changes, stones: Sequence[Tombstone] = (), turn_ids: Collection[str] = ()) -> None:
        """Write an erasure: its changes, its tombstones, and that turns are dropped, in one transaction. It goes on
        until `end`.

        With a turn go its raw text, what waits for a person because of it, and all that is open or was asked, for it
        may speak of it.

        Raises:
            StaleFence, ConcurrentChange, UnderLegalHold: as `Catalog.commit`; nothing was written.
        """
        with self._writers.transaction() as connection:
            write(connection, changes, self._transactional_index, graph=self._graph)
            _bury(connection, changes.subject, stones)
            if turn_ids:
                for table, mine in _of_turns(connection, changes.subject, turn_ids):
                    connection.execute(delete(table).where(mine))
        self._writers.leave_no_trace()

    def left_of(self, subject: Subject, turn_ids: Collection[str]) -> dict[str, int]:
        """How many rows each table still has of these turns."""
        with self._engine.connect() as connection:
            return {
                table.name: connection.execute(select(func.count()).select_from(table).where(mine)).scalar_one()
                for table, mine in _of_turns(connection, subject, turn_ids)
            }

    def wipe(
        self, subject: Subject, fence: int, stone: Tombstone, line: AuditEntry
    ) -> tuple[dict[str, int], list[Memory]]:
        """Drop all that any table has of a subject, and leave a tombstone and one line in the audit. Answers how many
        rows of which table went, and the memories, of which the index must yet be told. It goes on until `end`.

        Raises:
            StaleFence: the work was done under a lease that is no longer the newest of the subject.
            UnderLegalHold: so are some of the memories; nothing was dropped.
        """
        removed = {}
        with self._writers.transaction() as connection:
            revision = take_turn(connection, Changes(subject=subject, at=line.at, fence=fence))
            note_removal(connection, subject, revision)
            documents = connection.execute(
                select(tables.memories.c.document).where(of_subject(tables.memories, subject))
            ).scalars()
            memories = [memory_of(document) for document in documents]
            if held := [memory.id for memory in memories if memory.legal_hold]:
                raise UnderLegalHold(held)
            _bury(connection, subject, [stone])
            if self._graph is not None:
                self._graph.write_in_transaction(connection, (), memories)
            for table in _tables_about_subjects():
                removed[table.name] = connection.execute(delete(table).where(of_subject(table, subject))).rowcount
            gone = Changes(subject=subject, at=line.at, deleted=tuple(memories))
            if rows := index_job_rows(gone.index_jobs(), line.at):
                connection.execute(insert(tables.index_jobs), rows)
            connection.execute(insert(tables.audit), [line.model_dump()])
        self._writers.leave_no_trace()
        return removed, memories

    def left(self, subject: Subject) -> dict[str, int]:
        """How many rows each table still has of a subject, those apart that an erasure leaves."""
        with self._engine.connect() as connection:
            counts = {table.name: _count(connection, table, subject) for table in _tables_about_subjects()}
        counts["audit"] = max(0, counts["audit"] - 1)
        return counts


def _bury(connection: Connection, subject: Subject, stones: Iterable[Tombstone]) -> None:
    """Set tombstones; one that stands already is moved to the later moment."""
    for stone in stones:
        row = {**subject.model_dump(), "scope": stone.scope, "key": stone.key, "at": stone.at}
        if connection.execute(insert_new(connection.dialect.name, tables.tombstones), row).rowcount == 0:
            connection.execute(_BURY_AGAIN, {**whose(subject), "of": stone.scope, "what": stone.key, "since": stone.at})


def _tables_about_subjects() -> Sequence[Table]:
    """All tables whose rows say whose they are, those first that hang on others; so a new table is erased too."""
    found = [table for table in reversed(tables.metadata.sorted_tables) if "subject_id" in table.c]
    return [table for table in found if table.name not in _STAYS]


def _of_turns(connection: Connection, subject: Subject, turn_ids: Collection[str]) -> Iterator[tuple[Table, Any]]:
    """What else than memories may hold something of some turns, and the condition on its rows."""
    yield tables.sources, of_subject(tables.sources, subject) & tables.sources.c.turn_id.in_(turn_ids)
    reviews = [
        review.id
        for review in _waiting(connection, subject)
        if review.candidate and {review.candidate.turn_id, *review.candidate.context_turn_ids} & set(turn_ids)
    ]
    yield tables.reviews, of_subject(tables.reviews, subject) & tables.reviews.c.id.in_(reviews)
    for context in (tables.open_topics, tables.questions):
        yield context, of_subject(context, subject)


def _waiting(connection: Connection, subject: Subject) -> list[Review]:
    rows = connection.execute(select(tables.reviews).where(of_subject(tables.reviews, subject)))
    return [review_of(row) for row in rows]


def _count(connection: Connection, table: Table, subject: Subject) -> Any:
    return connection.execute(select(func.count()).select_from(table).where(of_subject(table, subject))).scalar_one()
