"""How the catalog's database is opened, and how its writers take turns."""

from __future__ import annotations

import fcntl
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy import Connection, Engine, create_engine, event, make_url
from sqlalchemy.exc import ArgumentError, OperationalError
from sqlalchemy.pool import ConnectionPoolEntry

from memory.postgres import PostgresUnavailable, create_postgres_engine, is_postgres

BUSY_SECONDS = 10.0
_POLL_SECONDS = 0.002
_SUCH_AS = (
    "it takes postgresql+psycopg://user:password@host:5432/afterturn or sqlite:////var/lib/afterturn/catalog.sqlite3"
)


class CatalogUnavailable(Exception):
    """The catalog's database cannot be opened as it is set. The message says what to do."""


def create_catalog_engine(url: str, connections: int = 16) -> Engine:
    """An engine for a SQLAlchemy URL, with what each database needs to keep its promises.

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
        try:
            return create_postgres_engine(parsed, connections=connections)
        except PostgresUnavailable as error:
            raise CatalogUnavailable(str(error)) from error
    if parsed.get_backend_name() != "sqlite":
        raise CatalogUnavailable(f"AFTERTURN_CATALOG_URL begins with {parsed.drivername}://; {_SUCH_AS}")
    if not parsed.database or parsed.database == ":memory:":
        raise CatalogUnavailable("AFTERTURN_CATALOG_URL: an SQLite catalog needs a file; workers share it")
    path = Path(parsed.database)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
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
    event.listen(engine, "begin", _begin_sqlite)
    return engine


def _prepare_sqlite(connection: sqlite3.Connection, _record: ConnectionPoolEntry) -> None:
    # The driver's own transactions begin late and as readers; ours begin when told (see `_begin_sqlite`).
    connection.isolation_level = None
    for pragma in ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON", "temp_store=MEMORY", "secure_delete=ON"):
        connection.execute(f"PRAGMA {pragma}")


def _begin_sqlite(connection: Connection) -> None:
    writes = connection.get_execution_options().get("writes", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


class Writers:
    """Lets one writer at a time at an SQLite file, in about the order in which they came.

    SQLite's own busy handler sleeps longer and longer, and under four writing processes one was seen to wait for 11 s.
    A lock per process and a lock file between processes keep the wait to that of the writers before. Other databases
    order their writers themselves.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        database = engine.url.database
        is_sqlite = engine.dialect.name == "sqlite" and database is not None
        self._lock_file = Path(f"{database}.lock") if is_sqlite else None
        self._turn = threading.Lock()

    @contextmanager
    def transaction(self) -> Iterator[Connection]:
        """A connection in a writing transaction: committed at the end, rolled back on any exception.

        Raises:
            OperationalError: the database stayed locked for `BUSY_SECONDS`.
        """
        with self._engine.connect() as connection, self._my_turn():
            connection.execution_options(writes=True)
            with connection.begin():
                yield connection

    def leave_no_trace(self) -> None:
        """Take what was deleted out of SQLite's write-ahead log as well, as far as its readers allow just now.

        The pages themselves are overwritten by `secure_delete`. Other databases look after their own logs.
        """
        if self._lock_file is None:
            return
        with self._my_turn(), self._engine.connect() as connection:
            raw = connection.connection.dbapi_connection
            if raw is not None:
                raw.cursor().execute("PRAGMA wal_checkpoint(TRUNCATE)").close()

    @contextmanager
    def _my_turn(self) -> Iterator[None]:
        if self._lock_file is None:
            yield
            return
        deadline = time.monotonic() + BUSY_SECONDS
        if not self._turn.acquire(timeout=BUSY_SECONDS):
            raise _locked()
        try:
            with self._lock_file.open("w") as lock:
                while not _try_lock(lock.fileno()):
                    if time.monotonic() > deadline:
                        raise _locked()
                    time.sleep(_POLL_SECONDS)
                yield
        finally:
            self._turn.release()


def _try_lock(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _locked() -> OperationalError:
    return OperationalError("BEGIN", None, sqlite3.OperationalError("database is locked by another writer"))
