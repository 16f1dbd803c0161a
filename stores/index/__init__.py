"""Indexes of vectors."""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import Engine

from schema.errors import SettingsError
from schema.settings import Settings, variable_of
from stores.embedding.base import Embedder
from stores.index.base import (
    BESIDE,
    Entry,
    Family,
    HealthCheckedIndex,
    Hit,
    Index,
    LoggedIndex,
    OptimizableIndex,
    TransactionalIndex,
    Where,
)
from stores.plugin import needs_extra

__all__ = [
    "Entry",
    "Family",
    "HealthCheckedIndex",
    "Hit",
    "Index",
    "LoggedIndex",
    "OptimizableIndex",
    "TransactionalIndex",
    "Where",
    "open_index",
]


def open_index(
    settings: Settings, embedder: Embedder, engine: Engine | None = None, family: Family = Family.MEMORIES
) -> Index:
    """Return the index that the settings name for a family of vectors, ready for this embedder's; one in the catalog's
    database uses the catalog's engine, or one of its own where none is given.

    Raises:
        SettingsError: they name it as the index of a family is named.
        IndexMismatch: it holds another embedder's vectors; the message says what to do.
        IndexUnavailable: it cannot be read or written; the message says what to do.
        memory.postgres.CatalogUnavailable: the database has no pgvector; the message says what to do.
    """
    if taken := next((reserved for reserved in BESIDE if settings.index_name.endswith(f"_{reserved}")), None):
        raise SettingsError(
            f"{variable_of('index_name')}: {settings.index_name} ends like the index of {taken} that lies beside "
            "another one; choose another name"
        )
    index = _made(settings, engine, family)
    index.ensure(embedder.dimensions, "cosine", embedder.name)
    return index


def _made(settings: Settings, engine: Engine | None, family: Family) -> Index:
    name = settings.index_name if family is Family.MEMORIES else f"{settings.index_name}_{family}"
    match settings.index:
        case "sqlite":
            from stores.index.sqlite import SqliteIndex

            return SqliteIndex(_folder(settings, family))
        case "pgvector":
            from stores.catalog.engine import create_catalog_engine
            from stores.index.pgvector import PgvectorIndex

            own = engine or create_catalog_engine(settings.effective_catalog_url, settings.worker_slots)
            return PgvectorIndex(own, name, hnsw_from=settings.hnsw_from)
        case "s3vectors":
            with needs_extra("s3vectors", variable_of("index")):
                from stores.index.s3vectors import open_s3vectors_index
            return open_s3vectors_index(settings, name)
        case "qdrant":
            with needs_extra("qdrant", variable_of("index")):
                from stores.index.qdrant import open_qdrant_index
            return open_qdrant_index(settings, name)
        case "weaviate":
            with needs_extra("weaviate", variable_of("index")):
                from stores.index.weaviate import open_weaviate_index
            return open_weaviate_index(settings, name)


def _folder(settings: Settings, family: Family) -> Path:
    if family is Family.MEMORIES:
        return settings.index_dir
    return settings.data_dir / f"index-{settings.index_name}-{family}"
