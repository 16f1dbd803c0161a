"""One subject's entries in memory, filtered and ranked exactly."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import numpy as np
from numpy.typing import NDArray

from memory.index.base import Hit, Vector, Where

LABELS = ("type", "kind", "category", "status", "visibility", "agent_id", "author_id")
"""The fields that a query filters by equality, in the order of `Row.labels`."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_FLOAT32_ERROR = 1e-4
"""More than two float32 dot products of unit vectors of up to some 4,096 numbers can differ from the exact ones."""
_ROW_OVERHEAD_BYTES = 350
"""What an entry takes beside its vector: two ids, labels, a set of tags (measured with tracemalloc)."""


def microseconds(moment: datetime) -> int:
    """Microseconds since 1970 in UTC: exact, and the same moment has one number in every zone."""
    return (moment - _EPOCH) // timedelta(microseconds=1)


def moment(microseconds_: int) -> datetime:
    """The moment of `microseconds`, in UTC."""
    return _EPOCH + timedelta(microseconds=microseconds_)


@dataclass(frozen=True)
class Row:
    """An entry as it is stored."""

    key: bytes
    memory_id: bytes
    labels: tuple[str | None, ...]
    created_at: int
    tags: str
    vector: bytes


@dataclass(frozen=True)
class Held:
    """Entries of one subject as arrays, never changed: threads share it without a lock.

    `changed` is the subject's change mark when they were read. `codes` gives the labels their numbers.
    """

    changed: int
    keys: tuple[bytes, ...]
    memory_ids: tuple[bytes, ...]
    codes: dict[str | None, int]
    labels: NDArray[np.int32]
    created_at: NDArray[np.int64]
    tags: tuple[frozenset[str], ...]
    matrix: NDArray[np.float32]

    @classmethod
    def of(cls, rows: Sequence[Row], dimensions: int, changed: int, codes: dict[str | None, int]) -> Held:
        """These rows as arrays; `codes` is added to."""
        labels = [[codes.setdefault(label, len(codes)) for label in row.labels] for row in rows]
        vectors = b"".join(row.vector for row in rows)
        return cls(
            changed=changed,
            keys=tuple(row.key for row in rows),
            memory_ids=tuple(row.memory_id for row in rows),
            codes=codes,
            labels=np.array(labels, dtype=np.int32).reshape(len(rows), len(LABELS)),
            created_at=np.array([row.created_at for row in rows], dtype=np.int64),
            tags=tuple(frozenset(json.loads(row.tags)) for row in rows),
            matrix=np.frombuffer(vectors, dtype="<f4").reshape(len(rows), dimensions),
        )

    @property
    def size(self) -> int:
        """About how many bytes it takes."""
        return size_of(len(self.keys), self.matrix.shape[1])

    def with_rows(self, rows: Sequence[Row], changed: int) -> Held:
        """What it is after these rows were written: those under a known key take its place, others are added."""
        new = Held.of(rows, self.matrix.shape[1], changed, dict(self.codes))
        written = set(new.keys)
        kept = [position for position, key in enumerate(self.keys) if key not in written]
        every = len(kept) == len(self.keys)
        return Held(
            changed=changed,
            keys=tuple(self.keys[i] for i in kept) + new.keys,
            memory_ids=tuple(self.memory_ids[i] for i in kept) + new.memory_ids,
            codes=new.codes,
            labels=np.concatenate((self.labels if every else self.labels[kept], new.labels)),
            created_at=np.concatenate((self.created_at if every else self.created_at[kept], new.created_at)),
            tags=tuple(self.tags[i] for i in kept) + new.tags,
            matrix=np.concatenate((self.matrix if every else self.matrix[kept], new.matrix)),
        )

    def nearest(self, vector: Vector, where: Where, limit: int) -> list[Hit]:
        """The entries that `where` lets through and that are nearest to a unit vector, best first, ties by key.

        float32 finds who can be among the first; these few are compared again in float64, one by one, because a
        matrix product gives equal rows slightly unequal results, and ties would then fall by chance.
        """
        seen = self._seen(where)
        if limit == 0 or len(seen) == 0:
            return []
        rough = (self.matrix if len(seen) == len(self.keys) else self.matrix[seen]) @ vector
        if len(seen) > limit:
            last = np.partition(rough, len(rough) - limit)[len(rough) - limit]
            seen = seen[rough >= last - _FLOAT32_ERROR]
        exact = (self.matrix[seen].astype(np.float64) * vector.astype(np.float64)).sum(axis=1).clip(-1.0, 1.0)
        best = sorted(zip(-exact, (self.keys[i] for i in seen), seen, strict=True))[:limit]
        return [
            Hit(uuid.UUID(bytes=self.memory_ids[i]), uuid.UUID(bytes=key), float(-negative))
            for negative, key, i in best
        ]

    def _seen(self, where: Where) -> NDArray[np.intp]:
        """The positions of the entries that `where` lets through."""
        mask = np.ones(len(self.keys), dtype=np.bool_)
        wanted: tuple[Iterable[str], ...] = (
            where.types,
            where.kinds,
            where.categories,
            where.statuses,
            where.visibilities,
            where.agent_ids,
            where.author_ids,
        )
        for column, values in enumerate(wanted):
            if values:
                codes = [self.codes[value] for value in values if value in self.codes]
                mask &= np.isin(self.labels[:, column], codes)
        if where.created_since is not None:
            mask &= self.created_at >= microseconds(where.created_since)
        seen = np.flatnonzero(mask)
        if where.tags:
            required = frozenset(where.tags)
            seen = np.array([i for i in seen if required <= self.tags[i]], dtype=np.intp)
        return seen


def size_of(entries: int, dimensions: int) -> int:
    """About how many bytes that many entries take in memory."""
    return entries * (4 * dimensions + _ROW_OVERHEAD_BYTES)


def first_of(hits: Iterable[Hit], limit: int) -> list[Hit]:
    """The best of several rankings: by similarity, ties by key."""
    return sorted(hits, key=lambda hit: (-hit.similarity, hit.key.bytes))[:limit]
