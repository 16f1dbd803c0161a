"""A connection to an SQLite file that outlives no fork: what a child inherits of SQLite would let it write without the
locks that it believes to hold."""

from __future__ import annotations

import os
import sqlite3
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from typing import Final


class Busy(Exception):
    """Other threads used the connection for too long."""


class Connection:
    """One connection and whose turn it is. It opens when it is used, and anew after a fork.

    `busy_seconds` is how long it waits for other connections that write.
    """

    def __init__(self, file: Path, busy_seconds: float) -> None:
        self._file, self._busy_seconds = file, busy_seconds
        self._lock = Lock()
        self._db: sqlite3.Connection | None = None
        _ALL.add(self)

    @contextmanager
    def alone(self, wait_seconds: float) -> Iterator[sqlite3.Connection]:
        """Make this block the only one that uses the connection.

        Raises:
            Busy: others used it for `wait_seconds`.
            sqlite3.Error: the file cannot be used.
        """
        if not self._lock.acquire(timeout=wait_seconds):
            raise Busy("other threads of this process use it for too long")
        try:
            if self._db is None:
                self._db = self._open()
            yield self._db
        finally:
            self._lock.release()

    @contextmanager
    def change(self, wait_seconds: float) -> Iterator[sqlite3.Connection]:
        """Make this block one transaction."""
        with self.alone(wait_seconds) as db:
            db.execute("BEGIN IMMEDIATE")
            try:
                yield db
                db.execute("COMMIT")
            finally:
                if db.in_transaction:
                    db.execute("ROLLBACK")

    def close(self) -> None:
        """Close it; it opens again when it is used."""
        with self._lock:
            self._drop()

    def _open(self) -> sqlite3.Connection:
        db = sqlite3.connect(self._file, timeout=self._busy_seconds, isolation_level=None, check_same_thread=False)
        # Whoever writes must not be the one who waits for the disk.
        db.execute("PRAGMA wal_autocheckpoint = 0").fetchall()
        if db.execute("PRAGMA journal_mode").fetchone() != ("wal",):
            db.execute("PRAGMA journal_mode = WAL").fetchall()
        db.execute("PRAGMA synchronous = NORMAL")
        # What was said must not stay on the disk after it was handed over.
        db.execute("PRAGMA secure_delete = ON").fetchall()
        return db

    def _drop(self) -> None:
        if self._db is not None:
            self._db.close()
            self._db = None

    def _before_fork(self) -> None:
        self._lock.acquire()
        self._drop()

    def _after_fork(self) -> None:
        self._lock.release()


_ALL: Final[weakref.WeakSet[Connection]] = weakref.WeakSet()
_FORKING: Final[list[Connection]] = []


def _before_fork() -> None:
    _FORKING.extend(_ALL)
    for connection in _FORKING:
        connection._before_fork()


def _after_fork() -> None:
    # In the child too: who forked held the locks.
    while _FORKING:
        _FORKING.pop()._after_fork()


os.register_at_fork(before=_before_fork, after_in_parent=_after_fork, after_in_child=_after_fork)
