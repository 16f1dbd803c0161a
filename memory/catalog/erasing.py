"""What an erasure does to the catalog, and the tombstones by which a turn that still comes is known as erased."""

from __future__ import annotations

import uuid
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import Connection, Engine, Table, delete, func, insert, select, update

import memory.catalog.tables as tables
from memory.catalog.binding import mine, whose
from memory.catalog.changes import Changes
from memory.catalog.reviews import review_of
from memory.catalog.rows import index_job_rows, memory_of
from memory.catalog.writers import Writers
from memory.catalog.writing import RidingGraph, insert_new, note_removal, of_subject, take_turn
from memory.schema import AuditEntry, Memory, Review, Subject, Turn

_TOMBSTONES = select(tables.tombstones.c.scope, tables.tombstones.c.key, tables.tombstones.c.at).where(
    mine(tables.tombstones)
)
_STAYS = ("subjects", "tombstones")
"""Tables of which an erasure of a subject leaves the subject's row: ids, a fencing token, revisions and a moment."""


class Scope(StrEnum):
    """What was erased."""

    SUBJECT = "subject"
    CONVERSATION = "conversation"
    TURN = "turn"


@dataclass(frozen=True)
class Tombstone:
    """That something was erased at a moment; `key` is the conversation's or the turn's id, empty for a subject."""

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


class Erasing:
    """Erasures. Safe to call from many threads and processes."""

    def __init__(self, engine: Engine, writers: Writers, graph: RidingGraph | None = None) -> None:
        self._engine = engine
        self._writers = writers
        self._graph = graph

    def tombstones(self, subject: Subject) -> list[Tombstone]:
        """What of the subject was erased."""
        with self._engine.connect() as connection:
            rows = connection.execute(_TOMBSTONES, whose(subject))
            return [Tombstone(Scope(row.scope), row.key, row.at) for row in rows]

    def bury(self, subject: Subject, stones: Iterable[Tombstone]) -> None:
        """Set tombstones; one that stands already is moved to the later moment."""
        table = tables.tombstones
        with self._writers.transaction() as connection:
            for stone in stones:
                row = {**subject.model_dump(), "scope": stone.scope, "key": stone.key, "at": stone.at}
                connection.execute(insert_new(connection.dialect.name, table), row)
                connection.execute(
                    update(table)
                    .where(of_subject(table, subject), table.c.scope == stone.scope, table.c.key == stone.key)
                    .values(at=stone.at)
                )

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

    def drop_turns(self, subject: Subject, turn_ids: Collection[str]) -> dict[str, int]:
        """Drop raw turns, what waits for a person because of them, and all that is open or was asked, for it may speak
        of them. Answers how many rows of which table went."""
        gone = {}
        with self._writers.transaction() as connection:
            for table, mine in _of_turns(connection, subject, turn_ids):
                gone[table.name] = connection.execute(delete(table).where(mine)).rowcount
        self._writers.leave_no_trace()
        return gone

    def left_of(self, subject: Subject, turn_ids: Collection[str]) -> dict[str, int]:
        """How many rows each table still has of these turns."""
        with self._engine.connect() as connection:
            return {
                table.name: connection.execute(select(func.count()).select_from(table).where(mine)).scalar_one()
                for table, mine in _of_turns(connection, subject, turn_ids)
            }

    def wipe(self, subject: Subject, fence: int, line: AuditEntry) -> tuple[dict[str, int], list[Memory]]:
        """Drop all that any table has of a subject, and leave one line in the audit. Answers how many rows of which
        table went, and the memories, of which the index must yet be told.

        Raises:
            StaleFence: the work was done under a lease that is no longer the newest of the subject.
        """
        removed = {}
        with self._writers.transaction() as connection:
            revision = take_turn(connection, Changes(subject=subject, at=line.at, fence=fence))
            note_removal(connection, subject, revision)
            documents = connection.execute(
                select(tables.memories.c.document).where(of_subject(tables.memories, subject))
            ).scalars()
            memories = [memory_of(document) for document in documents]
            if self._graph is not None:
                self._graph.ride(connection, (), memories)
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
