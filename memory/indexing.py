"""Tells the index what the catalog has, after the fact: the index may be behind, never ahead."""

from __future__ import annotations

import uuid
from collections import defaultdict
from collections.abc import Mapping, Sequence

from memory.catalog import IndexJob
from memory.index.base import Entry
from memory.schema import Subject
from memory.stores import Stores


def index(jobs: Sequence[IndexJob], stores: Stores) -> None:
    """Do jobs of any subjects: upsert what the catalog has now, delete what it no longer has. Repeatable."""
    while jobs:
        told = _reconcile(jobs, stores)
        jobs = overtaken(jobs, told, stores.catalog.told(jobs))


def overtaken(jobs: Sequence[IndexJob], told: Mapping[uuid.UUID, int], now: Mapping[uuid.UUID, int]) -> list[IndexJob]:
    """The jobs whose memories are `now` at other versions than the index was `told`.

    Somebody wrote between the reading and the telling, and may have told the index first: then ours is the older
    state, and must not stay, least of all that of a memory that was deleted.
    """
    return [job for job in jobs if now.get(job.memory_id) != told.get(job.memory_id)]


def _reconcile(jobs: Sequence[IndexJob], stores: Stores) -> dict[uuid.UUID, int]:
    """Tell the index what the catalog has of the jobs' memories, and answer at which versions that was."""
    by_subject: dict[Subject, list[IndexJob]] = defaultdict(list)
    for job in jobs:
        by_subject[job.subject].append(job)
    told = {}
    for subject, of_subject in by_subject.items():
        memories = stores.catalog.memories(subject, [job.memory_id for job in of_subject])
        gone = [job.index_key for job in of_subject if job.memory_id not in memories]
        if memories:
            vectors = stores.embedder.embed([memory.summary for memory in memories.values()])
            stores.index.upsert([Entry.of(*pair) for pair in zip(memories.values(), vectors, strict=True)])
        if gone:
            stores.index.delete(subject, gone)
        told.update({memory.id: memory.version for memory in memories.values()})
    return told
