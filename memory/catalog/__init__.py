"""The record of truth, over SQLite or Postgres."""

from sqlalchemy import Engine

from memory.catalog.catalog import Backlog, Catalog
from memory.catalog.changes import Access, Changes, ConcurrentChange, IndexJob, LedgerEntry, Outcome, UnderLegalHold
from memory.catalog.engine import CatalogUnavailable, create_catalog_engine
from memory.catalog.nights import Chunk, ChunkLost, NightRun
from memory.catalog.reviews import Reviews
from memory.catalog.revisions import check_revision, migrate
from memory.catalog.writing import StaleFence
from memory.settings import Settings

__all__ = [
    "Access",
    "Backlog",
    "Catalog",
    "CatalogUnavailable",
    "Changes",
    "Chunk",
    "ChunkLost",
    "ConcurrentChange",
    "IndexJob",
    "LedgerEntry",
    "NightRun",
    "Outcome",
    "Reviews",
    "StaleFence",
    "UnderLegalHold",
    "open_catalog",
    "open_catalog_engine",
]


def open_catalog_engine(settings: Settings) -> Engine:
    """The catalog's database, with its tables. The embedded one makes them by itself; another must have them.

    Raises:
        CatalogUnavailable: it cannot be opened, or has no tables of this version; the message says what to do.
    """
    engine = create_catalog_engine(settings.effective_catalog_url, settings.worker_slots)
    if engine.dialect.name == "sqlite":
        migrate(engine)
    else:
        check_revision(engine)
    return engine


def open_catalog(settings: Settings) -> Catalog:
    """The catalog of the settings, without an index that rides in its transactions.

    Raises:
        CatalogUnavailable: it cannot be opened, or has no tables of this version; the message says what to do.
    """
    return Catalog(open_catalog_engine(settings))
