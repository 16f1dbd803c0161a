"""Tells the index what the catalog has, after the fact: the index may be behind, never ahead."""

from __future__ import annotations

import uuid
from collections import defaultdict
from collections.abc import Mapping, Sequence

from schema import Memory, Subject
from stores.catalog import IndexJob
from stores.index.base import Entry, Vector
from stores.open import Stores

_ALL = 10**9


def index(jobs: Sequence[IndexJob], stores: Stores, *, vectors: Mapping[uuid.UUID, Vector] | None = None) -> None:
    """Do jobs of any subjects: upsert what the catalog has now, delete what it no longer has. Repeatable.

    `vectors` are those of memories' summaries that are known already, by memory; the others are embedded.
    """
    while jobs:
        indexed = _reconcile(jobs, stores, vectors or {})
        vectors = None
        jobs = overtaken(jobs, indexed, stores.catalog.mark_done(jobs).versions)


def index_all(subject: Subject, stores: Stores) -> None:
    """Do all jobs of one subject, a page at a time."""
    while jobs := stores.catalog.index_jobs(subject):
        index(jobs, stores)


def indexed_vectors(memories: Sequence[Memory], stores: Stores) -> dict[uuid.UUID, Vector]:
    """Return the vectors that the index has of the summaries of one subject's memories, by memory.

    What the index has yet to be told of is left out: it may have other words by now.
    """
    if not memories:
        return {}
    subject = memories[0].subject
    behind = {job.memory_id for job in stores.catalog.index_jobs(subject, limit=_ALL)}
    keys = [memory.index_key for memory in memories if memory.id not in behind]
    return {entry.memory_id: entry.vector for entry in stores.index.fetch(subject, keys)} if keys else {}


def overtaken(
    jobs: Sequence[IndexJob], indexed: Mapping[uuid.UUID, int], now: Mapping[uuid.UUID, int]
) -> list[IndexJob]:
    """Return the jobs whose memories are `now` at other versions than the index was told of.

    Somebody wrote between the reading and the telling, and may have told the index first: then ours is the older
    state, and must not stay, least of all that of a memory that was deleted.
    """
    return [job for job in jobs if now.get(job.memory_id) != indexed.get(job.memory_id)]


def _reconcile(jobs: Sequence[IndexJob], stores: Stores, known: Mapping[uuid.UUID, Vector]) -> dict[uuid.UUID, int]:
    """Tell the index what the catalog has of the jobs' memories, and answer at which versions that was."""
    by_subject: dict[Subject, list[IndexJob]] = defaultdict(list)
    for job in jobs:
        by_subject[job.subject].append(job)
    indexed = {}
    for subject, of_subject in by_subject.items():
        memories = stores.catalog.memories(subject, [job.memory_id for job in of_subject])
        gone = [job.index_key for job in of_subject if job.memory_id not in memories]
        if memories:
            missing = [memory for memory in memories.values() if memory.id not in known]
            embedded = stores.embedder.embed([memory.summary for memory in missing]) if missing else ()
            vectors = {**known, **{memory.id: vector for memory, vector in zip(missing, embedded, strict=True)}}
            stores.index.upsert([Entry.of(memory, vectors[id_]) for id_, memory in memories.items()])
        if gone:
            stores.index.delete(subject, gone)
        indexed.update({memory.id: memory.version for memory in memories.values()})
    return indexed
