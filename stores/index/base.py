"""The protocol of an index."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import Literal, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection

from schema import Chunk, Kind, Memory, MemoryType, Seen, Status, Subject, Visibility
from schema.health import HealthCheck
from schema.selectors import StatedFact, Window

Vector = NDArray[np.float32]
Metric = Literal["cosine"]


class Family(StrEnum):
    """Kind of what vectors are of. Each family lies in an index of its own beside the others, so that neither dedup's
    neighbours nor counts of memories ever see a chunk."""

    MEMORIES = "memories"
    CHUNKS = "chunks"
    """Parts of documents."""
    WINDOWS = "windows"
    """Parts of conversations, where `AFTERTURN_EPISODIC_WINDOWS` is on."""
    FACTS = "facts"
    """Facts of memories, one by one, where `AFTERTURN_FACT_VECTORS` is on."""


BESIDE = tuple(family for family in Family if family is not Family.MEMORIES)
"""The families whose indexes lie beside that of the memories, each made with its first use."""
SELECTORS = (Family.WINDOWS, Family.FACTS)
"""The families by which memories are only found."""
Indexed = Memory | Chunk | Window | StatedFact
"""The kinds of things that have a vector."""


@dataclass(frozen=True)
class Entry:
    """A vector with what it can be filtered by; `memory_id` is the memory's, or the id of what else it is of.

    `visibility`, `author_id` and `agent_id` are what decides who may see it: a memory's effective labels.
    """

    key: uuid.UUID
    memory_id: uuid.UUID
    subject: Subject
    vector: Vector
    type: MemoryType
    kind: Kind
    category: str
    status: Status
    visibility: Visibility
    created_at: datetime
    author_id: str | None = None
    agent_id: str | None = None
    tags: tuple[str, ...] = ()
    version: int = 0
    """The memory's, when it was read; 0 where an older Afterturn wrote the entry and did not say."""

    @classmethod
    def of(cls, item: Indexed, vector: Vector) -> Entry:
        """Return the entry of what has this vector."""
        match item:
            case Memory():
                return cls._of_memory(item, vector)
            case Chunk():
                return cls._of_chunk(item, vector)
            case Window():
                return cls._of_window(item, vector)
            case StatedFact():
                return replace(cls._of_memory(item.memory, vector), key=item.index_key, memory_id=item.id)

    @classmethod
    def _of_memory(cls, memory: Memory, vector: Vector) -> Entry:
        labels = memory.labels
        return cls(
            key=memory.index_key,
            memory_id=memory.id,
            subject=memory.subject,
            vector=vector,
            type=memory.type,
            kind=memory.kind,
            category=memory.category,
            status=memory.status,
            visibility=labels.visibility,
            created_at=memory.created_at,
            author_id=labels.author_id,
            agent_id=labels.agent_id,
            tags=memory.tags,
            version=memory.version,
        )

    @classmethod
    def _of_chunk(cls, chunk: Chunk, vector: Vector) -> Entry:
        # It lies in an index of its own, where type, kind and category say nothing.
        return cls(
            key=chunk.index_key,
            memory_id=chunk.id,
            subject=chunk.subject,
            vector=vector,
            type=MemoryType.SEMANTIC,
            kind=Kind.KNOWLEDGE,
            category="Document",
            status=Status.ACTIVE,
            visibility=chunk.visibility,
            created_at=chunk.created_at,
            author_id=chunk.author_id,
            version=chunk.version,
        )

    @classmethod
    def _of_window(cls, window: Window, vector: Vector) -> Entry:
        # What was said in so many words is its speaker's own, whatever became of it.
        return cls(
            key=window.index_key,
            memory_id=window.id,
            subject=window.subject,
            vector=vector,
            type=MemoryType.EPISODIC,
            kind=Kind.CONVERSATION_CONTEXT,
            category="Conversation",
            status=Status.ACTIVE,
            visibility=Visibility.PERSONAL,
            created_at=window.turn.occurred_at,
            author_id=window.subject.subject_id,
            agent_id=window.turn.agent_id,
            version=window.version,
        )


@dataclass(frozen=True)
class Where:
    """Filter of the entries that a query may see. The subject is required, so an unscoped query cannot be written.

    An empty tuple puts no limit on its field; `tags` asks for all of them, the other tuples for any one. Of `seen_by`,
    what `policies.access` says that a principal sees, any one must cover the entry's labels: empty is for workers and
    operators, who see everything.
    """

    subject: Subject
    types: tuple[MemoryType, ...] = ()
    kinds: tuple[Kind, ...] = ()
    categories: tuple[str, ...] = ()
    statuses: tuple[Status, ...] = (Status.ACTIVE,)
    agent_ids: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    created_since: datetime | None = None
    seen_by: tuple[Seen, ...] = ()


@dataclass(frozen=True)
class Hit:
    """An entry that a query found, with its cosine to the query, -1 to 1."""

    memory_id: uuid.UUID
    key: uuid.UUID
    similarity: float
    version: int = 0
    """As `Entry.version`."""


class Index(Protocol):
    """Index of vectors; it can be rebuilt from the catalog at any time. Safe to call from many threads and
    processes.

    Any call may raise IndexUnavailable: its server, disk or database does not answer, or refuses.
    """

    def ensure(self, dimensions: int, metric: Metric, model: str) -> None:
        """Make what the index needs, or check what is there.

        Raises:
            IndexMismatch: it was made for other dimensions, another metric or another model.
        """
        ...

    def upsert(self, entries: Sequence[Entry]) -> list[Entry]:
        """Write entries by key; of several under one key the last stands. On return every process sees them. Where it
        fails, what was written before stays, and may be written again. Where the store can compare, an entry of a newer
        version stays as it is: returns those that it kept out.

        Raises:
            ValueError: a vector is not of unit length or not as wide as `ensure` said.
        """
        ...

    def query(self, vector: Vector, where: Where, limit: int) -> list[Hit]:
        """Return the entries nearest to a unit vector, best first, exact within the subject; ties in the order of keys.

        Raises:
            ValueError: the vector is not of unit length or not as wide as `ensure` said, or `limit` is negative.
        """
        ...

    def fetch(self, subject: Subject, keys: Sequence[uuid.UUID]) -> list[Entry]:
        """Return the subject's entries under these keys, in no order; keys that are not there are left out."""
        ...

    def versions(self, subject: Subject, keys: Sequence[uuid.UUID]) -> dict[uuid.UUID, int]:
        """Return the versions of the subject's entries under these keys, by key: as `fetch`, without the vectors."""
        ...

    def delete(self, subject: Subject, keys: Sequence[uuid.UUID]) -> None:
        """Remove the subject's entries under these keys; keys that are not there are no error."""
        ...

    def count(self) -> int:
        """Return how many entries there are in all."""
        ...

    def close(self) -> None: ...


@runtime_checkable
class TransactionalIndex(Protocol):
    """An index in the catalog's database: its writes happen in the catalog's transactions, so that it is neither behind
    nor ahead."""

    def write_in_transaction(
        self, connection: Connection, entries: Sequence[Entry], gone: Sequence[tuple[Subject, uuid.UUID]]
    ) -> None:
        """Write entries by key, and remove those under the keys of `gone`, in a transaction that is under way. What is
        there of a newer version is of a catalog that is no more, and is written over."""
        ...


@runtime_checkable
class HealthCheckedIndex(Protocol):
    """An index that says of itself what an operator should know beyond that it could be made ready."""

    def check_health(self) -> Iterator[HealthCheck]:
        """Look at what lies in it, at its server's version, at rights and limits. After `ensure`."""
        ...


@runtime_checkable
class LoggedIndex(Protocol):
    """An index in files of ours, with a write-ahead log in which an entry stands for a while after it was deleted."""

    def leave_no_trace(self, subject: Subject) -> bool:
        """Take what was deleted of a subject out of the log too, and return whether it is: not where somebody has been
        reading for longer than one waits, a second or so. `delete` tries the same, and does not say."""
        ...


@runtime_checkable
class OptimizableIndex(Protocol):
    """An index that serves large subjects better after somebody looked after it."""

    def optimize(self) -> Iterator[tuple[str, Subject]]:
        """Do what large subjects need, while the fleet works; says what it is about to do, and for whom."""
        ...
