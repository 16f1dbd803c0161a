"""Usage of memories for the night that forgets, and raw turns that it drops."""

from __future__ import annotations

import uuid
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Connection, bindparam, delete, exists, func, select, tuple_

import stores.catalog.tables as tables
from schema import Memory, MemoryType, Status, Subject
from stores.catalog.changes import Access
from stores.catalog.index_jobs import queue_jobs
from stores.catalog.rows import from_row
from stores.catalog.selector_tables import windows
from stores.catalog.selectors import settle_windows
from stores.catalog.statements import of_bound_subject, of_subject, subject_parameters
from stores.catalog.store import Store

_accesses, _memories = tables.accesses, tables.memories
_READ = (
    _memories.c.id,
    _memories.c.status,
    _memories.c.importance,
    _memories.c.pinned,
    _memories.c.legal_hold,
    _memories.c.last_accessed,
    _memories.c.updated_at,
    _accesses.c.times,
    _accesses.c.last_at,
)
# Built once: to build a statement costs more than to run it, and turns ask for it too.
_CREATED = (
    of_bound_subject(_memories),
    _memories.c.type == MemoryType.EPISODIC,
    _memories.c.created_at >= bindparam("since"),
    _memories.c.created_at <= bindparam("until"),
)
_IS_ACTIVE = _memories.c.status == Status.ACTIVE
_EPISODES = select(func.count()).where(*_CREATED, _IS_ACTIVE | (_memories.c.status == Status.ARCHIVED))
_ACTIVE_EPISODES = select(func.count()).where(*_CREATED, _IS_ACTIVE)
_IS_BELOW = _memories.c.importance < bindparam("below")
_WHOLES = select(_memories.c.consolidated_into).where(
    of_bound_subject(_memories), _memories.c.consolidated_into.is_not(None)
)
# Those made of others are newer than what no night has looked at yet: they would keep it out for good.
_UNJOINED = (
    select(_memories.c.document)
    .where(
        *_CREATED,
        _IS_ACTIVE,
        ~_memories.c.pinned,
        ~_memories.c.legal_hold,
        _memories.c.id.not_in(_WHOLES.correlate(None)),
    )
    .order_by(_memories.c.updated_at.desc(), _memories.c.id)
)


@dataclass(frozen=True, slots=True)
class Usage:
    """State of a memory before a night: its columns, and its accesses that are not in them yet."""

    id: uuid.UUID
    status: Status
    importance: float
    pinned: bool
    legal_hold: bool
    last_accessed: datetime
    updated_at: datetime
    access: Access | None

    @property
    def last_used(self) -> datetime:
        return max(self.last_accessed, self.access.last_at) if self.access else self.last_accessed


class DecayStore(Store):
    """Uses of memories, and which of them are old. Safe to call from many threads and processes."""

    def idle(self, subject: Subject, *, unused_since: datetime, archived_before: datetime) -> list[Usage]:
        """Return the subject's memories that forgetting has to look at: with accesses to fold in, not used since a
        moment, or archived before one. Pinned ones and those under legal hold only with accesses; a part of a
        consolidated memory goes when that one goes."""
        fades = (
            ~_memories.c.pinned
            & ~_memories.c.legal_hold
            & (
                (_memories.c.status != Status.ARCHIVED) & (_memories.c.last_accessed < unused_since)
                | (_memories.c.status == Status.ARCHIVED)
                & (_memories.c.updated_at < archived_before)
                & _memories.c.consolidated_into.is_(None)
            )
        )
        query = (
            select(*_READ)
            .outerjoin(_accesses, _accesses.c.memory_id == _memories.c.id)
            .where(of_subject(_memories, subject), fades | _accesses.c.times.is_not(None))
        )
        return [_usage(row, subject) for row in self._rows(query)]

    def drop_sources(self, before: datetime, limit: int) -> int:
        """Drop up to `limit` raw turns that were said before a moment, the oldest first, and answer how many there
        were; not those of a memory that is under legal hold."""
        sources, provenance = tables.sources, tables.provenance
        key = (sources.c.tenant_id, sources.c.subject_id, sources.c.turn_id)
        held = exists(
            select(provenance.c.memory_id)
            .join(_memories, _memories.c.id == provenance.c.memory_id)
            .where(
                provenance.c.tenant_id == sources.c.tenant_id,
                provenance.c.subject_id == sources.c.subject_id,
                provenance.c.turn_id == sources.c.turn_id,
                _memories.c.legal_hold,
            )
        )
        old = select(*key).where(sources.c.occurred_at < before, ~held).order_by(sources.c.occurred_at).limit(limit)
        with self._writers.transaction() as connection:
            keys = [tuple(row) for row in connection.execute(old)]
            if keys:
                connection.execute(delete(sources).where(tuple_(*key).in_(keys)))
                _settle_windows(connection, keys)
        if keys:
            self._writers.leave_no_trace()
        return len(keys)

    def episodes(
        self, subject: Subject, since: datetime, until: datetime, *, below: float | None = None, whatever: bool = False
    ) -> int:
        """Return how many active episodes were created from one moment to another, of an importance below one if given;
        with `whatever`, archived ones too."""
        query = _EPISODES if whatever else _ACTIVE_EPISODES
        asked: dict[str, Any] = {"since": since, "until": until}
        if below is not None:
            query, asked["below"] = query.where(_IS_BELOW), below
        return self._count(query, subject_parameters(subject) | asked)

    def unjoined_episodes(self, subject: Subject, since: datetime, until: datetime, limit: int) -> list[Memory]:
        """Return the active episodes, not pinned or held, that were created from one moment to another and not made of
        others, latest change first."""
        created = {"since": since, "until": until}
        return self._memories(_UNJOINED.limit(limit), subject_parameters(subject) | created)


def _settle_windows(connection: Connection, dropped: Sequence[tuple[str, str, str]]) -> None:
    if connection.execute(select(windows.c.id).limit(1)).first() is None:
        return
    turns: dict[Subject, set[str]] = defaultdict(set)
    for tenant_id, subject_id, turn_id in dropped:
        turns[Subject(tenant_id=tenant_id, subject_id=subject_id)].add(turn_id)
    for subject, turn_ids in turns.items():
        queue_jobs(connection, settle_windows(connection, subject, turn_ids), datetime.now(UTC), taken=False)


def _usage(row: Any, subject: Subject) -> Usage:
    access = None if row.times is None else Access(row.id, subject, row.times, row.last_at)
    return from_row(Usage, row, status=Status(row.status), access=access)
