"""Writes what was decided and tells it: one transaction, then the index and the listeners."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence

import structlog

from memory.context import MemoryContext
from memory.events import announce, take_back
from memory.failures import is_transient
from memory.indexing import index, overtaken
from memory.metrics import count_searchable
from memory.stages import stage
from schema import Memory, Subject
from stores.catalog import Changes
from stores.failpoints import reached
from stores.index.base import Entry, Vector

_log = structlog.get_logger()


def commit(changes: Changes, vectors: Mapping[str, Vector], parts: MemoryContext) -> list[int]:
    """Write all changes at once, with the vectors of their memories where the index lies in the catalog's database,
    and answer the ids of the events.

    Raises:
        StaleFence, ConcurrentChange: somebody else wrote; nothing was written.
    """
    if not parts.catalog.carries_vectors:
        return parts.catalog.commit(changes)
    return parts.catalog.commit(changes, _completed(vectors, (*changes.created, *changes.updated), parts))


def tell(changes: Changes, event_ids: Sequence[int], vectors: Mapping[str, Vector], parts: MemoryContext) -> None:
    """Index and announce. The catalog has it all already: what cannot be told now, the sweeper tells later."""
    written = (*changes.created, *changes.updated)
    try:
        if not parts.catalog.carries_vectors:
            with stage("index"):
                _index(written, [memory.index_key for memory in changes.deleted], changes.subject, vectors, parts)
        reached("after_index")
        count_searchable(changes)
        with stage("announce"):
            told = announce(list(zip(event_ids, changes.events, strict=True)), parts)
            jobs = changes.index_jobs()
            now = parts.catalog.told(jobs, event_ids)
            gone = {str(memory.id) for memory in written if memory.id not in now}
            of_gone = [id_ for id_, event in zip(event_ids, changes.events, strict=True) if event.tells_of(gone)]
            take_back(told, of_gone, parts)
        index(overtaken(jobs, {memory.id: memory.version for memory in written}, now), parts)
    except Exception as error:
        if not is_transient(error):
            raise
        _log.warning("index_or_events_behind", stage="index", error=type(error).__name__)


def _index(
    memories: Sequence[Memory],
    gone: Sequence[uuid.UUID],
    subject: Subject,
    vectors: Mapping[str, Vector],
    parts: MemoryContext,
) -> None:
    known = _completed(vectors, memories, parts)
    if memories:
        parts.index.upsert([Entry.of(memory, known[memory.summary]) for memory in memories])
    if gone:
        parts.index.delete(subject, gone)


def _completed(vectors: Mapping[str, Vector], memories: Sequence[Memory], parts: MemoryContext) -> dict[str, Vector]:
    """The vectors of all these memories' summaries, and whatever else was known."""
    missing = [memory.summary for memory in memories if memory.summary not in vectors]
    return {**vectors, **dict(zip(missing, parts.embedder.embed(missing), strict=True))} if missing else {**vectors}
