"""How the catalog's writers take turns, and share a flush of the disk."""

from __future__ import annotations

import copy
import fcntl
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, Generic, TypeVar

from sqlalchemy import Connection, Engine

from schema.errors import CatalogOutage
from stores.catalog.engine import BUSY_SECONDS

T = TypeVar("T")
_POLL_SECONDS = 0.0005
_TRACE_MS = 1000
"""How long a deletion waits for readers, and every writer with it: a backup reads for minutes."""


class _Unit(Generic[T]):
    """What one writer writes, and what came of it. Its writer sleeps until it is done or its turn to lead has come."""

    def __init__(self, work: Callable[[Connection], T]) -> None:
        self.work = work
        self.outcome: Future[T] = Future()
        self.woken = threading.Event()


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
        self._queue = threading.Lock()
        self._waiting: deque[_Unit[Any]] = deque()

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
        unit = _Unit(work)
        with self._queue:
            self._waiting.append(unit)
            if self._waiting[0] is unit:
                unit.woken.set()
        # Whoever is first waits for the file for `BUSY_SECONDS`, and then all that wait give up: nobody sleeps on.
        unit.woken.wait()
        if not unit.outcome.done():
            self._lead()
        return unit.outcome.result()

    def _lead(self) -> None:
        """Write all who wait by now, the first of whom is the caller, and wake them and the next to lead."""
        units: list[_Unit[Any]] = []
        try:
            with self._my_turn():
                with self._queue:
                    units = list(self._waiting)
                self._write_together(units)
        except Exception as error:  # noqa: BLE001 - raised by everybody who waits
            with self._queue:
                units = list(self._waiting)
            for unit in units:
                if not unit.outcome.done():
                    unit.outcome.set_exception(_copied(error))
        finally:
            with self._queue:
                for _ in units:
                    self._waiting.popleft()
                if self._waiting:
                    self._waiting[0].woken.set()
            for unit in units:
                unit.woken.set()

    @contextmanager
    def transaction(self) -> Iterator[Connection]:
        """Yield a connection in a writing transaction of its own: committed at the end, rolled back on any exception.

        Raises:
            CatalogOutage: the database stayed locked for `BUSY_SECONDS`.
        """
        with self._my_turn(), self._begun() as connection:
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
                with closing(raw.cursor()) as cursor:
                    cursor.execute(f"PRAGMA busy_timeout = {_TRACE_MS}")
                    cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)")
                    cursor.execute(f"PRAGMA busy_timeout = {round(BUSY_SECONDS * 1000)}")

    def _write_together(self, units: Sequence[_Unit[Any]]) -> None:
        """Write units in one transaction. An error of the database is everybody's, any other one its unit's own."""
        results: list[Any] = []
        try:
            with self._begun() as connection:
                results = [_do(unit, connection, alone=len(units) == 1) for unit in units]
        except BaseException as error:
            for unit in units:
                unit.outcome.set_exception(_copied(error))
            if not isinstance(error, Exception):
                raise
            return
        for unit, result in zip(units, results, strict=True):
            if isinstance(result, _Failed):
                unit.outcome.set_exception(result.error)
            else:
                unit.outcome.set_result(result)

    @contextmanager
    def _begun(self) -> Iterator[Connection]:
        with self._engine.connect() as connection, connection.begin():
            if self._lock_file is not None:
                # The driver begins nothing by itself. As a reader that becomes a writer it could not wait.
                connection.exec_driver_sql("BEGIN IMMEDIATE")
            yield connection

    @contextmanager
    def _my_turn(self) -> Iterator[None]:
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


class _Failed:
    """What a unit of a shared transaction raised, whose savepoint was rolled back."""

    def __init__(self, error: Exception) -> None:
        self.error = error


def _copied(error: BaseException) -> BaseException:
    """Return the same error for one more thread: one that several raise would gather the tracebacks of all."""
    return copy.copy(error).with_traceback(error.__traceback__)


def _do(unit: _Unit[Any], connection: Connection, *, alone: bool) -> Any:
    if alone:
        return unit.work(connection)
    try:
        with connection.begin_nested():
            return unit.work(connection)
    except CatalogOutage:
        raise
    except Exception as error:  # noqa: BLE001 - raised again where the unit came from
        return _Failed(error)


def _try_lock(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _locked() -> CatalogOutage:
    return CatalogOutage(f"the catalog was locked by another writer for {BUSY_SECONDS:.0f} s: look for one that hangs")
