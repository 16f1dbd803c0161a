"""Open the catalog's database."""

from __future__ import annotations

import sqlite3
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


def create_catalog_engine(url: str, connections: int = 16) -> Engine:
    """Return an engine for a SQLAlchemy URL, with what each database needs to keep its promises.

    `connections` is how many threads use it at a time.

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
    path = Path(parsed.database)
    try:
        make_private(path.parent)
        path.touch(mode=0o600)
    except OSError as error:
        raise CatalogUnavailable(
            f"cannot write the catalog at {path}: {error.strerror}. "
            "Set AFTERTURN_DATA_DIR to a folder that you may write"
        ) from error
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
