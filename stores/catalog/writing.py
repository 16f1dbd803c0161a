"""Write the changes of one transaction."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from functools import cache
from types import MappingProxyType
from typing import Any, NamedTuple, Protocol

from sqlalchemy import Connection, and_, bindparam, delete, exists, insert, select, update

import stores.catalog.tables as tables
from schema import Memory, Subject
from schema.errors import ConcurrentChange, StaleFence, UnderLegalHold
from stores.catalog.changes import Access, Changes, IndexJob
from stores.catalog.context import drop_context, write_questions, write_recent, write_topics
from stores.catalog.costs import drop_costs, write_costs
from stores.catalog.documents import write_documents
from stores.catalog.index_jobs import mark_jobs_done, pass_over, queue_jobs
from stores.catalog.preferences import write_preferences
from stores.catalog.provisional import require_settled, require_undecided
from stores.catalog.reviews import write_reviews
from stores.catalog.rows import fact_rows, memory_row, provenance_rows
from stores.catalog.selectors import drop_facts, write_selectors
from stores.catalog.statements import any_of, of_subject, upsert
from stores.catalog.tombstones import drop_turns, write_tombstones
from stores.catalog.webhooks import write_deliveries
from stores.index.base import Family, TransactionalIndex, Vector

# Built once: to build a statement costs more than to run it.
_INSERT_MEMORIES = insert(tables.memories)
_INSERT_FACTS = insert(tables.facts)
_INSERT_PROVENANCE = insert(tables.provenance)
_INSERT_LEDGER = insert(tables.ledger)
_INSERT_AUDIT = insert(tables.audit)
_MARK_ANNOUNCED = delete(tables.outbox).where(tables.outbox.c.id.in_(any_of("ids"))).returning(tables.outbox.c.id)
_AS_READ = and_(
    tables.memories.c.tenant_id == bindparam("tenant"),
    tables.memories.c.subject_id == bindparam("whose"),
    tables.memories.c.id == bindparam("memory"),
    tables.memories.c.version == bindparam("read_at"),
)
_UPDATE_MEMORIES = update(tables.memories).where(_AS_READ)
_DELETE_MEMORIES = delete(tables.memories).where(_AS_READ)
_DELETE_PROVENANCE = delete(tables.provenance).where(tables.provenance.c.memory_id == bindparam("memory"))
_COUNT_DOWN = (
    update(tables.accesses)
    .where(tables.accesses.c.memory_id == bindparam("memory"))
    .values(times=tables.accesses.c.times - bindparam("by"))
)
_DROP_COUNTED = delete(tables.accesses).where(
    tables.accesses.c.memory_id == bindparam("memory"), tables.accesses.c.times <= 0
)
_INSERT_EVENTS = insert(tables.outbox).returning(tables.outbox.c.id, sort_by_parameter_order=True)


class TransactionalGraph(Protocol):
    """A graph that takes part in the catalog's transactions."""

    def write_in_transaction(self, connection: Connection, written: Sequence[Memory], gone: Sequence[Memory]) -> None:
        """Take over the facts of memories that are written, and drop those of memories that go."""
        ...


NO_VECTORS: Mapping[uuid.UUID, Vector] = MappingProxyType({})
NO_INDEXES: Mapping[Family, TransactionalIndex] = MappingProxyType({})


def write(
    connection: Connection,
    changes: Changes,
    indexes: Mapping[Family, TransactionalIndex] = NO_INDEXES,
    vectors: Mapping[uuid.UUID, Vector] = NO_VECTORS,
    graph: TransactionalGraph | None = None,
) -> list[int]:
    """Write all changes on a connection in a transaction, and answer the outbox ids of the events, in their order.

    Indexes in the same database are told here of what is deleted, and of what has a vector in `vectors`, by the id of
    its memory or chunk; for the rest, windows and facts always, there are index jobs. So is the graph.

    Raises:
        StaleFence: the catalog has seen a newer fencing token for the subject.
        ConcurrentChange: an updated or deleted memory or document is no longer at the version that was read, or a
            settled review was settled before, something stays provisional of a turn that is decided, or it was noted
            twice at once, or the subject wants something else than what was read.
        AlreadyDecided: the turn that was to be undecided is not.
        UnderLegalHold: a deleted memory or document is.
    """
    held = [memory.id for memory in changes.deleted if memory.legal_hold]
    held_documents = [write.document.document_id for write in changes.documents if write.is_deleted and write.is_held]
    if held or held_documents:
        raise UnderLegalHold(held, held_documents)
    revision = take_turn(connection, changes)
    require_undecided(connection, changes)
    require_settled(connection, changes)
    if changes.deleted:
        note_removal(connection, changes.subject, revision)
    if changes.deleted or changes.forgets:
        drop_context(connection, changes.subject)
    write_topics(connection, changes.subject, changes.topics, changes.at)
    write_questions(connection, changes.subject, changes.questions, changes.at)
    write_recent(connection, changes.subject, changes.recent, changes.at)
    if changes.ledger:
        _write_ledger(connection, changes)
    if changes.created:
        connection.execute(_INSERT_MEMORIES, [memory_row(memory, revision) for memory in changes.created])
    if changes.updated:
        _update(connection, changes.updated, revision)
    dropped = drop_facts(connection, (*changes.updated, *changes.deleted))
    _write_parts(connection, (*changes.created, *changes.updated))
    if changes.deleted:
        _all_of(connection, _DELETE_MEMORIES, [_as_read(memory, memory.version) for memory in changes.deleted])
    _fold(connection, changes.folded)
    if changes.sources:
        _write_sources(connection, changes)
    _reduce_sources(connection, changes)
    if changes.deleted:
        _drop_orphaned_sources(connection, changes.subject, changes.deleted)
        _take_back_events(connection, changes)
    write_reviews(connection, changes)
    write_preferences(connection, changes)
    write_tombstones(connection, changes.subject, changes.tombstones)
    drop_turns(connection, changes)
    if graph is not None:
        graph.write_in_transaction(connection, (*changes.created, *changes.updated), changes.deleted)
    write_documents(connection, changes, revision)
    drop_costs(connection, changes.subject, changes.tombstones)
    write_costs(connection, changes.subject, changes.spent, changes.at)
    jobs = _write_vectors(connection, changes, indexes, vectors)
    queue_jobs(connection, jobs, changes.at, taken=True)
    queue_jobs(connection, write_selectors(connection, changes, dropped), changes.at, taken=False)
    if changes.audit:
        connection.execute(_INSERT_AUDIT, [entry.model_dump() for entry in changes.audit])
    return _write_events(connection, changes)


class Done(NamedTuple):
    """Jobs and events that were still there when they were marked as done."""

    versions: dict[uuid.UUID, int]
    """At which the jobs' memories are now; those that are gone are left out."""
    events: set[int]
    """The ids of those that were still in the outbox."""


def mark_done(connection: Connection, jobs: Sequence[IndexJob], event_ids: Sequence[int]) -> Done:
    """Mark as done what was indexed and announced, and return what was there of it."""
    events: set[int] = set()
    if event_ids:
        events = set(connection.execute(_MARK_ANNOUNCED, {"ids": list(event_ids)}).scalars())
    if not jobs:
        return Done({}, events)
    return Done(mark_jobs_done(connection, jobs), events)


def _write_events(connection: Connection, changes: Changes) -> list[int]:
    if not changes.events:
        return []
    rows = [event.model_dump(exclude={"name"}) | {"name": event.name} for event in changes.events]
    event_ids = list(connection.execute(_INSERT_EVENTS, rows).scalars())
    write_deliveries(connection, changes.events, event_ids)
    return event_ids


@cache
def _take_turn_statement(dialect: str, *, fenced: bool) -> Any:
    """Return the statement that raises the subject's revision, and its fence where the work was done under a lease.

    It locks the subject's row until the transaction ends, where the database locks rows: who writes for a subject waits
    for whoever does so already, so that two erasures do not each leave a source to the other.
    """
    statement = upsert(dialect, tables.subjects)
    there = tables.subjects.c
    return statement.on_conflict_do_update(
        index_elements=[there.tenant_id, there.subject_id],
        set_={"fence": statement.excluded.fence if fenced else there.fence, "revision": there.revision + 1},
        where=there.fence <= statement.excluded.fence if fenced else None,
    ).returning(there.revision)


def take_turn(connection: Connection, changes: Changes) -> int:
    """Let nobody else write for the subject until the transaction ends, and answer its new revision.

    The first is the moment in microseconds, so that no row of a subject begins where an earlier one was.

    Raises:
        StaleFence: the catalog has seen a newer fencing token than the changes'.
    """
    first = {"fence": changes.fence or 0, "revision": int(changes.at.timestamp() * 1e6), "removed": 0}
    statement = _take_turn_statement(connection.dialect.name, fenced=changes.fence is not None)
    revision = connection.execute(statement, {**changes.subject.model_dump(), **first}).scalar_one_or_none()
    if revision is None:
        raise StaleFence
    return int(revision)


def note_removal(connection: Connection, subject: Subject, revision: int, *, of_chunks: bool = False) -> None:
    """Note that a memory of the subject was removed, or with `of_chunks` chunks too, for who reads what changed since a
    revision."""
    removed = {"removed": revision} | ({"chunks_removed": revision} if of_chunks else {})
    connection.execute(update(tables.subjects).where(of_subject(tables.subjects, subject)).values(removed))


def _write_ledger(connection: Connection, changes: Changes) -> None:
    connection.execute(
        _INSERT_LEDGER,
        [{**changes.subject.model_dump(), **vars(entry), "reasons": list(entry.reasons)} for entry in changes.ledger],
    )


def _fold(connection: Connection, folded: Sequence[Access]) -> None:
    """Take accesses out that are in their memories now; those that came meanwhile stay."""
    if folded:
        connection.execute(_COUNT_DOWN, [{"memory": access.memory_id, "by": access.times} for access in folded])
        connection.execute(_DROP_COUNTED, [{"memory": access.memory_id} for access in folded])


def _update(connection: Connection, memories: Sequence[Memory], revision: int) -> None:
    rows = [memory_row(memory, revision) | _as_read(memory, memory.version - 1) for memory in memories]
    _all_of(connection, _UPDATE_MEMORIES, rows)
    connection.execute(_DELETE_PROVENANCE, [{"memory": memory.id} for memory in memories])


def _as_read(memory: Memory, version: int) -> dict[str, Any]:
    """Return the parameters of `_AS_READ`."""
    return {"tenant": memory.tenant_id, "whose": memory.subject_id, "memory": memory.id, "read_at": version}


def _all_of(connection: Connection, statement: Any, rows: Sequence[Mapping[str, Any]]) -> None:
    """Run a statement that changes one memory for each of these, in one go: a night changes hundreds of a subject, and
    others wait to write meanwhile."""
    if connection.execute(statement, rows).rowcount != len(rows):
        raise ConcurrentChange


def _write_parts(connection: Connection, memories: tuple[Memory, ...]) -> None:
    if rows := fact_rows(memories):
        connection.execute(_INSERT_FACTS, rows)
    if rows := provenance_rows(memories):
        connection.execute(_INSERT_PROVENANCE, rows)


@cache
def _keep_source_statement(dialect: str) -> Any:
    return upsert(dialect, tables.sources).on_conflict_do_nothing()


def _write_sources(connection: Connection, changes: Changes) -> None:
    connection.execute(
        _keep_source_statement(connection.dialect.name),
        [
            {
                **changes.subject.model_dump(),
                "turn_id": turn.turn_id,
                "occurred_at": turn.occurred_at,
                "turn": turn.model_dump(mode="json", exclude_none=True),
            }
            for turn in changes.sources
        ],
    )


def _reduce_sources(connection: Connection, changes: Changes) -> None:
    table = tables.sources
    for turn in changes.reduced:
        mine = (of_subject(table, changes.subject), table.c.turn_id == turn.turn_id)
        connection.execute(update(table).where(*mine).values(turn=turn.model_dump(mode="json", exclude_none=True)))


def _drop_orphaned_sources(connection: Connection, subject: Subject, deleted: tuple[Memory, ...]) -> None:
    turn_ids = {turn_id for memory in deleted for turn_id in memory.source_turn_ids}
    connection.execute(
        delete(tables.sources).where(
            of_subject(tables.sources, subject),
            tables.sources.c.turn_id.in_(turn_ids),
            ~exists(
                select(tables.provenance.c.memory_id).where(
                    of_subject(tables.provenance, subject), tables.provenance.c.turn_id == tables.sources.c.turn_id
                )
            ),
        )
    )


def _take_back_events(connection: Connection, changes: Changes) -> None:
    ids = {str(memory.id) for memory in changes.deleted} | {event.voids for event in changes.events}
    table = tables.outbox
    waiting = connection.execute(select(table.c.id, table.c.payload).where(of_subject(table, changes.subject)))
    if outdated := [row.id for row in waiting if ids & set(map(str, row.payload.values()))]:
        connection.execute(delete(table).where(table.c.id.in_(outdated)))


def _write_vectors(
    connection: Connection,
    changes: Changes,
    indexes: Mapping[Family, TransactionalIndex],
    vectors: Mapping[uuid.UUID, Vector],
) -> list[IndexJob]:
    """Tell indexes in the same database what they can be told at once, and answer the jobs that are left."""
    jobs = changes.index_jobs()
    written = set[uuid.UUID]()
    for family, index in indexes.items():
        entries = changes.entries(family, vectors)
        gone = [(changes.subject, key) for key in changes.keys_gone(family)]
        if entries or gone:
            index.write_in_transaction(connection, entries, gone)
            written |= {entry.memory_id for entry in entries}
            written |= {job.memory_id for job in jobs if job.family is family and job.action == "delete"}
    if written:
        pass_over(connection, list(written))
    return [job for job in jobs if job.memory_id not in written]
