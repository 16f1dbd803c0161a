"""The record of truth, over SQLite or Postgres."""

from sqlalchemy import Engine

from schema.settings import Settings
from stores.catalog.catalog import Backlog, Catalog
from stores.catalog.changes import Access, Changes, IndexJob, LedgerEntry, Outcome
from stores.catalog.engine import create_catalog_engine
from stores.catalog.nights import Claim, ClaimLost, NightRun
from stores.catalog.reviews import Reviews
from stores.catalog.revisions import check_revision, migrate

__all__ = [
    "Access",
    "Backlog",
    "Catalog",
    "Changes",
    "Claim",
    "ClaimLost",
    "IndexJob",
    "LedgerEntry",
    "NightRun",
    "Outcome",
    "Reviews",
    "open_catalog",
    "open_catalog_engine",
]


def open_catalog_engine(settings: Settings) -> Engine:
    """Return the catalog's database, with its tables. The embedded one makes them by itself; another must have them.

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
    """Return the catalog of the settings, without an index that writes in its transactions.

    Raises:
        CatalogUnavailable: it cannot be opened, or has no tables of this version; the message says what to do.
    """
    return Catalog(open_catalog_engine(settings))
