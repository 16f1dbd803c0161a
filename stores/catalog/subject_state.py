"""State of a subject before new turns are looked at: turns processed, memories written, memories not indexed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, bindparam, func, select

import stores.catalog.tables as tables
from schema import Memory, Status, Subject
from stores.catalog.rows import memory_of
from stores.catalog.statements import any_of, of_bound_subject, subject_parameters

_ledger, _memories, _jobs = tables.ledger, tables.memories, tables.index_jobs
_PROCESSED = select(_ledger.c.turn_id, _ledger.c.digest).where(
    of_bound_subject(_ledger), _ledger.c.turn_id.in_(any_of("turns"))
)
_WRITES = select(func.count()).where(
    of_bound_subject(_memories), _memories.c.created_at >= bindparam("since"), _memories.c.status != Status.PROVISIONAL
)
_UNINDEXED = (
    select(_memories.c.document)
    .join(_jobs, _jobs.c.memory_id == _memories.c.id)
    .where(of_bound_subject(_jobs), _jobs.c.action == "upsert")
)


@dataclass(frozen=True)
class SubjectState:
    """State of a subject that the pipeline reads before it extracts.

    `writes` is how many memories were created lately, `unindexed` the memories that the index was not told of yet.
    """

    writes: int
    unindexed: tuple[Memory, ...]


def read_processed(connection: Connection, subject: Subject, turn_ids: Sequence[str]) -> dict[str, str]:
    """Return the digests of those of the turns that are in the ledger, by turn_id."""
    rows = connection.execute(_PROCESSED, subject_parameters(subject) | {"turns": list(turn_ids)})
    return {row.turn_id: row.digest for row in rows}


def read_subject_state(connection: Connection, subject: Subject, since: datetime) -> SubjectState:
    """Return how a subject stands; `writes` are counted from `since` on."""
    return SubjectState(
        writes=connection.execute(_WRITES, subject_parameters(subject) | {"since": since}).scalar_one(),
        unindexed=tuple(map(memory_of, connection.execute(_UNINDEXED, subject_parameters(subject)).scalars())),
    )
