"""Compares what the indexes have with what the catalog has, one by one and version by version."""

from __future__ import annotations

import uuid
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np

from memory.context import MemoryContext
from schema import Subject
from stores.catalog import IndexJob
from stores.catalog.index_watches import Watch
from stores.index.base import Family, Vector, Where
from stores.open import Stores

_ALL = 10**9
_PAGE = 1000
_LOOKED_AT = "afterturn:index:looked-at"
_LOOKED_SECONDS = 86_400


@dataclass(frozen=True)
class Disagreement:
    """A memory, or what else has a vector, of which its index has another version than the catalog; None where one of
    them has none."""

    family: Family
    subject: Subject
    memory_id: uuid.UUID
    index_key: uuid.UUID
    in_index: int | None
    in_catalog: int | None

    @property
    def is_real(self) -> bool:
        """Return whether they differ: an older Afterturn did not say the version in the index."""
        return self.in_index != self.in_catalog and not (self.in_index == 0 and self.in_catalog is not None)


@dataclass(frozen=True)
class IndexCounts:
    """Counts of what the catalog has for an index, of its entries, and of the jobs that wait to be told."""

    rows: int
    entries: int
    waiting: int

    @property
    def missing(self) -> int:
        """Return how many entries the index lacks that no job may still bring; below 0 where it lacks none."""
        return self.rows - self.entries - self.waiting

    @property
    def surplus(self) -> int:
        """Return how many entries it has too many that no job may still remove; below 0 where it has none."""
        return self.entries - self.rows - self.waiting


def count_entries(stores: Stores, family: Family = Family.MEMORIES) -> IndexCounts:
    """Count what the catalog and the index have of a family; once more where a fleet at work seems to have been
    between."""
    rows, index = stores.catalog.families.count(family), stores.index_of(family)
    waiting = stores.catalog.count_index_jobs(family)
    counts = IndexCounts(rows, index.count(), waiting)
    return counts if max(counts.missing, counts.surplus) <= 0 else IndexCounts(rows, index.count(), waiting)


def disagreements(family: Family, subject: Subject, stores: Stores) -> list[Disagreement]:
    """Return where a family's index is not as the catalog, and nobody is yet to tell it. Looks twice where it finds
    something: a fleet at work may have been between."""
    if not (first_look := _look(family, subject, stores)):
        return []
    return sorted(first_look & _look(family, subject, stores), key=lambda disagreement: disagreement.memory_id)


def families_in_use(stores: Stores) -> list[Family]:
    """Return the families of which the catalog has anything: the index of another is not made only to be looked at."""
    return [family for family in Family if family is Family.MEMORIES or stores.catalog.families.count(family)]


def queue_lost_entries(context: MemoryContext, now: datetime, *, most_subjects: int) -> int:
    """Queue what the indexes lost, and return how much that is: files that were deleted come back empty, and say
    nothing.

    Nobody is looked at where one has as many as the catalog, though what it has too much may hide what it lost:
    `doctor` compares one by one. Otherwise so many subjects are, at a time, from where the last call left off.
    """
    return sum(_queue_lost_of(family, context, now, most_subjects) for family in families_in_use(context))


def _queue_lost_of(family: Family, context: MemoryContext, now: datetime, most_subjects: int) -> int:
    progress = f"{_LOOKED_AT}:{family}"
    if count_entries(context, family).missing <= 0:
        context.redis.delete(progress)
        return 0
    left_off = context.redis.get(progress)
    after = Subject.from_key(left_off.decode()) if isinstance(left_off, bytes) else None
    subjects = context.catalog.list_subjects(after=after, limit=most_subjects)
    lost = 0
    for subject in subjects:
        disagreeing = disagreements(family, subject, context)
        queue_again(disagreeing, context, now)
        lost += len(disagreeing)
    if len(subjects) < most_subjects:
        context.redis.delete(progress)
    else:
        context.redis.set(progress, subjects[-1].key, ex=_LOOKED_SECONDS)
    return lost


def look_at_watched(stores: Stores, now: datetime, *, limit: int) -> int:
    """Look again at entries that a process that was never heard of again may yet write over, queue those that are not
    as the catalog has them, and return how many those were."""
    due = stores.catalog.index_watches.due(now, limit)
    grouped: dict[tuple[Family, Subject], list[Watch]] = defaultdict(list)
    for watch in due:
        grouped[watch.family, watch.subject].append(watch)
    disagreeing: list[Disagreement] = []
    for (family, subject), watches in grouped.items():
        held = stores.index_of(family).versions(subject, [watch.index_key for watch in watches])
        versions = stores.catalog.versions_of(family, [watch.id for watch in watches])
        looked = [
            Disagreement(family, subject, watch.id, watch.index_key, held.get(watch.index_key), versions.get(watch.id))
            for watch in watches
        ]
        disagreeing += [disagreement for disagreement in looked if disagreement.is_real]
    queue_again(disagreeing, stores, now)
    if due:
        stores.catalog.index_watches.looked_at(due, now)
    return len(disagreeing)


def queue_again(disagreeing: Sequence[Disagreement], stores: Stores, now: datetime) -> None:
    """Queue what the sweep tells the index of anew."""
    stores.catalog.queue_index_jobs(
        [
            IndexJob(
                memory_id=disagreement.memory_id,
                subject=disagreement.subject,
                index_key=disagreement.index_key,
                action="upsert" if disagreement.in_catalog else "delete",
                version=disagreement.in_catalog or (disagreement.in_index or 0) + 1,
                family=disagreement.family,
            )
            for disagreement in disagreeing
        ],
        now,
    )


def drop_strays(family: Family, subject: Subject, stores: Stores) -> int:
    """Take out of a family's index what of a subject the catalog does not account for; return how much that was."""
    dropped = 0
    while keys := stray_keys(family, subject, stores):
        stores.index_of(family).delete(subject, keys)
        dropped += len(keys)
    return dropped


def stray_keys(family: Family, subject: Subject, stores: Stores) -> list[uuid.UUID]:
    """Return the keys of entries of the subject in a family's index that nothing of the catalog accounts for, a page at
    most."""
    hits = stores.index_of(family).query(_anywhere(stores), Where(subject, statuses=()), _PAGE)
    kept = stores.catalog.families.of(family, subject, [hit.memory_id for hit in hits])
    return [hit.key for hit in hits if hit.memory_id not in kept]


def _anywhere(stores: Stores) -> Vector:
    """Return a vector for whoever asks for all there is."""
    anywhere = np.zeros(stores.embedder.dimensions, dtype=np.float32)
    anywhere[0] = 1
    return anywhere


def _look(family: Family, subject: Subject, stores: Stores) -> set[Disagreement]:
    versions, index = stores.catalog.versions(family, subject), stores.index_of(family)
    hits = index.query(_anywhere(stores), Where(subject, statuses=()), _ALL)
    held = {hit.memory_id: (hit.key, hit.version) for hit in hits}
    # An index may find no more than so many: what it did not is asked for by its key.
    missing = {key: id_ for id_, (key, _) in versions.items() if id_ not in held}
    held |= {missing[key]: (key, version) for key, version in index.versions(subject, list(missing)).items()}
    waiting = {job.memory_id for job in stores.catalog.index_jobs(subject, limit=_ALL)}
    disagreeing = set()
    for id_ in (versions.keys() | held.keys()) - waiting:
        key, in_index = held.get(id_, (None, None))
        index_key, in_catalog = versions.get(id_, (key, None))
        if index_key is not None:
            disagreeing.add(Disagreement(family, subject, id_, index_key, in_index, in_catalog))
    return {disagreement for disagreement in disagreeing if disagreement.is_real}
