"""The indexes under test, and entries for them. An adapter is one more line in `ADAPTERS`."""

from __future__ import annotations

import hashlib
import os
import time
import uuid
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from schema import Kind, MemoryType, Status, Subject, Visibility
from schema.settings import Settings
from stores.aws import open_s3vectors
from stores.catalog.engine import create_catalog_engine
from stores.index.base import Entry, Hit, Index, Vector
from stores.index.pgvector import PgvectorIndex
from stores.index.s3vectors import S3VectorsIndex
from stores.index.sqlite import SqliteIndex
from tests.contract.s3vectors_server import BUCKET

DATABASE_VARIABLE = "DATABASE_OF_INDEXES_UNDER_TEST"
"""URL of a Postgres database, for processes that a test starts."""
QDRANT_VARIABLE = "QDRANT_OF_INDEXES_UNDER_TEST"
"""URL of what stands in for Qdrant."""
WEAVIATE_VARIABLE = "WEAVIATE_OF_INDEXES_UNDER_TEST"
"""URLs of what stands in for Weaviate, REST and gRPC."""


def _name(folder: Path) -> str:
    """Made of the folder's path: each test has its own."""
    return "i" + hashlib.sha256(str(folder).encode()).hexdigest()[:15]


def _pgvector(folder: Path) -> Index:
    return PgvectorIndex(create_catalog_engine(os.environ[DATABASE_VARIABLE], 64), _name(folder))


def _qdrant(folder: Path) -> Index:
    # It takes seconds to import: only where it is tested.
    from stores.index.qdrant import open_qdrant_index

    return open_qdrant_index(Settings(index_url=os.environ[QDRANT_VARIABLE], index_name=_name(folder)))


def _s3vectors(folder: Path) -> Index:
    settings = Settings(s3vectors_bucket=BUCKET, aws_region="eu-central-1")
    return S3VectorsIndex(open_s3vectors(settings, connections=64), BUCKET, _name(folder))


def _weaviate(folder: Path) -> Index:
    from stores.index.weaviate import open_weaviate_index

    url, grpc_url = os.environ[WEAVIATE_VARIABLE].split()
    return open_weaviate_index(Settings(index_url=url, index_grpc_url=grpc_url, index_name=_name(folder)))


ADAPTERS: dict[str, Callable[[Path], Index]] = {
    "pgvector": _pgvector,
    "qdrant": _qdrant,
    "s3vectors": _s3vectors,
    "sqlite": SqliteIndex,
    "weaviate": _weaviate,
}
STAND_INS = frozenset({"qdrant", "s3vectors", "weaviate"})
"""Services of which a stand-in runs here: what many entries take, and what processes do to each other, says nothing of
the service."""
COMPARING = frozenset({"pgvector", "qdrant", "sqlite"})
"""Those that compare versions when they are written to."""
DIMENSIONS = 8
MODEL = "a-model"
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
ANA = Subject(tenant_id="acme", subject_id="ana")
BEN = Subject(tenant_id="acme", subject_id="ben")


def opened(adapter: str, folder: Path, dimensions: int = DIMENSIONS, model: str = MODEL) -> Index:
    index = ADAPTERS[adapter](folder)
    index.ensure(dimensions, "cosine", model)
    return index


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


def until(true: Callable[[], bool]) -> None:
    """Look again and again until it is true; after 30 s it will never be."""
    last = time.monotonic() + 30
    while not true():
        if time.monotonic() > last:
            raise TimeoutError("what was waited for did not come in 30 s")
