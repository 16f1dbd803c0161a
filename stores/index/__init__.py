"""Where vectors are searched."""

from __future__ import annotations

from sqlalchemy import Engine

from schema.settings import Settings, variable_of
from stores.embedding.base import Embedder
from stores.index.base import Entry, HealthCheckedIndex, Hit, Index, OptimizableIndex, TransactionalIndex, Where
from stores.plugin import needs_extra

__all__ = [
    "Entry",
    "HealthCheckedIndex",
    "Hit",
    "Index",
    "OptimizableIndex",
    "TransactionalIndex",
    "Where",
    "open_index",
]


def open_index(settings: Settings, embedder: Embedder, engine: Engine | None = None) -> Index:
    """Return the index that the settings name, ready for this embedder's vectors; one in the catalog's database uses
    the catalog's engine, or one of its own where none is given.

    Raises:
        IndexMismatch: it holds another embedder's vectors; the message says what to do.
        IndexUnavailable: it cannot be read or written; the message says what to do.
        memory.postgres.CatalogUnavailable: the database has no pgvector; the message says what to do.
    """
    index = _made(settings, engine)
    index.ensure(embedder.dimensions, "cosine", embedder.name)
    return index


def _made(settings: Settings, engine: Engine | None) -> Index:
    match settings.index:
        case "sqlite":
            from stores.index.sqlite import SqliteIndex

            return SqliteIndex(settings.index_dir)
        case "pgvector":
            from stores.catalog.engine import create_catalog_engine
            from stores.index.pgvector import PgvectorIndex

            own = engine or create_catalog_engine(settings.effective_catalog_url, settings.worker_slots)
            return PgvectorIndex(own, settings.index_name, hnsw_from=settings.hnsw_from)
        case "s3vectors":
            with needs_extra("s3vectors", variable_of("index")):
                from stores.index.s3vectors import open_s3vectors_index
            return open_s3vectors_index(settings)
        case "qdrant":
            with needs_extra("qdrant", variable_of("index")):
                from stores.index.qdrant import open_qdrant_index
            return open_qdrant_index(settings)
        case "weaviate":
            with needs_extra("weaviate", variable_of("index")):
                from stores.index.weaviate import open_weaviate_index
            return open_weaviate_index(settings)
