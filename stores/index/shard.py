"""One file of the embedded index: its tables, its connections, and what its failures mean."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from queue import LifoQueue
from threading import Lock

from schema.errors import IndexRefused, IndexUnavailable
from stores.machine import file_shortage

READERS = 4
"""Connections that read one file at a time in one process; 16 files make 64, the fleet's default slots."""

_BUSY_SECONDS = 30.0
_PAGE_BYTES = 16384
"""Measured with rows of one 384-number vector: nine fit on a page; the default 4,096 holds two and wastes a quarter."""
_WAL_PAGES = 256
_CACHE_KILOBYTES = 512
"""Of a connection, in the place of 2 MB: what is searched lies in memory already, and there may be eighty."""
_TRACE_SECONDS = 1.0
"""How long a deletion waits for readers of the file, and its writers with it."""

_TABLES = """
CREATE TABLE IF NOT EXISTS meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS subjects (
    subject TEXT PRIMARY KEY, changed INTEGER NOT NULL, removed INTEGER NOT NULL, entries INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS entries (
    subject TEXT NOT NULL, key BLOB NOT NULL, memory_id BLOB NOT NULL,
    type TEXT NOT NULL, kind TEXT NOT NULL, category TEXT NOT NULL, status TEXT NOT NULL, visibility TEXT NOT NULL,
    agent_id TEXT, author_id TEXT, created_at INTEGER NOT NULL, tags TEXT NOT NULL, vector BLOB NOT NULL,
    changed INTEGER NOT NULL, version INTEGER NOT NULL DEFAULT 0, PRIMARY KEY (subject, key)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS entries_by_change ON entries (subject, changed);
"""

_REMEDIES = {
    sqlite3.SQLITE_CANTOPEN: "the folder must exist and the user of this process must be able to write to it",
    sqlite3.SQLITE_READONLY: "the user of this process must be able to write to the file and its folder",
    sqlite3.SQLITE_FULL: "the disk is full: make room, what is missing will be indexed by the next sweep",
    sqlite3.SQLITE_IOERR: "the disk refused: look at its space, quota and health",
    sqlite3.SQLITE_BUSY: f"another process has held the file for {_BUSY_SECONDS:.0f} s: look for one that hangs",
    sqlite3.SQLITE_CORRUPT: "the file is damaged: stop every process, move the index folder away, `afterturn reindex`",
    sqlite3.SQLITE_NOTADB: "no SQLite file: stop every process, move the index folder away, `afterturn reindex`",
}

_PASSING = frozenset({sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED})


@contextmanager
def explained(path: Path) -> Iterator[None]:
    """Raise SQLite's failures that pass, or that an operator must mend, as `IndexUnavailable`; others as they are."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        code = getattr(error, "sqlite_errorcode", None)
        remedy = None if code is None else _REMEDIES.get(code & 0xFF)
        if remedy is None and isinstance(error, sqlite3.OperationalError):
            remedy = "look at the file, its folder and its disk"
        if remedy is None:
            raise
        kind = IndexUnavailable if code is not None and code & 0xFF in _PASSING else IndexRefused
        if code is not None and code & 0xFF == sqlite3.SQLITE_CANTOPEN and (shortage := file_shortage()):
            kind, remedy = IndexUnavailable, shortage
        raise kind(f"{path}: {error}; {remedy}") from error


class Shard:
    """One SQLite file with a writer and a few readers per process. Open it after a fork, not before.

    Commits are not flushed to the disk one by one (`synchronous=NORMAL`): a power cut may take the last ones, never
    the file, and the index can be rebuilt from the catalog. Deleted entries are overwritten with zeros, in the file
    once the write-ahead log is written through to it: `leave_no_trace` does that at once.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._writer: sqlite3.Connection | None = None
        self._write_lock = Lock()
        self._readers: LifoQueue[sqlite3.Connection | None] = LifoQueue()
        for _ in range(READERS):
            self._readers.put(None)
        self._file: tuple[int, int] | None = None
        """Device and inode of the file that the connections have."""

    @property
    def is_gone(self) -> bool:
        """Return whether what lies at the path is no longer the file that was made or found there: what is written to
        one that was deleted is lost, and its connections do not tell."""
        return self._file is not None and self._file != _file_at(self.path)

    def _connect(self) -> sqlite3.Connection:
        connection = sqlite3.connect(self.path, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False)
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute("PRAGMA secure_delete = ON")
        connection.execute(f"PRAGMA wal_autocheckpoint = {_WAL_PAGES}")
        connection.execute(f"PRAGMA cache_size = -{_CACHE_KILOBYTES}")
        return connection

    def create(self) -> None:
        """Make the file and its tables where they are missing. One process at a time: changing the journal's mode
        does not wait for others."""
        with explained(self.path), self._write_lock:
            self._writer = self._writer or self._connect()
            self._writer.execute(f"PRAGMA page_size = {_PAGE_BYTES}")
            self._writer.execute("PRAGMA journal_mode = WAL")
            self._writer.executescript(f"BEGIN IMMEDIATE; {_TABLES} COMMIT;")
            columns = {row[1] for row in self._writer.execute("PRAGMA table_info(entries)")}
            if "version" not in columns:
                # Made by an older Afterturn.
                self._writer.execute("ALTER TABLE entries ADD COLUMN version INTEGER NOT NULL DEFAULT 0")
            self._file = _file_at(self.path)

    @contextmanager
    def write(self) -> Iterator[sqlite3.Connection]:
        """Hold a transaction that writes, committed on leaving. Threads wait for each other here rather than in
        SQLite, whose waiting is a poll that can starve one of many.

        Raises:
            IndexUnavailable: see there.
        """
        with explained(self.path), self._write_lock:
            self._writer = self._writer or self._connect()
            with _transaction(self._writer, "BEGIN IMMEDIATE"):
                yield self._writer

    @contextmanager
    def read(self) -> Iterator[sqlite3.Connection]:
        """Hold a transaction that reads: one state of the file, whatever is written meanwhile.

        Raises:
            IndexUnavailable: see there.
        """
        with explained(self.path):
            connection = self._readers.get()
            try:
                connection = connection or self._connect()
                with _transaction(connection, "BEGIN"):
                    yield connection
            finally:
                self._readers.put(connection)

    def leave_no_trace(self) -> bool:
        """Take what was deleted or written over out of the write-ahead log too, and return whether it is: not where
        somebody has been reading for longer than one waits.

        Raises:
            IndexUnavailable: see there.
        """
        with explained(self.path), self._write_lock:
            self._writer = self._writer or self._connect()
            self._writer.execute(f"PRAGMA busy_timeout = {round(_TRACE_SECONDS * 1000)}")
            try:
                [(is_busy, _, _)] = self._writer.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
            finally:
                self._writer.execute(f"PRAGMA busy_timeout = {round(_BUSY_SECONDS * 1000)}")
        return not is_busy

    def close(self) -> None:
        """Wait for what is under way and close every connection; the next use opens them again."""
        with self._write_lock:
            if self._writer is not None:
                self._writer.close()
                self._writer = None
        for connection in [self._readers.get() for _ in range(READERS)]:
            if connection is not None:
                connection.close()
            self._readers.put(None)


def _file_at(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    return found.st_dev, found.st_ino


@contextmanager
def _transaction(connection: sqlite3.Connection, begin: str) -> Iterator[None]:
    connection.execute(begin)
    try:
        yield
        connection.execute("COMMIT")
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
