"""Take turns at writing the catalog, and share a flush of the disk."""

from __future__ import annotations

import fcntl
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, TypeVar

from sqlalchemy import Connection, Engine

from schema.errors import CatalogOutage
from stores.batching import Batcher, Failed
from stores.catalog.engine import BUSY_SECONDS

T = TypeVar("T")
_Work = Callable[[Connection], Any]
_POLL_SECONDS = 0.0005
_TRACE_MS = 1000
"""How long a deletion waits for readers, and every writer with it: a backup reads for minutes."""


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
        # Whoever is first waits for the file for `BUSY_SECONDS`, and then all that wait give up: nobody sleeps on.
        self._batcher: Batcher[_Work, Any] = Batcher(self._write_together, alone=self._writing_alone)

    def write(self, work: Callable[[Connection], T]) -> T:
        """Do work in a writing transaction and answer what it answers; any exception of it is raised, and nothing of
        it is written.

        Flushing is the dearest part of a small transaction. So those who come to an SQLite file while it is being
        written go together into the next transaction, each in a savepoint, and are all answered once it is flushed.
        The work may be done by the thread of another writer.

        Raises:
            CatalogOutage: the database stayed locked for `BUSY_SECONDS`, or fails.
        """
        if self._lock_file is None:
            with self.transaction() as connection:
                return work(connection)
        written: T = self._batcher.do(work)
        return written

    @contextmanager
    def transaction(self) -> Iterator[Connection]:
        """Yield a connection in a writing transaction of its own: committed at the end, rolled back on any exception.

        Raises:
            CatalogOutage: the database stayed locked for `BUSY_SECONDS`.
        """
        with self._writing_alone(), self._begun() as connection:
            yield connection

    def leave_no_trace(self) -> bool:
        """Take what was deleted out of SQLite's write-ahead log as well, and return whether it is: not where somebody
        has been reading for longer than one waits.

        The pages themselves are overwritten by `secure_delete`. Other databases look after their own logs.
        """
        if self._lock_file is None:
            return True
        is_busy = False
        with self._writing_alone(), self._engine.connect() as connection:
            raw = connection.connection.dbapi_connection
            if raw is not None:
                with closing(raw.cursor()) as cursor:
                    cursor.execute(f"PRAGMA busy_timeout = {_TRACE_MS}")
                    [(is_busy, _, _)] = cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
                    cursor.execute(f"PRAGMA busy_timeout = {round(BUSY_SECONDS * 1000)}")
        return not is_busy

    def _write_together(self, works: Sequence[_Work]) -> list[Any]:
        """Do works in one transaction. An error of the database is everybody's, any other one its work's own."""
        with self._begun() as connection:
            return [_written(work, connection, alone=len(works) == 1) for work in works]

    @contextmanager
    def _begun(self) -> Iterator[Connection]:
        with self._engine.connect() as connection, connection.begin():
            if self._lock_file is not None:
                # The driver begins nothing by itself. As a reader that becomes a writer it could not wait.
                connection.exec_driver_sql("BEGIN IMMEDIATE")
            yield connection

    @contextmanager
    def _writing_alone(self) -> Iterator[None]:
        deadline = time.monotonic() + BUSY_SECONDS
        if self._lock_file is None:
            yield
            return
        if not self._turn.acquire(timeout=BUSY_SECONDS):
            raise _locked()
        try:
            with self._alone(deadline):
                yield
        finally:
            self._turn.release()

    @contextmanager
    def _alone(self, deadline: float) -> Iterator[None]:
        """Let no other process write while the block runs."""
        assert self._lock_file is not None
        with self._lock_file.open("w") as lock:
            while not _try_lock(lock.fileno()):
                if time.monotonic() > deadline:
                    raise _locked()
                time.sleep(_POLL_SECONDS)
            yield


def _written(work: _Work, connection: Connection, *, alone: bool) -> Any:
    if alone:
        return work(connection)
    try:
        with connection.begin_nested():
            return work(connection)
    except CatalogOutage:
        raise
    except Exception as error:  # noqa: BLE001 - raised again where the work came from
        return Failed(error)


def _try_lock(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _locked() -> CatalogOutage:
    return CatalogOutage(f"the catalog was locked by another writer for {BUSY_SECONDS:.0f} s: look for one that hangs")
