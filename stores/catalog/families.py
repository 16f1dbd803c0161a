"""Rows of each family of vectors, for telling, rebuilding and counting its index."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

from sqlalchemy import Engine, func, select

import stores.catalog.tables as tables
from schema import Chunk, Memory, MemoryType, Status, Subject, index_key
from stores.catalog.documents import DocumentStore
from stores.catalog.indexed import TABLES
from stores.catalog.rows import subject_of
from stores.catalog.store import Reader
from stores.index.base import Family

_ALL = 10**9


class FamilyStore(Reader):
    """The rows of the catalog that have vectors, by family. Safe to call from many threads and processes."""

    def __init__(
        self,
        engine: Engine,
        memories: Callable[[Subject, Collection[uuid.UUID]], dict[uuid.UUID, Memory]],
        list_memories: Callable[..., list[Memory]],
        documents: DocumentStore,
    ) -> None:
        super().__init__(engine)
        self._memories_by_id = memories
        self._list_memories = list_memories
        self._documents = documents

    def of(self, family: Family, subject: Subject, ids: Collection[uuid.UUID]) -> Mapping[uuid.UUID, Memory | Chunk]:
        """Return what of a subject lies in a family's index under these ids; others are left out."""
        match family:
            case Family.MEMORIES:
                return self._memories_by_id(subject, ids)
            case Family.CHUNKS:
                return self._documents.chunks(subject, ids)

    def pages(self, family: Family, subject: Subject, size: int) -> Iterator[Sequence[Memory | Chunk]]:
        """Yield all that of a subject lies in a family's index, so many at a time."""
        match family:
            case Family.MEMORIES:
                memories = self._list_memories(subject, statuses=tuple(Status), limit=_ALL)
                yield from (memories[start : start + size] for start in range(0, len(memories), size))
            case Family.CHUNKS:
                after: uuid.UUID | None = None
                while page := self._documents.all_chunks(subject, after=after, limit=size):
                    yield page
                    after = page[-1].id

    def count(self, family: Family) -> int:
        """Return how much there is whose vectors lie in a family's index."""
        return self._count(select(func.count()).select_from(TABLES[family]))

    def some_keys(self, family: Family, limit: int) -> list[tuple[Subject, uuid.UUID]]:
        """Return where some of it lies in its index, whichever, for which no index job waits: an index that has none of
        them was not built."""
        table, jobs = TABLES[family], tables.index_jobs
        is_memory = family is Family.MEMORIES
        query = (
            select(table.c.tenant_id, table.c.subject_id, table.c.id, *([table.c.type] if is_memory else []))
            .outerjoin(jobs, jobs.c.memory_id == table.c.id)
            .where(jobs.c.memory_id.is_(None))
            .limit(limit)
        )
        return [
            (subject_of(row), index_key(row.subject_id, MemoryType(row.type), row.id) if is_memory else row.id)
            for row in self._rows(query)
        ]
