"""For what memories were used: how often by which way and for which agent, never what was asked. A row for each, so
that there are few however often a memory is told; they go with their memory."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import Any

from sqlalchemy import Engine, Integer, String, bindparam, select

import stores.catalog.tables as tables
from schema import Subject, Way
from stores.catalog.statements import mine, of_subject, upsert, whose
from stores.catalog.use_tables import uses
from stores.catalog.writers import Writers

_memories = tables.memories


@dataclass(frozen=True, slots=True)
class Use:
    """How often a memory was told by a way, for an agent or for none, and when last."""

    memory_id: uuid.UUID
    subject: Subject
    way: Way
    agent_id: str | None
    times: int
    last_at: datetime


class UseStore:
    """The uses of memories. Safe to call from many threads and processes."""

    def __init__(self, engine: Engine, writers: Writers) -> None:
        self._engine = engine
        self._writers = writers

    def count(self, uses: Iterable[Use]) -> None:
        """Count uses; those of memories that are gone are not counted."""
        # In one order, so that two who count the same memories wait for each other rather than deadlock.
        rows = [
            whose(use.subject)
            | {"memory": use.memory_id, "by": use.way, "for": use.agent_id or "", "more": use.times, "at": use.last_at}
            for use in sorted(uses, key=lambda use: (use.memory_id, use.way, use.agent_id or ""))
        ]
        if rows:
            with self._writers.transaction() as connection:
                connection.execute(_count_statement(connection.dialect.name), rows)

    def of(self, subject: Subject, memory_id: uuid.UUID) -> Sequence[Use]:
        """Return the uses of a subject's memory, latest first."""
        query = select(uses).where(of_subject(uses, subject), uses.c.memory_id == memory_id)
        with self._engine.connect() as connection:
            rows = connection.execute(query.order_by(uses.c.last_at.desc(), uses.c.way, uses.c.agent_id))
            return [
                Use(row.memory_id, subject, Way(row.way), row.agent_id or None, row.times, row.last_at) for row in rows
            ]

    def uncounted(self, subject: Subject, memory_id: uuid.UUID) -> int:
        """Return how often a subject's memory was used since a night counted that in the memory itself."""
        table = tables.accesses
        query = select(table.c.times).where(of_subject(table, subject), table.c.memory_id == memory_id)
        with self._engine.connect() as connection:
            return connection.execute(query).scalar() or 0


@cache
def _count_statement(dialect: str) -> Any:
    """Count a use where its memory is there, which stays so until the transaction ends."""
    there = (
        select(
            _memories.c.id,
            bindparam("by", type_=String),
            bindparam("for", type_=String),
            _memories.c.tenant_id,
            _memories.c.subject_id,
            bindparam("more", type_=Integer),
            bindparam("at", type_=uses.c.last_at.type),
        )
        .where(mine(_memories), _memories.c.id == bindparam("memory"))
        .with_for_update(read=True, key_share=True)
    )
    columns = ("memory_id", "way", "agent_id", "tenant_id", "subject_id", "times", "last_at")
    statement = upsert(dialect, uses).from_select(columns, there)
    return statement.on_conflict_do_update(
        index_elements=[uses.c.memory_id, uses.c.way, uses.c.agent_id],
        set_={"times": uses.c.times + statement.excluded.times, "last_at": statement.excluded.last_at},
    )
