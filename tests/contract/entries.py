"""Entries for the suites of the index."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from datetime import UTC, datetime

import numpy as np

from memory.index.base import Entry, Hit, Vector
from memory.schema import Kind, MemoryType, Status, Subject, Visibility

DIMENSIONS = 8
MODEL = "a-model"
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
ANA = Subject(tenant_id="acme", subject_id="ana")
BEN = Subject(tenant_id="acme", subject_id="ben")


def unit(*numbers: float) -> Vector:
    """A unit vector that begins with these numbers."""
    vector = np.zeros(DIMENSIONS, dtype=np.float32)
    vector[: len(numbers)] = numbers
    return np.asarray(vector / np.linalg.norm(vector), dtype=np.float32)


def units(count: int, dimensions: int = DIMENSIONS, seed: int = 7) -> Vector:
    vectors = np.random.default_rng(seed).standard_normal((count, dimensions)).astype(np.float32)
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), dtype=np.float32)


def entry(subject: Subject = ANA, vector: Vector | None = None, number: int = 0) -> Entry:
    """The entry that has this number."""
    return Entry(
        key=uuid.UUID(int=number),
        memory_id=uuid.UUID(int=number + 2**64),
        subject=subject,
        vector=unit(1) if vector is None else vector,
        type=MemoryType.SEMANTIC,
        kind=Kind.USER_FACT,
        category="Personal",
        status=Status.ACTIVE,
        visibility=Visibility.PRIVATE,
        created_at=NOON,
    )


def numbers(hits: Sequence[Hit]) -> list[int]:
    return [hit.key.int for hit in hits]
