"""Erasures of whole subjects, and what is left of a turn, a conversation or a subject."""

from __future__ import annotations

import uuid
from collections.abc import Collection, Sequence
from typing import Any

from sqlalchemy import Connection, Engine, Table, and_, delete, func, insert, select

import stores.catalog.tables as tables
from schema import AuditAction, AuditEntry, Memory, Subject, Tombstone
from schema.errors import UnderLegalHold
from stores.catalog.changes import Changes
from stores.catalog.documents import read_held
from stores.catalog.index_jobs import queue_jobs
from stores.catalog.rows import memory_of
from stores.catalog.selectors import deletions_of
from stores.catalog.statements import of_bound_subject, of_subject, subject_parameters
from stores.catalog.store import Store
from stores.catalog.tombstones import reviews_of, rows_of_turns, write_tombstones
from stores.catalog.writers import Writers
from stores.catalog.writing import TransactionalGraph, note_removal, take_turn
from stores.index.base import BESIDE

_STAYS = ("subjects", "tombstones", "index_jobs", "index_watches")
"""Tables of which an erasure of a subject leaves the subject's rows: ids, a fencing token, revisions and moments; and
of what the index must yet be told, or is watched for because another may be telling it what is no longer so."""

_MEMORIES = select(tables.memories.c.document).where(of_bound_subject(tables.memories))
_LINES_STAY = (AuditAction.ERASED, AuditAction.VIEWED)
_BOUND_TO_USERS = (tables.memberships, tables.api_keys)
"""Tables whose rows give a user a right: they go with the user, whosever memory the right is to."""


class ErasureStore(Store):
    """Erasures. Safe to call from many threads and processes."""

    def __init__(self, engine: Engine, writers: Writers, graph: TransactionalGraph | None = None) -> None:
        super().__init__(engine, writers)
        self._graph = graph

    def turns_of(self, subject: Subject, conversation_id: str) -> set[str]:
        """Return the turns of a conversation, as far as sources, memories and reviews tell."""
        with self._engine.connect() as connection:
            turns = {
                row.turn_id
                for row in connection.execute(
                    select(tables.sources.c.turn_id, tables.sources.c.turn).where(of_subject(tables.sources, subject))
                )
                if row.turn.get("conversation_id") == conversation_id
            }
            for memory in map(memory_of, connection.execute(_MEMORIES, subject_parameters(subject)).scalars()):
                if memory.conversation_id == conversation_id:
                    turns.update(memory.source_turn_ids)
            for review in reviews_of(connection, subject):
                if review.said_in and review.conversation_id == conversation_id:
                    turns.add(review.said_in)
        return turns

    def made_of(self, subject: Subject, turn_ids: Collection[str]) -> list[uuid.UUID]:
        """Return the memories that came of any of these turns."""
        table = tables.provenance
        return self._values(
            select(table.c.memory_id).where(of_subject(table, subject), table.c.turn_id.in_(turn_ids)).distinct()
        )

    def said_in(self, subject: Subject, conversation_id: str) -> list[uuid.UUID]:
        """Return the memories of a conversation that lead back to no turn of it."""
        return [
            memory.id
            for memory in self._memories(_MEMORIES, subject_parameters(subject))
            if memory.conversation_id == conversation_id and not memory.source_turn_ids
        ]

    def left_of(self, subject: Subject, turn_ids: Collection[str]) -> dict[str, int]:
        """Count the rows that each table still has of these turns."""
        with self._engine.connect() as connection:
            return {
                table.name: connection.execute(select(func.count()).select_from(table).where(is_meant)).scalar_one()
                for table, is_meant in rows_of_turns(connection, subject, turn_ids)
            }

    def wipe(
        self, subject: Subject, fence: int, tombstones: Sequence[Tombstone], line: AuditEntry
    ) -> tuple[dict[str, int], list[Memory]]:
        """Drop all that any table has of a subject, and leave tombstones and one line in the audit. Return how many
        rows of which table went, and the memories, of which the index must yet be told. It goes on until
        `Tombstones.finish`.

        Raises:
            StaleFence: the work was done under a lease that is no longer the newest of the subject.
            UnderLegalHold: so are some of the memories or documents; nothing was dropped.
        """
        removed = {}
        with self._writers.transaction() as connection:
            revision = take_turn(connection, Changes(subject=subject, at=line.at, fence=fence))
            note_removal(connection, subject, revision, of_chunks=True)
            memories = [
                memory_of(document) for document in connection.execute(_MEMORIES, subject_parameters(subject)).scalars()
            ]
            held = [memory.id for memory in memories if memory.legal_hold]
            documents_held = read_held(connection, subject)
            if held or documents_held:
                raise UnderLegalHold(held, documents_held)
            beside = [job for family in BESIDE for job in deletions_of(connection, subject, family)]
            write_tombstones(connection, subject, tombstones)
            if self._graph is not None:
                self._graph.write_in_transaction(connection, (), memories)
            for table in _tables_about_subjects():
                removed[table.name] = connection.execute(delete(table).where(of_subject(table, subject))).rowcount
            for table in _BOUND_TO_USERS:
                gone = connection.execute(delete(table).where(_of_user(table, subject))).rowcount
                removed[table.name] = removed.get(table.name, 0) + gone
            deletions = Changes(subject=subject, at=line.at, deleted=tuple(memories))
            queue_jobs(connection, [*deletions.index_jobs(), *beside], line.at, taken=False)
            connection.execute(insert(tables.audit), [line.model_dump()])
        self._writers.leave_no_trace()
        return removed, memories

    def count_left(self, subject: Subject) -> dict[str, int]:
        """Count the rows that each table still has of a subject, those apart that an erasure leaves: the audit's lines
        on who erased it, and on who looked for it since."""
        with self._engine.connect() as connection:
            counts = {table.name: _count(connection, table, subject) for table in _tables_about_subjects()}
            stays = select(func.count()).where(
                of_subject(tables.audit, subject), tables.audit.c.action.in_(_LINES_STAY)
            )
            counts["audit"] -= connection.execute(stays).scalar_one()
            for table in _BOUND_TO_USERS:
                bound = select(func.count()).select_from(table).where(_of_user(table, subject))
                counts[table.name] = counts.get(table.name, 0) + connection.execute(bound).scalar_one()
        return counts


def _tables_about_subjects() -> Sequence[Table]:
    """Return all tables whose rows say whose they are, those first that hang on others: a new one is erased too."""
    subject_tables = [table for table in reversed(tables.metadata.sorted_tables) if "subject_id" in table.c]
    return [table for table in subject_tables if table.name not in _STAYS]


def _of_user(table: Table, subject: Subject) -> Any:
    return and_(table.c.tenant_id == subject.tenant_id, table.c.user_id == subject.subject_id)


def _count(connection: Connection, table: Table, subject: Subject) -> Any:
    return connection.execute(select(func.count()).select_from(table).where(of_subject(table, subject))).scalar_one()
