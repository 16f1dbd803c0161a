"""The spool: turns that wait on this machine's disk for a broker that is away, in order and bounded.

One SQLite file, shared by all producers of the machine. A turn that `put` took survives a killed process; a power
loss can take the turns of the last three seconds or so with it, and leaves the file whole (`docs/decisions/0009`).
"""

from __future__ import annotations

import fcntl
import json
import sqlite3
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from threading import Lock
from time import time
from typing import IO, Any

from schema import Subject, Turn
from schema.errors import ConflictingTurn, SpoolFull, SpoolUnavailable

_FILE = "spool.sqlite3"
_OPEN_SECONDS = 5.0
_BACKGROUND_SECONDS = 5.0
_VACUUM_PAGES = 4000
_CUT_WAIT_MS = 10
_ALL = 1_000_000_000
_PAGE_BYTES = 1024
"""Each turn writes some pages anew into the log: with SQLite's 4,096 bytes that is two and a half times as much."""
_BALLAST = "ballast"
_BALLAST_BYTES = 4 * 1024 * 1024
"""Room that is given up on a full disk: even to take a turn out, the log must grow."""

_SCHEMA = """
CREATE TABLE IF NOT EXISTS turns (
    place INTEGER PRIMARY KEY, subject TEXT NOT NULL, turn_id TEXT NOT NULL, digest TEXT NOT NULL, body TEXT NOT NULL,
    enqueued_at REAL, UNIQUE (subject, turn_id)
);
CREATE TABLE IF NOT EXISTS rejected (
    place INTEGER PRIMARY KEY, subject TEXT NOT NULL, turn_id TEXT NOT NULL, body TEXT NOT NULL, reason TEXT NOT NULL,
    rejected_at TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS totals (
    only_row INTEGER PRIMARY KEY CHECK (only_row = 1), turns INTEGER NOT NULL, bytes INTEGER NOT NULL,
    rejected INTEGER NOT NULL, rejected_bytes INTEGER NOT NULL
);
INSERT OR IGNORE INTO totals VALUES (1, 0, 0, 0, 0);
"""
_ENQUEUED_AT = "ALTER TABLE turns ADD COLUMN enqueued_at REAL"
"""For a spool that an earlier revision made, which goes on using it: such turns have none."""


@dataclass(frozen=True)
class SpooledTurn:
    """A turn as it lies in the spool: `position` grows in the order in which turns came, `body` is its JSON,
    `enqueued_at` is when whoever sends it said so first, in seconds by this machine's clock, if that is known."""

    position: int
    turn_id: str
    body: str
    enqueued_at: float | None = None

    def waited(self) -> float:
        """Return how many seconds ago it was enqueued, 0 where that is not known; less where the clock jumped back."""
        return 0.0 if self.enqueued_at is None else time() - self.enqueued_at


class Spool:
    """The spool in a folder; share it between threads, but open one per process and never across a fork.

    `max_turns` and `max_bytes` bound what it holds, rejected turns included; bytes are those of the turns' JSON.

    Raises:
        SpoolUnavailable: by any call: the folder cannot be read or written, not in time, or what lies there is no
            spool. What was to be taken out stays.
    """

    def __init__(self, folder: Path, *, max_turns: int, max_bytes: int) -> None:
        self.folder = folder
        self._max_turns = max_turns
        self._max_bytes = max_bytes
        self._writing, self._reading = Lock(), Lock()
        self._held: IO[str] | None = None
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            # Two processes that make the file at once would refuse each other the change to a write-ahead log.
            with (folder / "open.lock").open("a") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX)
                (folder / _FILE).touch(mode=0o600)
                self._writer = self._connect()
                if not _has(self._writer, "totals"):
                    self._writer.executescript(_SCHEMA)
                if not _has(self._writer, "turns", "enqueued_at"):
                    self._writer.execute(_ENQUEUED_AT)
                self._take_ballast()
            self._reader = self._connect()
        except (OSError, sqlite3.Error) as error:
            raise SpoolUnavailable(
                f"cannot keep a spool in {folder}: {error}. Set AFTERTURN_SPOOL_DIR to a folder on a local disk that "
                "this process may write"
            ) from error

    def put(self, turn: Turn, wait_seconds: float, *, waited: float = 0.0) -> int:
        """Keep a turn behind the others, once per turn_id, and answer how many there are now.

        Waits at most `wait_seconds` for others who write. The turn was enqueued `waited` seconds ago.

        Raises:
            ConflictingTurn: a turn with its id and other content lies in the spool.
            SpoolFull: it holds as much as it may.
        """
        subject, body, digest = turn.subject.key, turn.canonical_json(), turn.digest()
        size = len(body.encode())
        with self._change(wait_seconds) as db:
            (turns, used, rejected, rejected_bytes) = db.execute(
                "SELECT turns, bytes, rejected, rejected_bytes FROM totals"
            ).fetchone()
            cursor = db.execute("SELECT digest FROM turns WHERE subject = ? AND turn_id = ?", (subject, turn.turn_id))
            if (row := cursor.fetchone()) is not None:
                if not turn.is_known_by(row[0]):
                    raise ConflictingTurn(turn.turn_id)
                return int(turns)
            if turns + rejected >= self._max_turns or used + rejected_bytes + size > self._max_bytes:
                held = f"{turns:,} turns and {rejected:,} rejected ones, {used + rejected_bytes:,} bytes"
                raise SpoolFull(
                    f"the broker does not take the turn, and the spool in {self.folder} takes no more: it holds {held} "
                    f"of {self._max_turns:,} (AFTERTURN_SPOOL_MAX_TURNS) and {self._max_bytes:,} "
                    "(AFTERTURN_SPOOL_MAX_BYTES)"
                )
            db.execute(
                "INSERT INTO turns (subject, turn_id, digest, body, enqueued_at) VALUES (?, ?, ?, ?, ?)",
                (subject, turn.turn_id, digest, body, time() - waited),
            )
            db.execute("UPDATE totals SET turns = turns + 1, bytes = bytes + ?", (size,))
            return int(turns) + 1

    def is_empty(self) -> bool:
        """Return whether no turn waits; rejected ones do not wait."""
        return not self._read("SELECT 1 FROM turns LIMIT 1")

    def holds(self, subject: Subject) -> bool:
        """Return whether a turn of this subject waits."""
        return bool(self._read("SELECT 1 FROM turns WHERE subject = ? LIMIT 1", subject.key))

    def depth(self) -> int:
        """Return how many turns wait."""
        return int(self._read("SELECT turns FROM totals")[0][0])

    def oldest(self, limit: int) -> list[SpooledTurn]:
        """Return up to `limit` of the turns that wait, in the order in which they came."""
        rows = self._read("SELECT place, turn_id, body, enqueued_at FROM turns ORDER BY place LIMIT ?", limit)
        return [SpooledTurn(*row) for row in rows]

    def remove(self, turns: Sequence[SpooledTurn]) -> None:
        """Drop turns that are safe elsewhere. Only the holder of `locked` may."""
        if not turns:
            return
        try:
            self._remove(turns)
        except SpoolUnavailable:
            (self.folder / _BALLAST).unlink(missing_ok=True)
            self._remove(turns)

    def reject(self, turn: SpooledTurn, reason: str) -> None:
        """Put a turn aside that will never be taken, with the reason. Only the holder of `locked` may."""
        with self._change(_BACKGROUND_SECONDS) as db:
            db.execute(
                "INSERT INTO rejected (subject, turn_id, body, reason, rejected_at) "
                "SELECT subject, turn_id, body, ?, ? FROM turns WHERE place = ?",
                (reason, datetime.now(UTC).isoformat(timespec="seconds"), turn.position),
            )
            size = _take_out(db, turn)
            db.execute("UPDATE totals SET rejected = rejected + 1, rejected_bytes = rejected_bytes + ?", (size,))

    def rejected(self, limit: int) -> list[tuple[SpooledTurn, str]]:
        """Return up to `limit` of the rejected turns, oldest first, each with the reason."""
        rows = self._read("SELECT place, turn_id, body, reason FROM rejected ORDER BY place LIMIT ?", limit)
        return [(SpooledTurn(position, turn_id, body), reason) for position, turn_id, body, reason in rows]

    def forget(self, rejected: Sequence[SpooledTurn]) -> None:
        """Drop rejected turns for good. Only the holder of `locked` may."""
        with self._change(_BACKGROUND_SECONDS) as db:
            for turn in rejected:
                if db.execute("DELETE FROM rejected WHERE place = ?", (turn.position,)).rowcount:
                    size = len(turn.body.encode())
                    db.execute(
                        "UPDATE totals SET rejected = rejected - 1, rejected_bytes = rejected_bytes - ?", (size,)
                    )

    def find(self, is_meant: Callable[[Any], bool]) -> frozenset[str]:
        """Return the turns that are meant, rejected ones too, each asked about as it came, a JSON value."""
        held = (*self.oldest(_ALL), *(turn for turn, _ in self.rejected(_ALL)))
        return frozenset(turn.body for turn in held if is_meant(json.loads(turn.body)))

    def erase(self, found: Collection[str]) -> tuple[int, int]:
        """Drop turns that were found, where they still lie here. Returns how many went, and how many stay, because a
        producer is flushing just now."""
        waiting = [turn for turn in self.oldest(_ALL) if turn.body in found]
        rejected = [turn for turn, _ in self.rejected(_ALL) if turn.body in found]
        with self.locked() as is_locked:
            if is_locked:
                self.remove(waiting)
                self.forget(rejected)
                self.shrink()
        count = len(waiting) + len(rejected)
        return (count, 0) if is_locked else (0, count)

    def write_through(self) -> None:
        """Write the log through to the file. `put` leaves that to a thread which may wait for the disk."""
        # Passive: to cut the log short, SQLite would wait for the disk while writers wait for SQLite. So the log grows
        # while turns come faster than it can be written through, and is reused from its start at the first pause.
        with self._beside() as db:
            db.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()

    def shrink(self) -> None:
        """Give back the room of what was taken out. Writers may have to wait for the disk meanwhile."""
        with self._beside() as db:
            [(free,)] = db.execute("PRAGMA freelist_count").fetchall()
            for _ in range(0, free, _VACUUM_PAGES):
                # `execute` would step once, which frees a single page.
                db.executescript(f"PRAGMA incremental_vacuum({_VACUUM_PAGES})")
            _cut_log(db)
            self._take_ballast()

    @contextmanager
    def locked(self) -> Iterator[bool]:
        """Make this block the only one on the machine that takes turns out; the lock ends with its process."""
        try:
            lock = (self.folder / "flush.lock").open("a")
        except OSError as error:
            raise self._unavailable(error) from error
        with lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                yield False
                return
            self._held = lock
            try:
                yield True
            finally:
                self._held = None
                # Not by closing alone: a child that was forked meanwhile has the file open too.
                fcntl.flock(lock, fcntl.LOCK_UN)

    def leave_to_parent(self) -> None:
        """Let go of what a child process inherited, so that the lock ends with the parent."""
        if self._held is not None:
            self._held.close()

    def close(self) -> None:
        """Close the file; what lies in it stays."""
        self._reader.close()
        self._writer.close()

    def _remove(self, turns: Sequence[SpooledTurn]) -> None:
        with self._change(_BACKGROUND_SECONDS) as db:
            for turn in turns:
                _take_out(db, turn)

    def _take_ballast(self) -> None:
        with (self.folder / _BALLAST).open("ab") as ballast:
            if (missing := _BALLAST_BYTES - ballast.tell()) > 0:
                ballast.write(bytes(missing))

    def _connect(self) -> sqlite3.Connection:
        db = sqlite3.connect(self.folder / _FILE, timeout=_OPEN_SECONDS, isolation_level=None, check_same_thread=False)
        db.execute("PRAGMA wal_autocheckpoint = 0").fetchall()
        [(pages,)] = db.execute("PRAGMA page_count").fetchall()
        if not pages:
            # Only for a new file: to say it again would be a write.
            db.execute(f"PRAGMA page_size = {_PAGE_BYTES}")
            db.execute("PRAGMA auto_vacuum = INCREMENTAL")
            db.execute("PRAGMA journal_mode = WAL").fetchall()
        db.execute("PRAGMA synchronous = NORMAL")
        # What was said must not stay on the disk after it was handed over.
        db.execute("PRAGMA secure_delete = ON").fetchall()
        return db

    @contextmanager
    def _beside(self) -> Iterator[sqlite3.Connection]:
        """Yield a connection of its own, so that waiting for the disk holds up nobody's reads and writes."""
        try:
            with closing(self._connect()) as db:
                yield db
        except (OSError, sqlite3.Error) as error:
            raise self._unavailable(error) from error

    @contextmanager
    def _change(self, wait_seconds: float) -> Iterator[sqlite3.Connection]:
        if not self._writing.acquire(timeout=max(0.0, wait_seconds)):
            raise self._unavailable("other threads of this process write to it for too long")
        try:
            self._writer.execute(f"PRAGMA busy_timeout = {max(1, int(wait_seconds * 1000))}")
            self._writer.execute("BEGIN IMMEDIATE")
            try:
                yield self._writer
                self._writer.execute("COMMIT")
            finally:
                if self._writer.in_transaction:
                    self._writer.execute("ROLLBACK")
        except sqlite3.Error as error:
            raise self._unavailable(error) from error
        finally:
            self._writing.release()

    def _read(self, query: str, *values: object) -> list[tuple[Any, ...]]:
        try:
            with self._reading:
                return list(self._reader.execute(query, values))
        except sqlite3.Error as error:
            raise self._unavailable(error) from error

    def _unavailable(self, reason: object) -> SpoolUnavailable:
        return SpoolUnavailable(f"the spool in {self.folder} (AFTERTURN_SPOOL_DIR) cannot be used: {reason}")


def _has(db: sqlite3.Connection, table: str, *columns: str) -> bool:
    """Return whether a table is there, with these columns. To make it again would be a write, and whoever enqueues
    first in a process would wait for others' writes, past its budget."""
    there = {name for (name,) in db.execute("SELECT name FROM pragma_table_info(?)", (table,))}
    return bool(there) and there.issuperset(columns)


def _cut_log(db: sqlite3.Connection) -> None:
    # Writers wait while this waits for readers.
    db.execute(f"PRAGMA busy_timeout = {_CUT_WAIT_MS}")
    db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()


def _take_out(db: sqlite3.Connection, turn: SpooledTurn) -> int:
    size = len(turn.body.encode())
    if db.execute("DELETE FROM turns WHERE place = ?", (turn.position,)).rowcount:
        db.execute("UPDATE totals SET turns = turns - 1, bytes = bytes - ?", (size,))
    return size
