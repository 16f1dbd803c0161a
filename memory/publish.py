"""The one way to publish: whatever changes a memory is written, indexed, announced and counted here."""

from __future__ import annotations

import time
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

import structlog

from memory.context import MemoryContext
from memory.events import announce, take_back
from memory.failures import is_transient
from memory.indexing import index, is_late, overtaken, unended
from memory.metrics import count_committed, count_searchable
from memory.selectors import jobs_left, text_of, with_selectors
from memory.spending import current_spending, spending_of_work
from memory.stages import stage
from stores.catalog import Changes, IndexJob
from stores.failpoints import hit
from stores.index.base import Family, Vector

_log = structlog.get_logger()


@dataclass(frozen=True)
class Published:
    """Outcome of publishing changes that the catalog has now."""

    event_ids: tuple[int, ...]
    """Of the changes' events, in their order."""
    is_complete: bool
    """True where the index and the listeners know it too; otherwise the sweep tells them."""


@spending_of_work()
def publish(changes: Changes, vectors: Mapping[uuid.UUID, Vector], context: MemoryContext) -> Published:
    """Write all changes in one transaction, then tell the index and the listeners.

    `vectors` are those of summaries and chunks, by the ids of memories and chunks; what is written and has none there
    is embedded. Where the index lies in the catalog's database, the vectors are in the transaction. Windows of the
    sources, and facts, are written with them where the settings want that, and embedded behind. What the work in hand
    has asked of models is written with them as what they cost.

    Raises:
        StaleFence, ConcurrentChange, UnderLegalHold: as `Catalog.commit`; nothing was written.
    """
    changes = with_selectors(changes, context)
    in_catalog = context.catalog.carries_vectors
    if in_catalog:
        with _leaving_failures_to_the_sweep():
            vectors = _completed(vectors, changes, context)
    began, spent = time.monotonic(), current_spending()
    with stage("commit"):
        event_ids = context.catalog.commit(replace(changes, spent=spent.rows()), vectors)
    spent.clear()
    hit("after_commit")
    count_committed(changes)
    jobs = changes.index_jobs()
    waiting = [job for job in jobs if in_catalog and job.action == "upsert" and job.memory_id not in vectors]
    told = [job for job in jobs if job not in waiting]
    kept_out: set[uuid.UUID] = set()
    is_complete = False
    with _leaving_failures_to_the_sweep():
        if jobs and not in_catalog:
            with stage("index"):
                kept_out = _index(changes, _completed(vectors, changes, context), began, context)
        if jobs:
            hit("after_index")
            count_searchable(changes)
        if jobs or event_ids:
            with stage("announce"):
                versions = _announce(changes, event_ids, unended(told, kept_out), context)
            # What was kept out is told by who first takes out what is newer: of a catalog that was restored since.
            written = {id_: version for id_, version in changes.versions().items() if id_ not in kept_out}
            index(overtaken(told, written, versions), context)
        index(jobs_left(changes, context), context)
        is_complete = not waiting
        if rows := spent.rows():
            context.catalog.costs.note(changes.subject, rows, changes.at)
            spent.clear()
    return Published(tuple(event_ids), is_complete)


def _index(
    changes: Changes, vectors: Mapping[uuid.UUID, Vector], began: float, context: MemoryContext
) -> set[uuid.UUID]:
    """Tell the indexes, and return those of which they kept out what they were told, and have a newer version."""
    hit("before_index")
    if is_late(began, context):
        index(changes.index_jobs(), context)
        return set()
    kept_out: set[uuid.UUID] = set()
    for family in Family:
        index_of_family = context.index_of(family)
        if entries := changes.entries(family, vectors):
            kept_out |= {entry.memory_id for entry in index_of_family.upsert(entries)}
        if gone := changes.keys_gone(family):
            index_of_family.delete(changes.subject, gone)
    return kept_out


def _announce(
    changes: Changes, event_ids: Sequence[int], jobs: Sequence[IndexJob], context: MemoryContext
) -> dict[uuid.UUID, int]:
    """Tell the listeners, and take back what was erased or told by others meanwhile. Returns the versions at which the
    memories of the jobs are by now."""
    announced = announce(list(zip(event_ids, changes.events, strict=True)), context)
    done = context.catalog.mark_done(jobs, event_ids)
    take_back(announced, announced.keys() - done.events, context)
    return done.versions


@contextmanager
def _leaving_failures_to_the_sweep() -> Iterator[None]:
    """Leave what cannot be told now to the sweep: the catalog has it all."""
    try:
        yield
    except Exception as error:
        if not is_transient(error):
            raise
        _log.warning("index_or_events_behind", stage="index", error=type(error).__name__)


def _completed(
    vectors: Mapping[uuid.UUID, Vector], changes: Changes, context: MemoryContext
) -> dict[uuid.UUID, Vector]:
    """Return the vectors, with those of the memories and chunks that have none yet."""
    texts = {item.id: text_of(item) for item in changes.indexed}
    missing = [id_ for id_ in texts if id_ not in vectors]
    embedded = context.embedder.embed([texts[id_] for id_ in missing]) if missing else ()
    return {**vectors, **dict(zip(missing, embedded, strict=True))}
