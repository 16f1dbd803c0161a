"""Uses of memories by recall: how often, when and in which way; never the question.

A search does not write the memories that it finds: that would race the turns. It leaves a row of accesses for each,
which the night folds into the memory, and a row for each way and agent by which it was told, so that there are few
however often that is. Both go with their memory.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import Any, Final

from sqlalchemy import Column, Integer, String, Table, bindparam, select

import stores.catalog.tables as tables
from schema import Subject, Way
from stores.catalog.changes import Access
from stores.catalog.statements import of_bound_subject, of_subject, subject_parameters, upsert
from stores.catalog.store import Store
from stores.catalog.use_tables import uses as _uses

_memories, _accesses = tables.memories, tables.accesses
_NO_AGENT: Final = ""


@dataclass(frozen=True, slots=True)
class Use:
    """Number of times that a memory was told by a way, for an agent or for none, and the last of them."""

    memory_id: uuid.UUID
    subject: Subject
    way: Way
    agent_id: str | None
    times: int
    last_at: datetime


class UseStore(Store):
    """The uses of memories. Safe to call from many threads and processes."""

    def count(self, accesses: Iterable[Access], uses: Iterable[Use] = ()) -> None:
        """Count accesses, and those of them that told somebody something as uses too: all or none; those of memories
        that are gone are not counted."""
        # In one order, so that two who count the same memories wait for each other rather than deadlock.
        accessed = sorted(map(_row, accesses), key=lambda row: row["memory"])
        counted = sorted(
            (_row(use) | {"by": use.way, "for": use.agent_id or _NO_AGENT} for use in uses),
            key=lambda row: (row["memory"], row["by"], row["for"]),
        )
        if not accessed and not counted:
            return
        with self._writers.transaction() as connection:
            if accessed:
                connection.execute(_count_accesses(connection.dialect.name), accessed)
            if counted:
                connection.execute(_count_uses(connection.dialect.name), counted)

    def of(self, subject: Subject, memory_id: uuid.UUID) -> Sequence[Use]:
        """Return the uses of a subject's memory, latest first."""
        query = select(_uses).where(of_subject(_uses, subject), _uses.c.memory_id == memory_id)
        rows = self._rows(query.order_by(_uses.c.last_at.desc(), _uses.c.way, _uses.c.agent_id))
        return [Use(row.memory_id, subject, Way(row.way), row.agent_id or None, row.times, row.last_at) for row in rows]

    def uncounted(self, subject: Subject, memory_ids: Sequence[uuid.UUID]) -> dict[uuid.UUID, Access]:
        """Return which of a subject's memories were used since a night counted that in the memories themselves."""
        query = select(_accesses).where(of_subject(_accesses, subject), _accesses.c.memory_id.in_(memory_ids))
        return {row.memory_id: Access(row.memory_id, subject, row.times, row.last_at) for row in self._rows(query)}


def _row(counted: Access | Use) -> dict[str, Any]:
    return subject_parameters(counted.subject) | {
        "memory": counted.memory_id,
        "more": counted.times,
        "at": counted.last_at,
    }


@cache
def _count_accesses(dialect: str) -> Any:
    return _count_in(_accesses, {}, dialect)


@cache
def _count_uses(dialect: str) -> Any:
    return _count_in(_uses, {"way": bindparam("by", type_=String), "agent_id": bindparam("for", type_=String)}, dialect)


def _count_in(table: Table, more_of_key: Mapping[str, Any], dialect: str) -> Any:
    """Count in a table's row, its key the memory's and more, where the memory is there: which stays so until the
    transaction ends."""
    there: dict[str, Any] = {
        "memory_id": _memories.c.id,
        **more_of_key,
        "tenant_id": _memories.c.tenant_id,
        "subject_id": _memories.c.subject_id,
        "times": bindparam("more", type_=Integer),
        "last_at": bindparam("at", type_=table.c.last_at.type),
    }
    counted = (
        select(*there.values())
        .where(of_bound_subject(_memories), _memories.c.id == bindparam("memory"))
        .with_for_update(read=True, key_share=True)
    )
    statement = upsert(dialect, table).from_select(list(there), counted)
    key: list[Column[Any]] = [table.c.memory_id, *(table.c[name] for name in more_of_key)]
    return statement.on_conflict_do_update(
        index_elements=key,
        set_={"times": table.c.times + statement.excluded.times, "last_at": statement.excluded.last_at},
    )
