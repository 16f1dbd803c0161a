"""The record of truth, over SQLite or Postgres."""

from sqlalchemy import Engine

from schema.errors import CatalogUnavailable
from schema.settings import Settings
from stores.catalog.before_batch import BeforeBatch
from stores.catalog.catalog import Catalog
from stores.catalog.changes import Access, Changes, DocumentWrite, IndexJob, LedgerEntry, Outcome, Undecided
from stores.catalog.contractions import require_not_contracted
from stores.catalog.engine import create_catalog_engine, file_has_tables
from stores.catalog.index_jobs import Backlog
from stores.catalog.nights import Claim, ClaimLost, NightRun
from stores.catalog.reviews import Reviews
from stores.catalog.revisions import check_revision, migrate
from stores.private_files import tighten

__all__ = [
    "Access",
    "Backlog",
    "BeforeBatch",
    "Catalog",
    "Changes",
    "Claim",
    "ClaimLost",
    "DocumentWrite",
    "IndexJob",
    "LedgerEntry",
    "NightRun",
    "Outcome",
    "Reviews",
    "Undecided",
    "open_catalog",
    "open_catalog_engine",
]


def open_catalog_engine(settings: Settings, *, makes_catalog: bool = True) -> Engine:
    """Return the catalog's database, with its tables. The embedded one makes them by itself, and itself too if
    `makes_catalog`; another must have them.

    Raises:
        CatalogUnavailable: it is not there, cannot be opened, or has no tables of this version; the message says what
            to do.
    """
    if not makes_catalog:
        require_catalog(settings)
    engine = create_catalog_engine(settings.effective_catalog_url, settings.worker_slots)
    if settings.catalog_url is None:
        tighten(settings.data_dir)
    if engine.dialect.name == "sqlite":
        migrate(engine)
    else:
        check_revision(engine)
    require_not_contracted(engine)
    return engine


def open_catalog(settings: Settings, *, makes_catalog: bool = True) -> Catalog:
    """Return the catalog of the settings, without an index that writes in its transactions. An embedded one that is not
    there is made, if `makes_catalog`.

    Raises:
        CatalogUnavailable: it is not there, cannot be opened, or has no tables of this version; the message says what
            to do.
    """
    return Catalog(open_catalog_engine(settings, makes_catalog=makes_catalog))


def require_catalog(settings: Settings) -> None:
    """Look whether the embedded catalog of the settings is there, and make nothing. A file without tables is none.

    Raises:
        CatalogUnavailable: it is not; the message names the folder.
    """
    embedded = settings.data_dir.absolute() / "catalog.sqlite3"
    if settings.catalog_url is None and not file_has_tables(embedded):
        raise CatalogUnavailable(
            f"there is no catalog in {embedded.parent}: start a fleet there (`afterturn run`), or set "
            "AFTERTURN_DATA_DIR to the folder of one"
        )
