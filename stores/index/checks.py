"""Checks that every index makes before it asks its server."""

from __future__ import annotations

import uuid
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeVar

import numpy as np

from schema import Subject
from schema.errors import IndexMismatch
from stores.index.base import Entry, Vector

T = TypeVar("T")
REQUEST_BYTES = 16 * 1024 * 1024
"""Bytes that one request carries at most: vendors take 20 MiB or more."""
BYTES_OF_A_NUMBER_IN_JSON = 24
_BYTES_OF_A_DOCUMENT = 4096


def checked(vector: Vector, dimensions: int) -> Vector:
    """Return the vector as it is stored.

    Raises:
        ValueError: it is not of unit length, or of other dimensions.
        RuntimeError: `ensure` was not called, so that the dimensions are 0.
    """
    must_be_ready(dimensions)
    if vector.shape != (dimensions,):
        raise ValueError(f"the vector has shape {vector.shape}; this index holds ({dimensions},)")
    length = float(np.linalg.norm(vector))
    if not abs(length - 1) < 1e-3:
        raise ValueError(f"the vector's length is {length:.4f}; the index takes unit vectors")
    return np.asarray(vector, dtype=np.float32)


def checked_limit(limit: int) -> int:
    """Return the limit of a query.

    Raises:
        ValueError: it is negative.
    """
    if limit < 0:
        raise ValueError(f"limit is {limit}; it says how many hits are wanted, 0 or more")
    return limit


def must_be_ready(dimensions: int) -> None:
    """Refuse an index that was not made ready.

    Raises:
        RuntimeError: the dimensions are 0.
    """
    if not dimensions:
        raise RuntimeError("call ensure before anything else of an index")


def refuse_another(title: str, made_for: Mapping[str, str], required: Mapping[str, str]) -> None:
    """Compare what an index was made for with what the settings ask for.

    Raises:
        IndexMismatch: they differ.
    """
    differing = [name for name in required if made_for[name] != required[name]]
    if differing:
        raise IndexMismatch(
            f"{title} was made for "
            + ", ".join(f"{name} {made_for[name]}" for name in differing)
            + "; the settings ask for "
            + ", ".join(f"{name} {required[name]}" for name in differing)
            + ". Set AFTERTURN_EMBEDDER back, or give the new vectors an index of their own beside it: set "
            "AFTERTURN_INDEX_NAME to a new name and run `afterturn reindex`"
        )


def batched(items: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    """Yield the items in their order, no more than `size` at a time."""
    for start in range(0, len(items), size):
        yield items[start : start + size]


def entries_a_request(most: int, dimensions: int, bytes_of_a_number: int) -> int:
    """Return how many entries one request carries: `most`, or as many as `REQUEST_BYTES` hold, and one at least."""
    return max(1, min(most, REQUEST_BYTES // (dimensions * bytes_of_a_number + _BYTES_OF_A_DOCUMENT)))


def outdated(
    entries: Sequence[Entry], versions: Callable[[Subject, Sequence[uuid.UUID]], Mapping[uuid.UUID, int]]
) -> list[Entry]:
    """Return those entries of which newer versions are there: `versions` reads a subject's, as `Index.versions`."""
    keys: dict[Subject, set[uuid.UUID]] = defaultdict(set)
    for entry in entries:
        keys[entry.subject].add(entry.key)
    there = {subject: versions(subject, list(of_subject)) for subject, of_subject in keys.items()}
    return [entry for entry in entries if there[entry.subject].get(entry.key, 0) > entry.version]
