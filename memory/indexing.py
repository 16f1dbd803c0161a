"""Tells the index what the catalog has, after the fact: the index may be behind, never ahead."""

from __future__ import annotations

import uuid
from collections import defaultdict
from collections.abc import Mapping, Sequence

from memory.catalog import IndexJob
from memory.index.base import Entry, Vector
from memory.schema import Memory, Subject
from memory.stores import Stores


def index(jobs: Sequence[IndexJob], vectors: Mapping[str, Vector], stores: Stores) -> None:
    """Do jobs of any subjects: upsert what the catalog has now, delete what it no longer has. Repeatable.

    `vectors` are those that are known already, by summary; the rest are embedded.
    """
    while jobs:
        told = _reconcile(jobs, vectors, stores)
        stores.catalog.indexed(jobs)
        # Somebody may have written between the reading and the telling, and told the index before us: then ours is the
        # older state, and must not stay, least of all that of a memory that was deleted.
        now = stores.catalog.versions(job.memory_id for job in jobs)
        jobs = [job for job in jobs if now.get(job.memory_id) != told.get(job.memory_id)]


def _reconcile(jobs: Sequence[IndexJob], vectors: Mapping[str, Vector], stores: Stores) -> dict[uuid.UUID, int]:
    """Tell the index what the catalog has of the jobs' memories, and answer at which versions that was."""
    by_subject: dict[Subject, list[IndexJob]] = defaultdict(list)
    for job in jobs:
        by_subject[job.subject].append(job)
    told = {}
    for subject, of_subject in by_subject.items():
        memories = stores.catalog.memories(subject, [job.memory_id for job in of_subject])
        gone = [job.index_key for job in of_subject if job.memory_id not in memories]
        if memories:
            stores.index.upsert(_entries(list(memories.values()), vectors, stores))
        if gone:
            stores.index.delete(subject, gone)
        told.update({memory.id: memory.version for memory in memories.values()})
    return told


def _entries(memories: Sequence[Memory], vectors: Mapping[str, Vector], stores: Stores) -> list[Entry]:
    missing = list(dict.fromkeys(memory.summary for memory in memories if memory.summary not in vectors))
    known = {**vectors, **dict(zip(missing, stores.embedder.embed(missing), strict=True))} if missing else vectors
    return [Entry.of(memory, known[memory.summary]) for memory in memories]
