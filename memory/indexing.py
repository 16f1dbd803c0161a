"""Tells the index what the catalog has, after the fact: the index may be behind, never ahead.

Nothing keeps two from telling it of one memory at a time, nor the older state from being told last. So who tells it
looks afterwards whether that is still what the catalog has, and a job stays until somebody was alone with it: whoever
dies between telling and looking leaves a job behind from which the sweep puts it right (docs/decisions/0021).
"""

from __future__ import annotations

import time
import uuid
from collections import defaultdict
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from datetime import timedelta

from memory.selectors import text_of
from schema import Memory, Subject
from stores.catalog import IndexJob
from stores.failpoints import hit
from stores.index.base import Entry, Family, Vector
from stores.index.checks import outdated
from stores.open import Stores

_ALL = 10**9
_JOBS_A_CALL = 500


def index(jobs: Sequence[IndexJob], stores: Stores, *, vectors: Mapping[uuid.UUID, Vector] | None = None) -> None:
    """Do jobs of any subjects: upsert what the catalog has now, delete what it no longer has. Repeatable.

    `vectors` are those of summaries that are known already, by memory at the job's version; the others are embedded.
    Jobs that another may be doing too are done and stay.
    """
    given = vectors or {}
    ready = {(job.memory_id, job.version): given[job.memory_id] for job in jobs if job.memory_id in given}
    while jobs:
        began = time.monotonic()
        taken = stores.catalog.take_index_jobs(jobs, _patience(stores))
        state = _read(jobs, stores, ready)
        hit("before_index")
        if is_late(began, stores):
            continue
        kept_out = _tell(state, stores)
        hit("after_index")
        now = stores.catalog.mark_done(unended(taken, kept_out)).versions
        jobs = overtaken(jobs, state.versions, now)


def index_all(subject: Subject, stores: Stores) -> None:
    """Do all jobs of one subject, a page at a time."""
    jobs = stores.catalog.index_jobs(subject, limit=_ALL)
    for start in range(0, len(jobs), _JOBS_A_CALL):
        index(jobs[start : start + _JOBS_A_CALL], stores)


def _patience(stores: Stores) -> timedelta:
    """Return for how long who has taken a job may be at work on it."""
    return timedelta(seconds=stores.settings.lease_seconds)


def is_late(began: float, stores: Stores) -> bool:
    """Return whether what was read since a moment of the monotonic clock must be read again before the index is told:
    another may have taken the job for abandoned by now, and be alone with it."""
    return time.monotonic() - began > _patience(stores).total_seconds() / 2


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


def drop_newer(family: Family, entries: Sequence[Entry], stores: Stores) -> None:
    """Take out of an index what it has at newer versions than the catalog: of one that was restored from a backup, or
    that was written anew. What only we read at an older version stays, and an index that compares keeps it."""
    index_of_family = stores.index_of(family)
    older = outdated(entries, index_of_family.versions)
    now = stores.catalog.versions_of(family, [entry.memory_id for entry in older])
    gone: dict[Subject, list[uuid.UUID]] = defaultdict(list)
    for entry in older:
        if now.get(entry.memory_id) == entry.version:
            gone[entry.subject].append(entry.key)
    for subject, keys in gone.items():
        index_of_family.delete(subject, keys)


def unended(jobs: Sequence[IndexJob], kept_out: Set[uuid.UUID]) -> list[IndexJob]:
    """Return the jobs as they may be ended: by nobody where the index kept out what it was told of a memory."""
    return [replace(job, generation=None) if job.memory_id in kept_out else job for job in jobs]


def overtaken(
    jobs: Sequence[IndexJob], indexed: Mapping[uuid.UUID, int], now: Mapping[uuid.UUID, int]
) -> list[IndexJob]:
    """Return the jobs whose memories are `now` at other versions than the index was told of.

    Somebody wrote between the reading and the telling, and may have told the index first: then ours is the older
    state, and must not stay, least of all that of a memory that was deleted.
    """
    return [job for job in jobs if now.get(job.memory_id) != indexed.get(job.memory_id)]


@dataclass
class _State:
    """The catalog's state of what some jobs are about."""

    entries: dict[Family, list[Entry]] = field(default_factory=lambda: defaultdict(list))
    gone: dict[tuple[Family, Subject], list[uuid.UUID]] = field(default_factory=dict)
    """Keys of what it no longer has."""
    versions: dict[uuid.UUID, int] = field(default_factory=dict)


def _read(jobs: Sequence[IndexJob], stores: Stores, ready: dict[tuple[uuid.UUID, int], Vector]) -> _State:
    """Read what the indexes are told. `ready` gets the vectors, by memory and version, so that whoever reads again need
    not embed again."""
    state = _State()
    grouped: dict[tuple[Family, Subject], list[IndexJob]] = defaultdict(list)
    for job in jobs:
        grouped[job.family, job.subject].append(job)
    for (family, subject), of_subject in grouped.items():
        items = stores.catalog.families.of(family, subject, [job.memory_id for job in of_subject])
        missing = [item for item in items.values() if (item.id, item.version) not in ready]
        embedded = stores.embedder.embed([text_of(item) for item in missing]) if missing else ()
        ready.update({(item.id, item.version): vector for item, vector in zip(missing, embedded, strict=True)})
        state.entries[family] += [Entry.of(item, ready[item.id, item.version]) for item in items.values()]
        state.versions |= {item.id: item.version for item in items.values()}
        if gone := [job.index_key for job in of_subject if job.memory_id not in items]:
            state.gone[family, subject] = gone
    return state


def _tell(state: _State, stores: Stores) -> set[uuid.UUID]:
    """Tell the indexes, and return those of which they kept out what they were told: another told more meanwhile."""
    kept_out: set[uuid.UUID] = set()
    for family, entries in state.entries.items():
        if entries:
            drop_newer(family, entries, stores)
            kept_out |= {entry.memory_id for entry in stores.index_of(family).upsert(entries)}
    for (family, subject), keys in state.gone.items():
        stores.index_of(family).delete(subject, keys)
    return kept_out
