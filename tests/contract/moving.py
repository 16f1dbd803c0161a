"""Stores that memories move between, and what their indexes hold."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from sqlalchemy import Engine

from schema import Policy, Status, Subject
from schema.settings import Settings
from stores.accesses import Accesses
from stores.catalog import Catalog
from stores.graph import SqlGraph
from stores.index.base import Vector, Where
from stores.index.sqlite import SqliteIndex
from stores.open import Stores, open_beside
from tests.contract.indexes import DIMENSIONS


class Embedding:
    """An embedder whose vectors are as far apart as the texts' hashes, and that can be told to break."""

    dimensions = DIMENSIONS
    thresholds = None

    def __init__(self, name: str = "old") -> None:
        self.name = name
        self.left = 10**9

    def embed(self, texts: Sequence[str]) -> Vector:
        self.left -= len(texts)
        if self.left < 0:
            raise ConnectionError("the embedder went away")
        rows = [np.random.default_rng(sum(map(ord, self.name + text))).standard_normal(DIMENSIONS) for text in texts]
        vectors = np.array(rows, dtype=np.float32).reshape(len(texts), DIMENSIONS)
        return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), dtype=np.float32)


def opened(engine: Engine, folder: Path, name: str = "main", model: str = "old") -> Stores:
    settings = Settings(data_dir=folder, index_name=name)
    embedder = Embedding(model)
    index = SqliteIndex(settings.index_dir)
    index.ensure(DIMENSIONS, "cosine", model)
    catalog = Catalog(engine)
    return Stores(
        settings=settings,
        policy=Policy(),
        catalog=catalog,
        index=index,
        graph=SqlGraph(engine),
        embedder=embedder,
        accesses=Accesses(catalog),
        beside=open_beside(settings, embedder, engine),
    )


def held(stores: Stores, whose: Subject) -> set[Any]:
    query = np.eye(DIMENSIONS, dtype=np.float32)[0]
    return {hit.memory_id for hit in stores.index.query(query, Where(whose, statuses=tuple(Status)), 100)}


def ids(stores: Stores, whose: Subject) -> set[Any]:
    return {memory.id for memory in stores.catalog.list_memories(whose, statuses=tuple(Status))}


def told_of_all(stores: Stores) -> None:
    """Let no index job wait, as after a sweep."""
    stores.catalog.mark_done(stores.catalog.index_jobs())
