"""One subject's entries in memory, filtered and ranked exactly."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

import numpy as np
from numpy.typing import NDArray

from schema import Seen
from stores.index.base import Hit, Vector, Where

LABELS = ("type", "kind", "category", "status", "visibility", "agent_id", "author_id")
"""The fields of `Entry` that a query filters by equality, in the order of `Row.labels`."""
FILTERS = {"type": "types", "kind": "kinds", "category": "categories", "status": "statuses", "agent_id": "agent_ids"}
"""Those of them that `Where` names values of, with its field; the others decide by `Where.seen_by` alone."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_FLOAT32_ERROR = 1e-4
"""More than two float32 dot products of unit vectors of up to some 4,096 numbers can differ from the exact ones."""
_ROW_OVERHEAD_BYTES = 350
"""Bytes that an entry takes beside its vector: two ids, labels, a set of tags (measured with tracemalloc)."""


def microseconds(moment: datetime) -> int:
    """Return microseconds since 1970 in UTC: exact, and the same moment has one number in every zone."""
    return (moment - _EPOCH) // timedelta(microseconds=1)


def moment(microseconds_: int) -> datetime:
    """Return the moment of `microseconds`, in UTC."""
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
    version: int


@dataclass(frozen=True)
class Block:
    """Some entries of one subject as arrays, never changed: threads share it without a lock.

    `alive` is False where a later block holds the entry anew. `codes` gives the labels their numbers.
    """

    keys: tuple[bytes, ...]
    memory_ids: tuple[bytes, ...]
    codes: dict[str | None, int]
    labels: NDArray[np.int32]
    created_at: NDArray[np.int64]
    versions: NDArray[np.int32]
    tags: tuple[frozenset[str], ...]
    matrix: NDArray[np.float32]
    alive: NDArray[np.bool_]

    @classmethod
    def of(cls, rows: Sequence[Row], dimensions: int, codes: Mapping[str | None, int]) -> Block:
        """Return these rows as arrays, with numbers for labels that go on from `codes`."""
        label_codes = dict(codes)
        labels = [[label_codes.setdefault(label, len(label_codes)) for label in row.labels] for row in rows]
        vectors = b"".join(row.vector for row in rows)
        return cls(
            keys=tuple(row.key for row in rows),
            memory_ids=tuple(row.memory_id for row in rows),
            codes=label_codes,
            labels=np.array(labels, dtype=np.int32).reshape(len(rows), len(LABELS)),
            created_at=np.array([row.created_at for row in rows], dtype=np.int64),
            versions=np.array([row.version for row in rows], dtype=np.int32),
            tags=tuple(frozenset(json.loads(row.tags)) for row in rows),
            matrix=np.frombuffer(vectors, dtype="<f4").reshape(len(rows), dimensions),
            alive=np.ones(len(rows), dtype=np.bool_),
        )

    def without(self, keys: Set[bytes]) -> Block:
        """Return it with the entries under these keys dead."""
        dead = [position for position, key in enumerate(self.keys) if key in keys]
        if not dead:
            return self
        alive = self.alive.copy()
        alive[dead] = False
        return replace(self, alive=alive)

    def joined(self, later: Block) -> Block:
        """Return the living of both. The numbers of `later` must go on from this block's."""
        blocks = [(block, np.flatnonzero(block.alive)) for block in (self, later)]
        return Block(
            keys=tuple(block.keys[i] for block, living in blocks for i in living),
            memory_ids=tuple(block.memory_ids[i] for block, living in blocks for i in living),
            codes=later.codes,
            labels=np.concatenate([block.labels[living] for block, living in blocks]),
            created_at=np.concatenate([block.created_at[living] for block, living in blocks]),
            versions=np.concatenate([block.versions[living] for block, living in blocks]),
            tags=tuple(block.tags[i] for block, living in blocks for i in living),
            matrix=np.concatenate([block.matrix[living] for block, living in blocks]),
            alive=np.ones(sum(len(living) for _, living in blocks), dtype=np.bool_),
        )

    def nearest(self, vector: Vector, where: Where, limit: int) -> list[Hit]:
        """Return the entries that `where` lets through and that are nearest to a unit vector, best first, ties by key.

        float32 finds who can be among the first; these few are compared again in float64, one by one, because a
        matrix product gives equal rows slightly unequal results, and ties would then fall by chance.
        """
        seen = self._seen(where)
        if limit == 0 or len(seen) == 0:
            return []
        # To copy the rows of most of the entries takes longer than to compare the others too.
        is_most = 2 * len(seen) > len(self.keys)
        rough = (self.matrix @ vector)[seen] if is_most else self.matrix[seen] @ vector
        if len(seen) > limit:
            last = np.partition(rough, len(rough) - limit)[len(rough) - limit]
            seen = seen[rough >= last - _FLOAT32_ERROR]
        exact = (self.matrix[seen].astype(np.float64) * vector.astype(np.float64)).sum(axis=1).clip(-1.0, 1.0)
        best = sorted(zip(-exact, (self.keys[i] for i in seen), seen, strict=True))[:limit]
        return [
            Hit(uuid.UUID(bytes=self.memory_ids[i]), uuid.UUID(bytes=key), float(-negative), int(self.versions[i]))
            for negative, key, i in best
        ]

    def _seen(self, where: Where) -> NDArray[np.intp]:
        """Return the positions of the living entries that `where` lets through."""
        mask = self.alive.copy()
        for name, field in FILTERS.items():
            values: tuple[str, ...] = getattr(where, field)
            if values:
                mask &= self._labelled(name, values)
        if where.seen_by:
            mask &= np.logical_or.reduce([self._covered(seen) for seen in where.seen_by])
        if where.created_since is not None:
            mask &= self.created_at >= microseconds(where.created_since)
        seen = np.flatnonzero(mask)
        if where.tags:
            required = frozenset(where.tags)
            seen = np.array([i for i in seen if required <= self.tags[i]], dtype=np.intp)
        return seen

    def _covered(self, seen: Seen) -> NDArray[np.bool_]:
        mask = self._labelled("visibility", seen.visibilities)
        for name, value in (("author_id", seen.author_id), ("agent_id", seen.agent_id)):
            if value is not None:
                mask &= self._labelled(name, (value,))
        return mask

    def _labelled(self, name: str, values: Sequence[str]) -> NDArray[np.bool_]:
        """Return which entries have one of these values as this label, shape (n,)."""
        codes = [self.codes[value] for value in values if value in self.codes]
        label = self.labels[:, LABELS.index(name)]
        # Nearly always one or two, for which `isin` is eight times as slow.
        mask = np.zeros(len(label), dtype=np.bool_)
        for code in codes:
            mask |= label == code
        return mask


@dataclass(frozen=True)
class Snapshot:
    """All entries of one subject, as they were when its change mark was `changed`; never changed itself.

    What was written since is added as a block beside the large ones, for to copy 10,000 vectors at every write takes
    longer than to search them. A block that has grown to half of the one before it is joined with it: there are as
    many blocks as the number of entries has binary digits, at most.
    """

    changed: int
    blocks: tuple[Block, ...]

    @classmethod
    def of(cls, rows: Sequence[Row], dimensions: int, changed: int) -> Snapshot:
        return cls(changed, (Block.of(rows, dimensions, {}),))

    @property
    def size(self) -> int:
        """Return about how many bytes it takes."""
        return sum(size_of(*block.matrix.shape) for block in self.blocks)

    def with_rows(self, rows: Sequence[Row], changed: int) -> Snapshot:
        """Return what it is after these rows were written: those under a known key take its place, others are added."""
        last = self.blocks[-1]
        new = Block.of(rows, last.matrix.shape[1], last.codes)
        written = frozenset(new.keys)
        blocks = [*(block.without(written) for block in self.blocks), new]
        while len(blocks) > 1 and len(blocks[-2].keys) <= 2 * len(blocks[-1].keys):
            later = blocks.pop()
            blocks.append(blocks.pop().joined(later))
        return Snapshot(changed, tuple(blocks))

    def nearest(self, vector: Vector, where: Where, limit: int) -> list[Hit]:
        """Do what `Block.nearest` does, with all blocks."""
        return first_of((hit for block in self.blocks for hit in block.nearest(vector, where, limit)), limit)


def size_of(entries: int, dimensions: int) -> int:
    """Return about how many bytes that many entries take in memory."""
    return entries * (4 * dimensions + _ROW_OVERHEAD_BYTES)


def first_of(hits: Iterable[Hit], limit: int) -> list[Hit]:
    """Return the best of several rankings: by similarity, ties by key."""
    return sorted(hits, key=lambda hit: (-hit.similarity, hit.key.bytes))[:limit]
