"""Rows of each family of vectors, for telling, rebuilding and counting its index."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from datetime import datetime

from sqlalchemy import Engine, exists, func, select

import stores.catalog.tables as tables
from schema import Memory, MemoryType, Status, Subject, Turn, index_key
from schema.selectors import StatedFact, Window
from stores.catalog.documents import DocumentStore
from stores.catalog.indexed import TABLES
from stores.catalog.rows import subject_of
from stores.catalog.selector_tables import windows
from stores.catalog.statements import ids_of_bound_subject, of_subject, subject_parameters
from stores.catalog.store import Reader
from stores.index.base import Family, Indexed

_ALL = 10**9
_FACTS, _SOURCES = tables.facts, tables.sources
_WINDOWS_AMONG = select(windows).where(ids_of_bound_subject(windows))
_FACTS_AMONG = select(_FACTS.c.id, _FACTS.c.memory_id, _FACTS.c.ordinal).where(ids_of_bound_subject(_FACTS))


class FamilyStore(Reader):
    """The rows of the catalog that have vectors, by family. Safe to call from many threads and processes."""

    def __init__(
        self,
        engine: Engine,
        memories: Callable[[Subject, Collection[uuid.UUID]], dict[uuid.UUID, Memory]],
        list_memories: Callable[..., list[Memory]],
        documents: DocumentStore,
        sources: Callable[[Subject, Sequence[str]], list[Turn]],
    ) -> None:
        super().__init__(engine)
        self._memories_by_id = memories
        self._list_memories = list_memories
        self._documents = documents
        self._sources = sources

    def of(self, family: Family, subject: Subject, ids: Collection[uuid.UUID]) -> Mapping[uuid.UUID, Indexed]:
        """Return what of a subject lies in a family's index under these ids; others are left out."""
        match family:
            case Family.MEMORIES:
                return self._memories_by_id(subject, ids)
            case Family.CHUNKS:
                return self._documents.chunks(subject, ids)
            case Family.WINDOWS:
                return self.windows(subject, ids)
            case Family.FACTS:
                return self.facts(subject, ids)

    def windows(self, subject: Subject, ids: Collection[uuid.UUID]) -> dict[uuid.UUID, Window]:
        """Return the subject's windows under these ids, as the kept turns are now; others are left out."""
        rows = self._rows(_WINDOWS_AMONG, subject_parameters(subject) | {"ids": list(ids)}) if ids else ()
        named = {turn_id for row in rows for turn_id in (row.turn_id, row.previous_turn_id) if turn_id}
        kept = {turn.turn_id: turn for turn in self._sources(subject, list(named))} if named else {}
        return {
            row.id: Window(
                kept[row.turn_id], row.window_index, row.start, row.end, kept.get(row.previous_turn_id), row.version
            )
            for row in rows
            if row.turn_id in kept
        }

    def turns_of_windows(self, subject: Subject, ids: Collection[uuid.UUID]) -> dict[uuid.UUID, list[str]]:
        """Return the turns that each of the subject's windows under these ids is of: its own, and one before it."""
        rows = self._rows(_WINDOWS_AMONG, subject_parameters(subject) | {"ids": list(ids)}) if ids else ()
        return {row.id: [row.turn_id, *([row.previous_turn_id] if row.previous_turn_id else [])] for row in rows}

    def facts(self, subject: Subject, ids: Collection[uuid.UUID]) -> dict[uuid.UUID, StatedFact]:
        """Return the subject's facts whose vectors have these ids; others are left out."""
        rows = self._rows(_FACTS_AMONG, subject_parameters(subject) | {"ids": list(ids)}) if ids else ()
        memories = self._memories_by_id(subject, {row.memory_id for row in rows})
        return {
            row.id: StatedFact(memory, row.ordinal)
            for row in rows
            if (memory := memories.get(row.memory_id)) and row.ordinal < len(memory.facts)
        }

    def turn_before(self, subject: Subject, conversation_id: str, since: datetime, until: datetime) -> Turn | None:
        """Return the last kept turn of a conversation between two moments, of those that have windows."""
        of_conversation = (of_subject(windows, subject), windows.c.conversation_id == conversation_id)
        query = select(windows.c.turn_id).where(*of_conversation, windows.c.said_at.between(since, until))
        turn_ids = self._values(query.order_by(windows.c.said_at.desc()).limit(1))
        return next(iter(self._sources(subject, turn_ids)), None) if turn_ids else None

    def turns_without_windows(self, subject: Subject, limit: int) -> list[Turn]:
        """Return kept turns of a subject that have no window, oldest first."""
        has_one = exists(
            select(windows.c.id).where(of_subject(windows, subject), windows.c.turn_id == _SOURCES.c.turn_id)
        )
        query = select(_SOURCES.c.turn).where(of_subject(_SOURCES, subject), ~has_one)
        return list(map(Turn.model_validate, self._values(query.order_by(_SOURCES.c.occurred_at).limit(limit))))

    def pages(self, family: Family, subject: Subject, size: int) -> Iterator[Sequence[Indexed]]:
        """Yield all that of a subject lies in a family's index, so many at a time."""
        match family:
            case Family.MEMORIES:
                memories = self._list_memories(subject, statuses=tuple(Status), limit=_ALL)
                yield from (memories[start : start + size] for start in range(0, len(memories), size))
            case _:
                table, after = TABLES[family], uuid.UUID(int=0)
                ids = select(table.c.id).where(of_subject(table, subject)).order_by(table.c.id).limit(size)
                while page := self._values(ids.where(table.c.id > after)):
                    yield list(self.of(family, subject, page).values())
                    after = page[-1]

    def count(self, family: Family, subject: Subject | None = None) -> int:
        """Return how much there is, of one subject or of all, whose vectors lie in a family's index."""
        table = TABLES[family]
        query = select(func.count(table.c.id))
        return self._count(query if subject is None else query.where(of_subject(table, subject)))

    def some_keys(self, family: Family, limit: int) -> list[tuple[Subject, uuid.UUID]]:
        """Return where some of it lies in its index, whichever, for which no index job waits: an index that has none of
        them was not built."""
        table, jobs = TABLES[family], tables.index_jobs
        is_memory = family is Family.MEMORIES
        query = (
            select(table.c.tenant_id, table.c.subject_id, table.c.id, *([table.c.type] if is_memory else []))
            .outerjoin(jobs, jobs.c.memory_id == table.c.id)
            .where(table.c.id.is_not(None), jobs.c.memory_id.is_(None))
            .limit(limit)
        )
        return [
            (subject_of(row), index_key(row.subject_id, MemoryType(row.type), row.id) if is_memory else row.id)
            for row in self._rows(query)
        ]
