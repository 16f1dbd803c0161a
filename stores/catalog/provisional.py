"""Provisional memories: noted by the hot path, and not decided on yet."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime

from sqlalchemy import Connection, bindparam, select

import stores.catalog.tables as tables
from schema import Memory, Scope, Status, Subject, Tombstone
from schema.errors import AlreadyDecided, ConcurrentChange
from stores.catalog.changes import Changes
from stores.catalog.statements import any_of, of_bound_subject, subject_parameters
from stores.catalog.store import Reader

_memories, _ledger, _tombstones = tables.memories, tables.ledger, tables.tombstones
NOTED_IN_TURNS = (
    select(tables.provenance.c.memory_id)
    .join(_memories, _memories.c.id == tables.provenance.c.memory_id)
    .where(
        of_bound_subject(tables.provenance),
        tables.provenance.c.turn_id.in_(any_of("turns")),
        _memories.c.status == Status.PROVISIONAL,
    )
)
"""The ids of what the hot path noted of a subject's `turns`."""
_OF_TURNS = select(_memories.c.document).where(_memories.c.id.in_(NOTED_IN_TURNS))
_PROCESSED = select(_ledger.c.turn_id).where(of_bound_subject(_ledger), _ledger.c.turn_id == bindparam("turn"))
_ERASED = select(_tombstones.c.scope, _tombstones.c.key, _tombstones.c.at).where(of_bound_subject(_tombstones))


class ProvisionalStore(Reader):
    """Provisional memories. Safe to call from many threads and processes."""

    def of_turns(self, subject: Subject, turn_ids: Collection[str]) -> list[Memory]:
        """Return what the hot path noted of some turns of a subject."""
        if not turn_ids:
            return []
        noted = self._memories(_OF_TURNS, subject_parameters(subject) | {"turns": list(turn_ids)})
        return sorted(noted, key=lambda memory: memory.id)

    def from_before(self, moment: datetime, limit: int) -> list[Memory]:
        """Return provisional memories of all subjects that were noted before a moment, oldest first."""
        query = (
            select(_memories.c.document)
            .where(_memories.c.status == Status.PROVISIONAL, _memories.c.created_at < moment)
            .order_by(_memories.c.created_at)
            .limit(limit)
        )
        return self._memories(query)


def require_undecided(connection: Connection, changes: Changes) -> None:
    """Check, in the transaction that notes something of a turn, that the turn was neither processed nor erased, and
    that nothing was noted of it meanwhile.

    Raises:
        AlreadyDecided: it was.
        ConcurrentChange: something was noted: read it.
    """
    if changes.undecided is None:
        return
    turn, tolerance = changes.undecided.turn, changes.undecided.tolerance
    parameters = subject_parameters(changes.subject) | {"turn": turn.turn_id}
    if connection.execute(_PROCESSED, parameters).first() is not None:
        raise AlreadyDecided
    for row in connection.execute(_ERASED, subject_parameters(changes.subject)):
        erased = Tombstone(Scope(row.scope), row.key, row.at)
        if erased.covers(turn, changes.at) or erased.refuses(turn, changes.at, tolerance):
            raise AlreadyDecided
    turns = subject_parameters(changes.subject) | {"turns": [turn.turn_id]}
    if changes.created and connection.execute(NOTED_IN_TURNS, turns).first() is not None:
        raise ConcurrentChange


def require_settled(connection: Connection, changes: Changes) -> None:
    """Check, in the transaction that decides on turns, that nothing stays provisional that the hot path noted of them.

    Raises:
        ConcurrentChange: the hot path noted something since the turns were read: read them again.
    """
    if not changes.ledger:
        return
    turns = {"turns": [entry.turn_id for entry in changes.ledger]}
    noted = set(connection.execute(NOTED_IN_TURNS, subject_parameters(changes.subject) | turns).scalars())
    kept = {memory.id for memory in changes.updated if memory.status is not Status.PROVISIONAL}
    if noted - kept - {memory.id for memory in changes.deleted}:
        raise ConcurrentChange
