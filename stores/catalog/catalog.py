"""The catalog: the relational record of truth."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from types import MappingProxyType

from sqlalchemy import Engine, and_, delete, func, or_, select, tuple_

import stores.catalog.tables as tables
from schema import AuditEntry, Context, Event, Memory, MemoryType, OpenTopic, Status, Subject, Turn
from stores.catalog.access import KeyStore, MemberStore
from stores.catalog.agents import AgentStore
from stores.catalog.before_batch import BeforeBatches
from stores.catalog.changes import Changes, IndexJob, Outcome
from stores.catalog.context import drop_stale_context, read_context, read_topics
from stores.catalog.costs import Costs
from stores.catalog.decay import DecayStore
from stores.catalog.documents import DocumentStore
from stores.catalog.engine import read_only
from stores.catalog.erasures import ErasureStore
from stores.catalog.fact_pages import FactPages
from stores.catalog.families import FamilyStore
from stores.catalog.feedback import FeedbackStore
from stores.catalog.index_jobs import Backlog, queue_jobs, read_jobs, take_jobs
from stores.catalog.index_watches import IndexWatches
from stores.catalog.indexed import read_family_versions, read_versions
from stores.catalog.items import ItemStore
from stores.catalog.nights import NightRuns
from stores.catalog.pages import MemoryPages
from stores.catalog.preferences import PreferenceStore
from stores.catalog.provisional import ProvisionalStore
from stores.catalog.quota_counts import QuotaCounts
from stores.catalog.registry import Registry
from stores.catalog.reindex_jobs import ReindexJobs
from stores.catalog.reviews import Reviews
from stores.catalog.rows import ids_from, memory_of, subject_of
from stores.catalog.statements import ids_of_bound_subject, of_subject, subject_parameters
from stores.catalog.store import Store
from stores.catalog.subject_state import SubjectState, read_processed, read_subject_state
from stores.catalog.summaries import Summaries, read_summaries
from stores.catalog.tombstones import TombstoneStore
from stores.catalog.turn_records import TurnRecords
from stores.catalog.uses import UseStore
from stores.catalog.webhooks import WebhookStore
from stores.catalog.writers import Writers
from stores.catalog.writing import NO_VECTORS, Done, TransactionalGraph, mark_done, write
from stores.index.base import Family, TransactionalIndex, Vector

_memories, _facts = tables.memories, tables.facts
_BY_IDS = select(_memories.c.document).where(ids_of_bound_subject(_memories))


class Catalog(Store):
    """Memories, sources, audit, ledger and outbox over one database. Safe to call from many threads and processes.

    Every call may raise `CatalogOutage`: the database is locked or away, restarts, or ended a deadlock.
    """

    def __init__(
        self,
        engine: Engine,
        transactional_index: TransactionalIndex | None = None,
        graph: TransactionalGraph | None = None,
        *,
        transactional_beside: Mapping[Family, TransactionalIndex] = MappingProxyType({}),
    ) -> None:
        super().__init__(read_only(engine), Writers(engine))
        self.reviews = Reviews(self._engine)
        self.preferences = PreferenceStore(self._engine)
        self.nights = NightRuns(self._engine, self._writers)
        self.decay = DecayStore(self._engine, self._writers)
        self.uses = UseStore(self._engine, self._writers)
        self.erasures = ErasureStore(self._engine, self._writers, graph)
        self.tombstones = TombstoneStore(self._engine, self._writers)
        self.index_watches = IndexWatches(self._engine, self._writers)
        self.reindex_jobs = ReindexJobs(self._engine, self._writers)
        self.pages = MemoryPages(self._engine)
        self.facts = FactPages(self._engine)
        self.keys = KeyStore(self._engine, self._writers)
        self.members = MemberStore(self._engine, self._writers)
        self.items = ItemStore(self._engine, self._writers)
        self.agents = AgentStore(self._engine, self._writers)
        self.feedback = FeedbackStore(self._engine, self._writers)
        self.provisional = ProvisionalStore(self._engine)
        self.before_batches = BeforeBatches(self._engine)
        self.turn_records = TurnRecords(self._engine)
        self.quota_counts = QuotaCounts(self._engine)
        own = {} if transactional_index is None else {Family.MEMORIES: transactional_index}
        self._transactional = own | dict(transactional_beside)
        self.documents = DocumentStore(self._engine, self._writers)
        self.families = FamilyStore(self._engine, self.memories, self.list_memories, self.documents, self.sources)
        self.webhooks = WebhookStore(self._engine, self._writers)
        self.registry = Registry(self._engine, self._writers)
        self.costs = Costs(self._engine, self._writers)
        self._graph = graph

    @property
    def carries_vectors(self) -> bool:
        """Return whether the index lies in this database, so that `commit` writes vectors with their memories."""
        return bool(self._transactional)

    def close(self) -> None:
        self._engine.dispose()

    # -- writing ------------------------------------------------------------------------------------------------

    def commit(self, changes: Changes, vectors: Mapping[uuid.UUID, Vector] = NO_VECTORS) -> list[int]:
        """Write all changes in one transaction, or none of them, and answer the outbox ids of the events.

        `vectors` are those of summaries and chunks, by the ids of memories and chunks. Where the index lies in this
        database they are written with them, and only what has none here is left to an index job.

        Raises:
            StaleFence: the work was done under a lease that is no longer the newest of the subject.
            ConcurrentChange: a memory or a review was changed by somebody else since it was read.
            UnderLegalHold: a memory to be deleted is.
        """
        event_ids = self._writers.write(
            lambda connection: write(connection, changes, self._transactional, vectors, self._graph)
        )
        if changes.removes_something:
            self._writers.leave_no_trace()
        return event_ids

    def leave_no_trace(self) -> bool:
        """Take what was deleted out of an embedded database's log too, and return whether it is: whatever deletes tries
        the same, and does not say."""
        return self._writers.leave_no_trace()

    def mark_done(self, jobs: Sequence[IndexJob] = (), event_ids: Sequence[int] = ()) -> Done:
        """Mark as done jobs that the index has done and events that were announced. Returns what was there of them.

        A newer write of the same memory keeps its job, and so does one that another took since.
        """
        if not jobs and not event_ids:
            return Done({}, set())
        return self._writers.write(lambda connection: mark_done(connection, jobs, event_ids))

    # -- memories -----------------------------------------------------------------------------------------------

    def memory(self, id_: uuid.UUID) -> Memory | None:
        """Return one memory by its id, whoever's it is: for operators, never for an answer to a principal."""
        document = self._value(select(tables.memories.c.document).where(tables.memories.c.id == id_))
        return None if document is None else memory_of(document)

    def ids_like(self, start: str, *, limit: int = 10) -> list[uuid.UUID]:
        """Return the ids of memories that begin with these hexadecimal digits, hyphens or not: for operators.

        Raises:
            ValueError: it is no start of an id.
        """
        table = tables.memories
        first, last = ids_from(start)
        query = select(table.c.id).where(table.c.id >= first, table.c.id <= last).order_by(table.c.id).limit(limit)
        return self._values(query)

    def memories(self, subject: Subject, ids: Iterable[uuid.UUID]) -> dict[uuid.UUID, Memory]:
        """Return the subject's memories under these ids; others are left out."""
        wanted = list(ids)
        if not wanted:
            return {}
        return {memory.id: memory for memory in self._memories(_BY_IDS, subject_parameters(subject) | {"ids": wanted})}

    def versions(self, family: Family, subject: Subject) -> dict[uuid.UUID, tuple[uuid.UUID, int]]:
        """Return where what the subject has of a family lies in its index, and at which versions it is, by id."""
        with self._engine.connect() as connection:
            return read_versions(connection, family, subject)

    def versions_of(self, family: Family, ids: Sequence[uuid.UUID]) -> dict[uuid.UUID, int]:
        """Return the versions at which those are whose vectors lie in a family's index; what is gone is left out."""
        with self._engine.connect() as connection:
            return read_family_versions(connection, family, ids)

    def list_memories(
        self,
        subject: Subject,
        *,
        statuses: Sequence[Status] = (Status.ACTIVE,),
        types: Sequence[MemoryType] = (),
        limit: int = 1000,
    ) -> list[Memory]:
        """Return the subject's memories of these statuses, latest change first; all types unless some are named."""
        table = tables.memories
        query = select(table.c.document).where(of_subject(table, subject), table.c.status.in_(statuses))
        if types:
            query = query.where(table.c.type.in_(types))
        return self._memories(query.order_by(table.c.updated_at.desc(), table.c.id).limit(limit))

    def summaries(self, subject: Subject, since: int | None = None) -> Summaries:
        """Return what the subject's active memories say; only what was written since a revision, if one is given."""
        with self._engine.connect() as connection:
            return read_summaries(connection, subject, since)

    # -- turns --------------------------------------------------------------------------------------------------

    def processed(self, subject: Subject, turn_ids: Sequence[str]) -> dict[str, str]:
        """Return the digests of those of the turns that are in the ledger, by turn_id."""
        with self._engine.connect() as connection:
            return read_processed(connection, subject, turn_ids)

    def subject_state(self, subject: Subject, since: datetime) -> SubjectState:
        """Return how a subject stands before new turns are looked at; `writes` are counted from `since` on."""
        with self._engine.connect() as connection:
            return read_subject_state(connection, subject, since)

    def context(
        self, subject: Subject, conversation_ids: Iterable[str], *, topics_since: datetime, questions_since: datetime
    ) -> Context:
        """Return what earlier turns left for these conversations to be understood by, not older than these moments."""
        with self._engine.connect() as connection:
            return read_context(
                connection, subject, conversation_ids, topics_since=topics_since, questions_since=questions_since
            )

    def open_topics(self, subject: Subject) -> list[tuple[OpenTopic, datetime]]:
        """Return a subject's open topics with since when they are open, latest first, stale ones too."""
        with self._engine.connect() as connection:
            return read_topics(connection, subject)

    def drop_stale_context(self, *, topics_before: datetime, questions_before: datetime) -> int:
        """Drop topics and questions that are older than these moments, and answer how many there were."""
        with self._writers.transaction() as connection:
            return drop_stale_context(connection, topics_before=topics_before, questions_before=questions_before)

    def revive(self, subject: Subject, turn_id: str) -> None:
        """Drop a turn from the ledger if it is there as a dead letter, so that it may be processed again."""
        table = tables.ledger
        is_dead = (table.c.turn_id == turn_id) & (table.c.outcome == Outcome.DEAD)
        self._run(delete(table).where(of_subject(table, subject), is_dead))

    def sources(self, subject: Subject, turn_ids: Sequence[str]) -> list[Turn]:
        """Return the raw turns kept for provenance, oldest first."""
        table = tables.sources
        turns = self._values(
            select(table.c.turn)
            .where(of_subject(table, subject), table.c.turn_id.in_(turn_ids))
            .order_by(table.c.occurred_at)
        )
        return [Turn.model_validate(turn) for turn in turns]

    # -- what is still to do ------------------------------------------------------------------------------------

    def index_jobs(
        self, subject: Subject | None = None, *, besides: tuple[datetime, datetime] | None = None, limit: int = 500
    ) -> list[IndexJob]:
        """Return what the index must still be told, of one subject or of all, oldest first; not what was taken, or is
        from, between two moments, if given."""
        with self._engine.connect() as connection:
            return read_jobs(connection, subject, besides, limit)

    def queue_index_jobs(self, jobs: Sequence[IndexJob], now: datetime) -> None:
        """Queue what the index is to be told anew, for the sweep."""
        self._writers.write(lambda connection: queue_jobs(connection, jobs, now, taken=False))

    def take_index_jobs(self, jobs: Sequence[IndexJob], patience: timedelta) -> list[IndexJob]:
        """Take jobs before reading what the index is told, and answer them as `mark_done` takes them: it ends none
        that another took less than `patience` ago, or that stands no longer."""
        return self._writers.write(lambda connection: take_jobs(connection, jobs, patience))

    def outbox(
        self, subject: Subject | None = None, *, besides: tuple[datetime, datetime] | None = None, limit: int = 500
    ) -> list[tuple[int, Event]]:
        """Return the events not yet announced, of one subject or of all, oldest first, with their row ids; not those
        from between two moments, if given."""
        table = tables.outbox
        query = select(table).order_by(table.c.id).limit(limit)
        if besides is not None:
            query = query.where(or_(table.c.at < besides[0], table.c.at > besides[1]))
        if subject is not None:
            query = query.where(of_subject(table, subject))
        return [
            (row.id, Event.model_validate({key: value for key, value in row._mapping.items() if key != "id"}))
            for row in self._rows(query)
        ]

    def legal_holds(self, subject: Subject | None = None, *, limit: int | None = None) -> list[Memory]:
        """Return the memories under legal hold, of a subject or of all, in the order of whose they are."""
        table = tables.memories
        query = select(table.c.document).where(table.c.legal_hold)
        if subject is not None:
            query = query.where(of_subject(table, subject))
        query = query.order_by(table.c.tenant_id, table.c.subject_id, table.c.created_at, table.c.id).limit(limit)
        return self._memories(query)

    # -- for people ---------------------------------------------------------------------------------------------

    def audit_of(self, subject: Subject, memory_id: uuid.UUID) -> list[AuditEntry]:
        """Return the audit of one memory, oldest first; it outlives the memory."""
        table = tables.audit
        query = select(table).where(of_subject(table, subject), table.c.memory_id == memory_id).order_by(table.c.id)
        return [AuditEntry.model_validate(dict(row._mapping)) for row in self._rows(query)]

    def count_memories(self) -> dict[Status, int]:
        """Return how many memories there are of each status."""
        table = tables.memories
        query = select(table.c.status, func.count()).group_by(table.c.status)
        return {Status(status): count for status, count in self._rows(query)}

    def count_turns(self, since: datetime | None = None) -> dict[Outcome, int]:
        """Return how many turns had each outcome, from `since` on if given."""
        table = tables.ledger
        query = select(table.c.outcome, func.count()).group_by(table.c.outcome)
        if since is not None:
            query = query.where(table.c.processed_at >= since)
        return {Outcome(outcome): count for outcome, count in self._rows(query)}

    def count_audit(self, since: datetime | None = None) -> dict[str, int]:
        """Return how many audit entries there are of each action, from `since` on if given."""
        table = tables.audit
        query = select(table.c.action, func.count()).group_by(table.c.action)
        if since is not None:
            query = query.where(table.c.at >= since)
        return dict(map(tuple, self._rows(query)))

    def lags(self, since: datetime, limit: int | None = None) -> list[float]:
        """Return seconds from a turn's arrival to its commit, for the turns processed from `since` on, latest first; of
        at most `limit` if given."""
        table = tables.ledger
        query = select(table.c.arrived_at, table.c.processed_at).where(table.c.processed_at >= since)
        rows = self._rows(query.order_by(table.c.processed_at.desc()).limit(limit))
        return [(row.processed_at - row.arrived_at).total_seconds() for row in rows]

    def count_index_jobs(self, family: Family | None = None) -> int:
        """Return of how much an index has yet to be told: that of one family, or all."""
        query = select(func.count()).select_from(tables.index_jobs)
        return self._count(query if family is None else query.where(tables.index_jobs.c.family == family))

    def arrivals(self, memory_ids: Sequence[uuid.UUID]) -> list[datetime]:
        """Return when the last turn of each of these memories arrived; of those that are gone, nothing."""
        if not memory_ids:
            return []
        ledger, provenance = tables.ledger, tables.provenance
        same_turn = and_(*(ledger.c[name] == provenance.c[name] for name in ("tenant_id", "subject_id", "turn_id")))
        return self._values(
            select(func.max(ledger.c.arrived_at))
            .select_from(provenance.join(ledger, same_turn))
            .where(provenance.c.memory_id.in_(memory_ids))
            .group_by(provenance.c.memory_id)
        )

    def backlog(self) -> Backlog:
        """Return what the index and the listeners have yet to be told."""
        jobs, outbox = tables.index_jobs, tables.outbox
        with self._engine.connect() as connection:
            waiting, oldest = connection.execute(select(func.count(), func.min(jobs.c.since))).one()
            return Backlog(
                index_jobs=waiting,
                oldest_index_job=oldest,
                events=connection.execute(select(func.count()).select_from(outbox)).scalar_one(),
            )

    def list_subjects(self, *, after: Subject | None = None, limit: int = 1000) -> list[Subject]:
        """Return the subjects that the catalog knows, in the order of their ids, from behind `after` on."""
        table = tables.subjects
        query = select(table.c.tenant_id, table.c.subject_id).order_by(table.c.tenant_id, table.c.subject_id)
        if after is not None:
            query = query.where(tuple_(table.c.tenant_id, table.c.subject_id) > (after.tenant_id, after.subject_id))
        return [subject_of(row) for row in self._rows(query.limit(limit))]

    def every_subject(self, page: int = 500) -> Iterator[Subject]:
        """Yield all subjects in the order of their ids, read a page at a time."""
        after: Subject | None = None
        while subjects := self.list_subjects(after=after, limit=page):
            yield from subjects
            after = subjects[-1]
