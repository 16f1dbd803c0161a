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
from stores.failpoints import hit
from stores.index.base import Entry, Vector

_log = structlog.get_logger()


def commit(changes: Changes, vectors: Mapping[str, Vector], context: MemoryContext) -> list[int]:
    """Write all changes at once, with the vectors of their memories where the index lies in the catalog's database,
    and answer the ids of the events.

    Raises:
        StaleFence, ConcurrentChange: somebody else wrote; nothing was written.
    """
    if not context.catalog.carries_vectors:
        return context.catalog.commit(changes)
    return context.catalog.commit(changes, _completed(vectors, (*changes.created, *changes.updated), context))


def tell(changes: Changes, event_ids: Sequence[int], vectors: Mapping[str, Vector], context: MemoryContext) -> None:
    """Index and announce. The catalog has it all already: what cannot be told now, the sweeper tells later."""
    written = (*changes.created, *changes.updated)
    try:
        if not context.catalog.carries_vectors:
            with stage("index"):
                _index(written, [memory.index_key for memory in changes.deleted], changes.subject, vectors, context)
        hit("after_index")
        count_searchable(changes)
        with stage("announce"):
            told = announce(list(zip(event_ids, changes.events, strict=True)), context)
            jobs = changes.index_jobs()
            now = context.catalog.mark_done(jobs, event_ids)
            gone = {str(memory.id) for memory in written if memory.id not in now}
            of_gone = [id_ for id_, event in zip(event_ids, changes.events, strict=True) if event.tells_of(gone)]
            take_back(told, of_gone, context)
        index(overtaken(jobs, {memory.id: memory.version for memory in written}, now), context)
    except Exception as error:
        if not is_transient(error):
            raise
        _log.warning("index_or_events_behind", stage="index", error=type(error).__name__)


def _index(
    memories: Sequence[Memory],
    gone: Sequence[uuid.UUID],
    subject: Subject,
    vectors: Mapping[str, Vector],
    context: MemoryContext,
) -> None:
    known = _completed(vectors, memories, context)
    if memories:
        context.index.upsert([Entry.of(memory, known[memory.summary]) for memory in memories])
    if gone:
        context.index.delete(subject, gone)


def _completed(vectors: Mapping[str, Vector], memories: Sequence[Memory], context: MemoryContext) -> dict[str, Vector]:
    """The vectors of all these memories' summaries, and whatever else was known."""
    missing = [memory.summary for memory in memories if memory.summary not in vectors]
    return {**vectors, **dict(zip(missing, context.embedder.embed(missing), strict=True))} if missing else {**vectors}
