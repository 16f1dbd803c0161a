"""Open the catalog's database."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from sqlalchemy import Engine, create_engine, event, make_url
from sqlalchemy.engine import ExceptionContext
from sqlalchemy.exc import ArgumentError, DBAPIError
from sqlalchemy.pool import ConnectionPoolEntry

from schema.errors import CatalogOutage, CatalogRefused, CatalogUnavailable
from stores.catalog.head import HEAD
from stores.postgres import create_postgres_engine, explain, has_remedy, is_passing, is_postgres
from stores.private_files import make_private

BUSY_SECONDS = 10.0
_SUCH_AS = (
    "it takes postgresql+psycopg://user:password@host:5432/afterturn or sqlite:////var/lib/afterturn/catalog.sqlite3"
)


def create_catalog_engine(url: str, connections: int = 16, *, makes_file: bool = True) -> Engine:
    """Return an engine for a SQLAlchemy URL, with what each database needs to keep its promises.

    `connections` is how many threads use it at a time. A database file that is not there is made, if `makes_file`.

    Raises:
        CatalogUnavailable: the URL is of no database that it runs on, its driver is missing, or the database file or
            its folder cannot be written.
    """
    try:
        parsed = make_url(url)
    except ArgumentError as error:
        raise CatalogUnavailable(f"AFTERTURN_CATALOG_URL is no database URL; {_SUCH_AS}") from error
    if is_postgres(parsed):
        return _translating(create_postgres_engine(parsed, connections=connections, name=f"afterturn/{HEAD}"))
    if parsed.get_backend_name() != "sqlite":
        raise CatalogUnavailable(f"AFTERTURN_CATALOG_URL begins with {parsed.drivername}://; {_SUCH_AS}")
    if not parsed.database or parsed.database == ":memory:":
        raise CatalogUnavailable("AFTERTURN_CATALOG_URL: an SQLite catalog needs a file; workers share it")
    if makes_file:
        make_file(Path(parsed.database))
    engine = create_engine(
        parsed,
        # Parameters hold what people said, and errors end in logs.
        hide_parameters=True,
        connect_args={"timeout": BUSY_SECONDS, "check_same_thread": False},
        pool_size=16,
        max_overflow=-1,
    )
    event.listen(engine, "connect", _prepare_sqlite)
    return _translating(engine)


def make_file(path: Path) -> None:
    """Make the file of an SQLite catalog, and its folder, where they are not: only this account reads them.

    Raises:
        CatalogUnavailable: one of them cannot be written.
    """
    try:
        make_private(path.parent)
        path.touch(mode=0o600)
    except OSError as error:
        raise CatalogUnavailable(
            f"cannot write the catalog at {path}: {error.strerror}. "
            "Set AFTERTURN_DATA_DIR to a folder that you may write"
        ) from error


def file_has_tables(path: Path) -> bool:
    """Return whether the file of an SQLite catalog is there and has tables. Nothing is made."""
    if not path.exists():
        return False
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", timeout=BUSY_SECONDS, uri=True)) as reader:
            return reader.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone() is not None
    except sqlite3.DatabaseError:
        # Something is there: who opens it says what is wrong with it.
        return True


def _translating(engine: Engine) -> Engine:
    event.listen(engine, "handle_error", _translate)
    return engine


def _translate(context: ExceptionContext) -> CatalogOutage | None:
    """Return what is to be raised in the place of a failure that passes. One of a ping only says that a connection is
    to be replaced."""
    error = context.sqlalchemy_exception
    if isinstance(error, DBAPIError) and is_passing(error) and not context.is_pre_ping and context.engine is not None:
        kind = CatalogRefused if has_remedy(error) else CatalogOutage
        return kind(explain(error, context.engine.url))
    return None


def _prepare_sqlite(connection: sqlite3.Connection, _record: ConnectionPoolEntry) -> None:
    # The driver's own transactions begin late and as readers. Ours are begun by `Writers`; who only reads needs none.
    connection.isolation_level = None
    for pragma in ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON", "temp_store=MEMORY", "secure_delete=ON"):
        connection.execute(f"PRAGMA {pragma}")


def read_only(engine: Engine) -> Engine:
    """Return the engine for reading. Each statement is its own transaction: to begin and to end one takes two more ways
    to a server and back. In SQLite that is so wherever none is begun."""
    return engine if engine.dialect.name == "sqlite" else engine.execution_options(isolation_level="AUTOCOMMIT")
