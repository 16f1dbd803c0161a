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
from contextlib import closing, contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from threading import Lock
from typing import Any, Final

from afterturn_client.errors import ConflictingTurn, SpoolFull, SpoolUnavailable
from afterturn_client.turns import Written

_FILE: Final = "spool.sqlite3"
_LOCK: Final = "sending.sqlite3"
_OPEN_SECONDS: Final = 5.0
_KNOWN_TURNS: Final = 10_000
"""How many turns back an id is known after it was sent, so that to enqueue it again changes nothing."""
_WAITING, _SENT, _REJECTED = range(3)
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
        self._using = Lock()
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            # Two processes that make the file at once would refuse each other the change to a write-ahead log.
            with self._locked(_OPEN_SECONDS) as is_alone:
                if not is_alone and not (folder / _FILE).exists():
                    raise SpoolUnavailable(f"another process makes a spool in {folder} and does not come to an end")
                (folder / _FILE).touch(mode=0o600)
                self._db = self._connect()
                self._db.executescript(_SCHEMA)
        except (OSError, sqlite3.Error) as error:
            raise SpoolUnavailable(
                f"cannot keep a spool in {folder}: {error}. Give `spool_dir` a folder on a local disk that this "
                "process may write"
            ) from error

    def put(self, turn: Written, wait_seconds: float) -> Accepted:
        """Keep a turn behind the others, waiting at most `wait_seconds` for others who write.

        Raises:
            ConflictingTurn: its id was lately used for other content.
            SpoolFull: the spool holds as much as it may.
            SpoolUnavailable: it cannot be written, or not in time.
        """
        key = (turn.user, turn.turn_id)
        with self._change(wait_seconds) as db:
            known = db.execute("SELECT digest, state FROM turns WHERE user = ? AND turn_id = ?", key).fetchone()
            if known is not None and known[1] != _REJECTED:
                if known[0] != turn.digest:
                    raise ConflictingTurn(f"{turn.turn_id!r} was enqueued with other content")
                return Accepted.KNOWN
            if known is not None:
                _take_out(db, "user = ? AND turn_id = ?", key)
                db.execute("DELETE FROM turns WHERE user = ? AND turn_id = ?", key)
            depth = _depth(db)
            if depth.waiting + depth.rejected >= self._max_turns or depth.bytes + len(turn.body) > self._max_bytes:
                raise SpoolFull(
                    f"the spool in {self.folder} is full: {depth.waiting:,} turns wait for the service, "
                    f"{depth.rejected:,} were rejected, {depth.bytes:,} bytes (spool_max_turns, spool_max_bytes)"
                )
            db.execute(
                "INSERT INTO turns (user, turn_id, digest, state, body) VALUES (?, ?, ?, 0, ?)",
                (*key, turn.digest, turn.body),
            )
            db.execute("UPDATE totals SET waiting = waiting + 1, bytes = bytes + ?", (len(turn.body),))
        return Accepted.SPOOLED

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
        with self._change(_OPEN_SECONDS) as db:
            for turn in turns:
                if _take_out(db, "place = ? AND state = 0", (turn.place,)):
                    db.execute("UPDATE turns SET state = 1, body = x'' WHERE place = ?", (turn.place,))
            [last] = db.execute("SELECT coalesce(max(place), 0) FROM turns").fetchone()
            db.execute("DELETE FROM turns WHERE state = 1 AND place <= ?", (last - _KNOWN_TURNS,))

    def reject(self, turn: Spooled, reason: str) -> None:
        """Put a turn aside that the service will never take."""
        with self._change(_OPEN_SECONDS) as db:
            db.execute("UPDATE turns SET state = 2, reason = ? WHERE place = ? AND state = 0", (reason, turn.place))
            if db.execute("SELECT changes()").fetchone()[0]:
                db.execute("UPDATE totals SET waiting = waiting - 1, rejected = rejected + 1")

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
        except sqlite3.Error as error:
            raise self._unavailable(error) from error

    def close(self) -> None:
        """Close the file; what lies in it stays."""
        with self._using:
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
    def _change(self, wait_seconds: float) -> Iterator[sqlite3.Connection]:
        with self._alone(wait_seconds) as db:
            db.execute(f"PRAGMA busy_timeout = {max(1, int(wait_seconds * 1000))}")
            db.execute("BEGIN IMMEDIATE")
            try:
                yield db
                db.execute("COMMIT")
            finally:
                if db.in_transaction:
                    db.execute("ROLLBACK")

    @contextmanager
    def _read(self) -> Iterator[sqlite3.Connection]:
        with self._alone(_OPEN_SECONDS) as db:
            yield db

    @contextmanager
    def _alone(self, wait_seconds: float) -> Iterator[sqlite3.Connection]:
        if not self._using.acquire(timeout=max(0.0, wait_seconds)):
            raise self._unavailable("other threads of this process use it for too long")
        try:
            yield self._db
        except sqlite3.Error as error:
            raise self._unavailable(error) from error
        finally:
            self._using.release()

    def _unavailable(self, reason: object) -> SpoolUnavailable:
        return SpoolUnavailable(f"the spool in {self.folder} cannot be used: {reason}")


def _depth(db: sqlite3.Connection) -> Depth:
    return Depth(*db.execute("SELECT waiting, rejected, bytes FROM totals").fetchone())


def _take_out(db: sqlite3.Connection, where: str, values: tuple[Any, ...]) -> bool:
    """Count a turn out of the totals; False if there is none."""
    row = db.execute(f"SELECT state, length(body) FROM turns WHERE {where}", values).fetchone()
    if row is None:
        return False
    column = "waiting" if row[0] == _WAITING else "rejected"
    db.execute(f"UPDATE totals SET {column} = {column} - 1, bytes = bytes - ?", (row[1],))
    return True
