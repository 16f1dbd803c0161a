"""Turns on this machine's disk, from when they are accepted until the service has them.

An SQLite file that all processes of the machine share. What it promises:

- A process that is killed loses nothing that was accepted: a turn is written to the file before it is.
- A power loss, or a crash of the operating system, can lose what was accepted in the last second or two and not sent:
  `put` does not wait for the disk (`synchronous=NORMAL`). While turns wait, the thread that sends writes them through
  each second. The file stays whole.
- It is bounded. What was said is overwritten once the service has it, at the first pause of half a minute.
- It needs a local disk.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import sqlite3
import weakref
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from time import time
from typing import IO, Final

from afterturn_client.database import Busy, Connection
from afterturn_client.errors import AfterturnError, ConflictingTurn, SpoolFull, SpoolUnavailable
from afterturn_client.files import is_locked, locked, make, open_lock, try_lock, unlock
from afterturn_client.turns import Written

_FILE: Final = "spool.sqlite3"
_SENDING: Final = "sending.lock"
_PATIENCE_SECONDS: Final = 5.0
_LOOK_SECONDS: Final = 0.05
"""How long a look at another key's spool waits for whoever writes there."""
_TIDY_MS: Final = 10
_KNOWN_TURNS: Final = 10_000
"""How many turns back an id is known after it was sent, so that to enqueue it again changes nothing."""
_REJECTED: Final = 2
"""The state of a turn that will never be taken; 0 is that of one that waits, 1 of one that was sent."""
_SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS turns (
    place INTEGER PRIMARY KEY, user TEXT NOT NULL, turn_id TEXT NOT NULL, digest TEXT NOT NULL, state INTEGER NOT NULL,
    body BLOB NOT NULL, reason TEXT NOT NULL DEFAULT '', enqueued_at REAL, UNIQUE (user, turn_id)
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
_ENQUEUED_AT: Final = "ALTER TABLE turns ADD COLUMN enqueued_at REAL"
"""For a spool that an earlier version made, which goes on using it: such turns have none."""
_PUT: Final = """
INSERT INTO turns (user, turn_id, digest, state, body, enqueued_at)
SELECT :user, :turn_id, :digest, 0, :body, :now
WHERE (SELECT waiting + rejected < :max_turns AND bytes + :size <= :max_bytes FROM totals)
ON CONFLICT DO NOTHING
"""
_SAME: Final = "place = :position AND user = :user AND turn_id = :turn_id AND state = 0"
"""Not the place alone: that of a last turn that was dropped is given to the next that comes."""

_log = logging.getLogger("afterturn_client")


class Accepted(StrEnum):
    """Outcome of enqueueing a turn; whichever it is, it reaches the service once."""

    SPOOLED = "spooled"
    """It is on the disk and will be sent."""
    KNOWN = "known"
    """The same turn was enqueued before; nothing was changed."""


@dataclass(frozen=True)
class Spooled:
    """A turn that waits; `position` grows in the order in which turns came, `enqueued_at` is in seconds by this
    machine's clock, where it is known."""

    position: int
    user: str
    turn_id: str
    body: bytes
    enqueued_at: float | None = None

    def waited(self) -> float:
        """Return how many seconds it has waited, 0 where that is not known; less where the clock jumped back."""
        return 0.0 if self.enqueued_at is None else time() - self.enqueued_at


@dataclass(frozen=True)
class Rejected:
    """A turn that the service will never take, with the reason. To enqueue the same turn again tries it again."""

    turn_id: str
    reason: str
    body: bytes
    position: int


@dataclass(frozen=True)
class Depth:
    """How many turns wait, how many were rejected, and how many bytes both are."""

    waiting: int
    rejected: int
    bytes: int


class Spool:
    """The spool in a folder. Threads may share it; processes open one each, and none uses it across a fork.

    `put_seconds` is how long what is put waits for another process that writes.

    Raises:
        SpoolUnavailable: the folder cannot be written, or what lies there is no spool.
    """

    def __init__(self, folder: Path, *, max_turns: int, max_bytes: int, put_seconds: float = 0.05) -> None:
        self.folder = folder
        self._max_turns, self._max_bytes, self._put_seconds = max_turns, max_bytes, put_seconds
        # Whoever puts waits for nobody who sends or looks, but for a moment at the file.
        self._putter = Connection(folder / _FILE, put_seconds)
        self._user = Connection(folder / _FILE, _PATIENCE_SECONDS)
        self._held: IO[bytes] | None = None
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            # Two processes that make the file at once would refuse each other the change to a write-ahead log.
            with locked(folder / "open.lock", _PATIENCE_SECONDS):
                # Not opened: to close it would end the locks that SQLite holds elsewhere in this process.
                make(folder / _FILE)
                with self._user.alone(_PATIENCE_SECONDS) as db:
                    db.executescript(_SCHEMA)
                    if not db.execute("SELECT 1 FROM pragma_table_info('turns') WHERE name = 'enqueued_at'").fetchall():
                        db.execute(_ENQUEUED_AT)
                with self._putter.change(_PATIENCE_SECONDS) as db:
                    # The first write of a log waits for the disk: not that of a turn.
                    db.execute("UPDATE totals SET waiting = waiting")
        except (OSError, sqlite3.Error) as error:
            raise SpoolUnavailable(
                f"cannot keep a spool in {folder}: {error}. Give `spool_dir` a folder on a local disk that this "
                "process may write"
            ) from error
        _ALL.add(self)

    def put(self, turns: Sequence[Written]) -> list[Accepted | AfterturnError]:
        """Keep turns behind the others, all in one transaction, and say of each whether it was accepted.

        What it says is ConflictingTurn where its id was lately used for other content, SpoolFull where the spool holds
        as much as it may, and SpoolUnavailable of all where the file cannot be written, or not in time.
        """
        try:
            with _as_unavailable(self.folder), self._putter.change(self._put_seconds) as db:
                return [self._put(db, turn) for turn in turns]
        except SpoolUnavailable as error:
            return [error] * len(turns)

    def _put(self, db: sqlite3.Connection, turn: Written) -> Accepted | AfterturnError:
        values: dict[str, str | bytes | int | float] = {
            "now": time(),
            "user": turn.user,
            "turn_id": turn.turn_id,
            "digest": turn.digest,
            "dated_digest": hashlib.sha256(turn.body).hexdigest(),
            "body": turn.body,
            "size": len(turn.body),
            "max_turns": self._max_turns,
            "max_bytes": self._max_bytes,
        }
        if db.execute(_PUT, values).rowcount:
            return Accepted.SPOOLED
        known = "user = :user AND turn_id = :turn_id"
        # Versions of before counted when it was said, where that was given.
        row = db.execute(
            f"SELECT digest IN (:digest, :dated_digest), state FROM turns WHERE {known}", values
        ).fetchone()
        if row is not None and row[1] != _REJECTED:
            if row[0]:
                return Accepted.KNOWN
            return ConflictingTurn(f"{turn.turn_id!r} was enqueued with other content")
        if row is not None:
            db.execute(f"DELETE FROM turns WHERE {known}", values)
            if db.execute(_PUT, values).rowcount:
                return Accepted.SPOOLED
        depth = _depth(db)
        return SpoolFull(
            f"the spool in {self.folder} is full: {depth.waiting:,} turns wait for the service, "
            f"{depth.rejected:,} were rejected (drop_rejected), "
            f"{depth.bytes:,} bytes (spool_max_turns, spool_max_bytes)"
        )

    def depth(self) -> Depth:
        """Return how much lies in it."""
        with _as_unavailable(self.folder), self._user.alone(_PATIENCE_SECONDS) as db:
            return _depth(db)

    def oldest(self, limit: int, *, without: Collection[str] = ()) -> list[Spooled]:
        """Return up to `limit` of the turns that wait, in their order, leaving out those of some users.

        A row that cannot be read is put aside, as rejected.
        """
        with _as_unavailable(self.folder), self._user.alone(_PATIENCE_SECONDS) as db:
            while True:
                # Cast: text that is not UTF-8 would raise over all rows, and leave the statement open.
                rows = db.execute(
                    "SELECT place, CAST(user AS BLOB), CAST(turn_id AS BLOB), body, enqueued_at FROM turns "
                    "WHERE state = 0 AND user NOT IN (SELECT value FROM json_each(?)) ORDER BY place LIMIT ?",
                    (json.dumps(list(without)), limit),
                ).fetchall()
                turns = [turn for row in rows if (turn := _spooled(*row)) is not None]
                if len(turns) == len(rows):
                    return turns
                unreadable = {row[0] for row in rows} - {turn.position for turn in turns}
                _log.error("%d turns in %s cannot be read and were put aside", len(unreadable), self.folder)
                db.executemany(
                    "UPDATE turns SET state = 2, reason = 'the row cannot be read' WHERE place = ? AND state = 0",
                    [(place,) for place in unreadable],
                )

    def sent(self, turns: Sequence[Spooled]) -> None:
        """Drop what was said in turns that the service has; their ids stay known for a while."""
        with _as_unavailable(self.folder), self._user.change(_PATIENCE_SECONDS) as db:
            db.executemany(f"UPDATE turns SET state = 1, body = x'' WHERE {_SAME}", [vars(turn) for turn in turns])
            [last] = db.execute("SELECT coalesce(max(place), 0) FROM turns").fetchone()
            db.execute("DELETE FROM turns WHERE state = 1 AND place <= ?", (last - _KNOWN_TURNS,))

    def reject(self, turn: Spooled, reason: str) -> None:
        """Put a turn aside that the service will never take."""
        with _as_unavailable(self.folder), self._user.change(_PATIENCE_SECONDS) as db:
            db.execute(f"UPDATE turns SET state = 2, reason = :reason WHERE {_SAME}", {**vars(turn), "reason": reason})

    def rejected(self, limit: int) -> list[Rejected]:
        """Return up to `limit` rejected turns, oldest first."""
        with _as_unavailable(self.folder), self._user.alone(_PATIENCE_SECONDS) as db:
            rows = db.execute(
                "SELECT CAST(turn_id AS BLOB), CAST(reason AS BLOB), CAST(body AS BLOB), place FROM turns "
                "WHERE state = 2 ORDER BY place LIMIT ?",
                (limit,),
            ).fetchall()
        return [
            Rejected(turn_id.decode(errors="replace"), reason.decode(errors="replace"), body, place)
            for turn_id, reason, body, place in rows
        ]

    def drop_rejected(self, turns: Iterable[Rejected]) -> int:
        """Drop rejected turns, with what was said in them, and return how many were still there."""
        drop = "DELETE FROM turns WHERE place = :position AND state = 2 AND CAST(body AS BLOB) = :body"
        with _as_unavailable(self.folder), self._user.change(_PATIENCE_SECONDS) as db:
            return sum(db.execute(drop, vars(turn)).rowcount for turn in turns)

    def last(self) -> int:
        """Return the position of the last turn that was put."""
        with _as_unavailable(self.folder), self._user.alone(_PATIENCE_SECONDS) as db:
            [last] = db.execute("SELECT coalesce(max(place), 0) FROM turns").fetchone()
            return int(last)

    def drop_user(self, user: str, last: int) -> int:
        """Drop the turns of a user that wait or were rejected, up to a position, and return how many."""
        drop = "DELETE FROM turns WHERE user = ? AND state IN (0, 2) AND place <= ?"
        with _as_unavailable(self.folder), self._user.change(_PATIENCE_SECONDS) as db:
            return db.execute(drop, (user, last)).rowcount

    def write_through(self) -> None:
        """Write the log through to the file; to be called by a thread that may wait for the disk."""
        # Passive: to cut the log short, SQLite would wait for the disk while writers wait for SQLite.
        with _as_unavailable(self.folder), self._user.alone(_PATIENCE_SECONDS) as db:
            db.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()

    def tidy(self) -> bool:
        """Cut the log short, with what was said in it; False if others use it just now."""
        with _as_unavailable(self.folder), self._user.alone(_PATIENCE_SECONDS) as db:
            # While this waits for readers, writers wait for this.
            db.execute(f"PRAGMA busy_timeout = {_TIDY_MS}").fetchall()
            try:
                [is_busy, *_] = db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
                # The first write of a log waits for the disk: not that of a turn.
                db.execute("UPDATE totals SET waiting = waiting")
            finally:
                db.execute(f"PRAGMA busy_timeout = {_PATIENCE_SECONDS * 1000:.0f}").fetchall()
            return not is_busy

    def log_bytes(self) -> int:
        """Return how long the log has grown."""
        try:
            return (self.folder / f"{_FILE}-wal").stat().st_size
        except FileNotFoundError:
            return 0

    @contextmanager
    def sending(self) -> Iterator[bool]:
        """Make this block the only one on the machine that sends, or yield False; the lock ends with its process."""
        with _as_unavailable(self.folder):
            lock = open_lock(self.folder / _SENDING)
        with lock:
            if not try_lock(lock):
                yield False
                return
            self._held = lock
            try:
                yield True
            finally:
                self._held = None
                unlock(lock)

    def close(self) -> None:
        """Close the file; what lies in it stays."""
        self._putter.close()
        self._user.close()

    def _leave_to_parent(self) -> None:
        if self._held is not None:
            self._held.close()


_ALL: Final[weakref.WeakSet[Spool]] = weakref.WeakSet()


@contextmanager
def _as_unavailable(folder: Path) -> Iterator[None]:
    try:
        yield
    except (OSError, sqlite3.Error, Busy) as error:
        raise SpoolUnavailable(f"the spool in {folder} cannot be used: {error}") from error


def left_waiting(folder: Path) -> int:
    """Return how many turns wait in a folder from which nobody sends just now, and change nothing there.

    Raises:
        SpoolUnavailable: it cannot be read.
    """
    file = (folder / _FILE).absolute()
    with _as_unavailable(folder):
        if not file.is_file() or is_locked(folder / _SENDING):
            return 0
        uri = f"{file.as_uri()}?mode=rw"
        with closing(sqlite3.connect(uri, uri=True, timeout=_LOOK_SECONDS)) as db:
            [waiting] = db.execute("SELECT coalesce(max(waiting), 0) FROM totals").fetchone()
            return int(waiting)


def _in_child() -> None:
    for spool in list(_ALL):
        spool._leave_to_parent()


os.register_at_fork(after_in_child=_in_child)


def _spooled(place: int, user: bytes, turn_id: bytes, body: object, enqueued_at: object) -> Spooled | None:
    since = enqueued_at if isinstance(enqueued_at, float) else None
    try:
        return Spooled(place, user.decode(), turn_id.decode(), body, since) if isinstance(body, bytes) else None
    except UnicodeDecodeError:
        return None


def _depth(db: sqlite3.Connection) -> Depth:
    return Depth(*db.execute("SELECT waiting, rejected, bytes FROM totals").fetchone())
