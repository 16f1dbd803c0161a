"""Turns on this machine's disk, from when they are accepted until the service has them.

An SQLite file that all processes of the machine share. What it promises:

- A process that is killed loses nothing that was accepted: a turn is written to the file before it is.
- A power loss, or a crash of the operating system, can lose what was accepted in the last second or so: `put` does not
  wait for the disk (`synchronous=NORMAL`); the thread that sends writes through after each pass. The file stays whole.
- It is bounded, and what was said is overwritten once the service has it (`secure_delete`). It needs a local disk.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from threading import Lock
from typing import Final

from afterturn_client.errors import AfterturnError, ConflictingTurn, SpoolFull, SpoolUnavailable
from afterturn_client.turns import Written

_FILE: Final = "spool.sqlite3"
_LOCK: Final = "sending.sqlite3"
_OPEN_SECONDS: Final = 5.0
_PUT_MS: Final = 50
"""How long turns wait for another process that writes."""
_KNOWN_TURNS: Final = 10_000
"""How many turns back an id is known after it was sent, so that to enqueue it again changes nothing."""
_REJECTED: Final = 2
"""The state of a turn that will never be taken; 0 is that of one that waits, 1 of one that was sent."""
_SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS turns (
    place INTEGER PRIMARY KEY, user TEXT NOT NULL, turn_id TEXT NOT NULL, digest TEXT NOT NULL, state INTEGER NOT NULL,
    body BLOB NOT NULL, reason TEXT NOT NULL DEFAULT '', UNIQUE (user, turn_id)
);
CREATE INDEX IF NOT EXISTS waiting ON turns (place) WHERE state = 0;
CREATE INDEX IF NOT EXISTS rejected ON turns (place) WHERE state = 2;
CREATE TABLE IF NOT EXISTS totals (
    only_row INTEGER PRIMARY KEY CHECK (only_row = 1), waiting INTEGER NOT NULL, rejected INTEGER NOT NULL,
    bytes INTEGER NOT NULL
);
INSERT OR IGNORE INTO totals VALUES (1, 0, 0, 0);
CREATE TRIGGER IF NOT EXISTS came AFTER INSERT ON turns BEGIN
    UPDATE totals SET waiting = waiting + 1, bytes = bytes + length(new.body);
END;
CREATE TRIGGER IF NOT EXISTS changed AFTER UPDATE ON turns BEGIN
    UPDATE totals SET waiting = waiting + (new.state = 0) - (old.state = 0),
        rejected = rejected + (new.state = 2) - (old.state = 2), bytes = bytes + length(new.body) - length(old.body);
END;
CREATE TRIGGER IF NOT EXISTS went AFTER DELETE ON turns BEGIN
    UPDATE totals SET waiting = waiting - (old.state = 0), rejected = rejected - (old.state = 2),
        bytes = bytes - length(old.body);
END;
"""
_PUT: Final = """
INSERT INTO turns (user, turn_id, digest, state, body)
SELECT :user, :turn_id, :digest, 0, :body
WHERE (SELECT waiting + rejected < :max_turns AND bytes + :size <= :max_bytes FROM totals)
ON CONFLICT DO NOTHING
"""


class Accepted(StrEnum):
    """What became of a turn that was enqueued; whichever it is, it reaches the service once."""

    SPOOLED = "spooled"
    """It is on the disk and will be sent."""
    KNOWN = "known"
    """The same turn was enqueued before; nothing was changed."""


@dataclass(frozen=True)
class Spooled:
    """A turn that waits; `place` grows in the order in which turns came."""

    place: int
    user: str
    turn_id: str
    body: bytes


@dataclass(frozen=True)
class Rejected:
    """A turn that the service will never take, with the reason. To enqueue the same turn again tries it again."""

    turn_id: str
    reason: str
    body: bytes


@dataclass(frozen=True)
class Depth:
    """How many turns wait, how many were rejected, and how many bytes both are."""

    waiting: int
    rejected: int
    bytes: int


class Spool:
    """The spool in a folder. Threads may share it; processes open one each, and none uses it across a fork.

    Raises:
        SpoolUnavailable: the folder cannot be written, or what lies there is no spool.
    """

    def __init__(self, folder: Path, *, max_turns: int, max_bytes: int) -> None:
        self.folder = folder
        self._max_turns, self._max_bytes = max_turns, max_bytes
        # Whoever puts waits for nobody who sends or looks, but for a moment at the file.
        self._putting, self._using = Lock(), Lock()
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            # Two processes that make the file at once would refuse each other the change to a write-ahead log.
            with self._locked(_OPEN_SECONDS) as is_alone:
                if not is_alone and not (folder / _FILE).exists():
                    raise SpoolUnavailable(f"another process makes a spool in {folder} and does not come to an end")
                (folder / _FILE).touch(mode=0o600)
                self._db = self._connect()
                self._db.executescript(_SCHEMA)
                self._putter = self._connect()
                self._putter.execute(f"PRAGMA busy_timeout = {_PUT_MS}").fetchall()
        except (OSError, sqlite3.Error) as error:
            raise SpoolUnavailable(
                f"cannot keep a spool in {folder}: {error}. Give `spool_dir` a folder on a local disk that this "
                "process may write"
            ) from error

    def put(self, turns: Sequence[Written]) -> list[Accepted | AfterturnError]:
        """Keep turns behind the others, all in one transaction, and say of each whether it was accepted.

        What it says is ConflictingTurn where its id was lately used for other content, SpoolFull where the spool holds
        as much as it may, and SpoolUnavailable of all where the file cannot be written, or not in time.
        """
        try:
            with self._change(self._putting, self._putter, _PUT_MS / 1000) as db:
                return [self._put(db, turn) for turn in turns]
        except SpoolUnavailable as error:
            return [error] * len(turns)

    def _put(self, db: sqlite3.Connection, turn: Written) -> Accepted | AfterturnError:
        values: dict[str, str | bytes | int] = {
            "user": turn.user,
            "turn_id": turn.turn_id,
            "digest": turn.digest,
            "body": turn.body,
            "size": len(turn.body),
            "max_turns": self._max_turns,
            "max_bytes": self._max_bytes,
        }
        if db.execute(_PUT, values).rowcount:
            return Accepted.SPOOLED
        known = "user = :user AND turn_id = :turn_id"
        row = db.execute(f"SELECT digest, state FROM turns WHERE {known}", values).fetchone()
        if row is not None and row[1] != _REJECTED:
            if row[0] == turn.digest:
                return Accepted.KNOWN
            return ConflictingTurn(f"{turn.turn_id!r} was enqueued with other content")
        if row is not None:
            db.execute(f"DELETE FROM turns WHERE {known}", values)
            if db.execute(_PUT, values).rowcount:
                return Accepted.SPOOLED
        depth = _depth(db)
        return SpoolFull(
            f"the spool in {self.folder} is full: {depth.waiting:,} turns wait for the service, "
            f"{depth.rejected:,} were rejected, {depth.bytes:,} bytes (spool_max_turns, spool_max_bytes)"
        )

    def depth(self) -> Depth:
        """Return how much lies in it."""
        with self._read() as db:
            return _depth(db)

    def oldest(self, limit: int, *, without: Collection[str] = ()) -> list[Spooled]:
        """Return up to `limit` of the turns that wait, in their order, leaving out those of some users."""
        with self._read() as db:
            rows = db.execute(
                "SELECT place, user, turn_id, body FROM turns WHERE state = 0 "
                "AND user NOT IN (SELECT value FROM json_each(?)) ORDER BY place LIMIT ?",
                (json.dumps(list(without)), limit),
            )
            return [Spooled(*row) for row in rows]

    def sent(self, turns: Sequence[Spooled]) -> None:
        """Drop what was said in turns that the service has; their ids stay known for a while."""
        with self._change(self._using, self._db, _OPEN_SECONDS) as db:
            places = [(turn.place,) for turn in turns]
            db.executemany("UPDATE turns SET state = 1, body = x'' WHERE place = ? AND state = 0", places)
            [last] = db.execute("SELECT coalesce(max(place), 0) FROM turns").fetchone()
            db.execute("DELETE FROM turns WHERE state = 1 AND place <= ?", (last - _KNOWN_TURNS,))

    def reject(self, turn: Spooled, reason: str) -> None:
        """Put a turn aside that the service will never take."""
        with self._change(self._using, self._db, _OPEN_SECONDS) as db:
            db.execute("UPDATE turns SET state = 2, reason = ? WHERE place = ? AND state = 0", (reason, turn.place))

    def rejected(self, limit: int) -> list[Rejected]:
        """Return up to `limit` rejected turns, oldest first."""
        with self._read() as db:
            rows = db.execute(
                "SELECT turn_id, reason, body FROM turns WHERE state = 2 ORDER BY place LIMIT ?", (limit,)
            )
            return [Rejected(*row) for row in rows]

    def write_through(self) -> None:
        """Write the log through to the file; to be called by a thread that may wait for the disk."""
        # Passive: to cut the log short, SQLite would wait for the disk while writers wait for SQLite.
        try:
            with closing(self._connect()) as db:
                db.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()
        except sqlite3.Error as error:
            raise self._unavailable(error) from error

    @contextmanager
    def sending(self) -> Iterator[bool]:
        """Make this block the only one on the machine that sends, or yield False; the lock ends with its process."""
        try:
            with self._locked(0.0) as is_alone:
                yield is_alone
        except (OSError, sqlite3.Error) as error:
            raise self._unavailable(error) from error

    def close(self) -> None:
        """Close the file; what lies in it stays."""
        with self._putting, self._using:
            self._putter.close()
            self._db.close()

    def _connect(self) -> sqlite3.Connection:
        db = sqlite3.connect(self.folder / _FILE, timeout=_OPEN_SECONDS, isolation_level=None, check_same_thread=False)
        # Whoever writes must not be the one who waits for the disk.
        db.execute("PRAGMA wal_autocheckpoint = 0").fetchall()
        if db.execute("PRAGMA journal_mode").fetchone() != ("wal",):
            db.execute("PRAGMA journal_mode = WAL").fetchall()
        db.execute("PRAGMA synchronous = NORMAL")
        db.execute("PRAGMA secure_delete = ON").fetchall()
        return db

    @contextmanager
    def _locked(self, wait_seconds: float) -> Iterator[bool]:
        # SQLite's own lock on a file of its own: it is the same on every system, and no child inherits it.
        (self.folder / _LOCK).touch(mode=0o600)
        with closing(sqlite3.connect(self.folder / _LOCK, timeout=wait_seconds, isolation_level=None)) as lock:
            try:
                lock.execute("BEGIN EXCLUSIVE")
            except sqlite3.OperationalError as error:
                if error.sqlite_errorcode != sqlite3.SQLITE_BUSY:
                    raise
                yield False
                return
            yield True

    @contextmanager
    def _change(self, lock: Lock, db: sqlite3.Connection, wait_seconds: float) -> Iterator[sqlite3.Connection]:
        with self._alone(lock, db, wait_seconds):
            db.execute("BEGIN IMMEDIATE")
            try:
                yield db
                db.execute("COMMIT")
            finally:
                if db.in_transaction:
                    db.execute("ROLLBACK")

    def _read(self) -> AbstractContextManager[sqlite3.Connection]:
        return self._alone(self._using, self._db, _OPEN_SECONDS)

    @contextmanager
    def _alone(self, lock: Lock, db: sqlite3.Connection, wait_seconds: float) -> Iterator[sqlite3.Connection]:
        if not lock.acquire(timeout=wait_seconds):
            raise self._unavailable("other threads of this process use it for too long")
        try:
            yield db
        except sqlite3.Error as error:
            raise self._unavailable(error) from error
        finally:
            lock.release()

    def _unavailable(self, reason: object) -> SpoolUnavailable:
        return SpoolUnavailable(f"the spool in {self.folder} cannot be used: {reason}")


def _depth(db: sqlite3.Connection) -> Depth:
    return Depth(*db.execute("SELECT waiting, rejected, bytes FROM totals").fetchone())
