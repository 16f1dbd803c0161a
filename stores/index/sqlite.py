"""The embedded index: SQLite files that hold vectors, scanned exactly with numpy."""

from __future__ import annotations

import fcntl
import hashlib
import json
import sqlite3
import time
import uuid
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from threading import Lock

import numpy as np
from threadpoolctl import threadpool_limits

from schema import Kind, MemoryType, Status, Subject, Visibility
from schema.errors import IndexRefused
from schema.health import HealthCheck, failed, fine
from stores.index.base import Entry, Hit, Metric, Vector, Where
from stores.index.checks import batched, checked, checked_limit, must_be_ready, refuse_another
from stores.index.shard import Shard
from stores.index.snapshot import LABELS, Block, Row, Snapshot, first_of, microseconds, moment, size_of
from stores.lru import ByteLRU
from stores.private_files import make_private, tighten

SHARDS = 16
"""Files that subjects are spread over. Measured with 4 processes that write: 1,555 commits/s with 16 files, 300 with
one, which also stalls for up to 11 s."""
CACHE_BYTES = 256 * 1024 * 1024

_LAYOUT = "1"
_ROWS_AT_A_TIME = 8192
_KEYS_AT_A_TIME = 500
_COLUMNS = f"key, memory_id, {', '.join(LABELS)}, created_at, tags, vector, version"
_VALUES = ("memory_id", *LABELS, "created_at", "tags", "vector", "version")
_UPSERT = f"""
INSERT INTO entries (subject, key, {", ".join(_VALUES)}, changed) VALUES (?, ?, {", ".join("?" * len(_VALUES))}, ?)
ON CONFLICT (subject, key) DO UPDATE SET {", ".join(f"{name} = excluded.{name}" for name in _VALUES)},
    changed = excluded.changed
WHERE excluded.version >= version
    AND ({", ".join(_VALUES)}) IS NOT ({", ".join(f"excluded.{name}" for name in _VALUES)})
"""


class SqliteIndex:
    """An index in a folder of this machine, for any number of threads and processes.

    A query compares every entry of its subject. Subjects that were queried stay in memory (least recently used
    first out), and a change mark in the file tells at each query whether another process wrote since: then only
    what changed is read again.
    """

    def __init__(self, folder: Path, cache_bytes: int = CACHE_BYTES) -> None:
        self.folder = folder
        self._shards = [Shard(folder / f"{number:02}.sqlite3") for number in range(SHARDS)]
        # What is in it is checked against the file at each use, so it may be behind but never wrong.
        self._cache: ByteLRU[str, Snapshot] = ByteLRU(cache_bytes)
        self._dimensions = 0
        self._made_for: tuple[int, Metric, str] | None = None
        self._reopening = Lock()

    def ensure(self, dimensions: int, metric: Metric, model: str) -> None:
        """Make the folder and its files, or check what they were made for.

        Raises:
            IndexMismatch: they were made for other dimensions, another metric or another model.
            IndexUnavailable: the folder cannot be made or written.
        """
        # A query multiplies a matrix with one vector, and waits for memory. On a busy machine two threads, of which one
        # waits for the other by spinning, took 26 ms by the clock and 6.4 of CPU for what one did in 0.6.
        threadpool_limits(limits=1, user_api="blas")
        required = {"dimensions": str(dimensions), "layout": _LAYOUT, "metric": metric, "model": model}
        try:
            make_private(self.folder)
            tighten(self.folder)
            lock = (self.folder / "lock").open("w")
        except OSError as error:
            raise IndexRefused(
                f"{self.folder}: {error.strerror}; the folder must be one that the user of this process can write to"
            ) from error
        with lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            for shard in self._shards:
                shard.create()
                with shard.write() as connection:
                    connection.executemany("INSERT OR IGNORE INTO meta VALUES (?, ?)", required.items())
                    made_for: dict[str, str] = dict(connection.execute("SELECT name, value FROM meta"))
                refuse_another(f"the index in {self.folder}", made_for, required)
        self._dimensions = dimensions
        self._made_for = (dimensions, metric, model)

    def upsert(self, entries: Sequence[Entry]) -> list[Entry]:
        """Write as any index does, in one transaction a file and subject."""
        kept_out: list[Entry] = []
        for subject, of_subject in groupby(sorted(entries, key=_subject_key), key=_subject_key):
            written = [(entry, self._stored(entry)) for entry in of_subject]
            with self._shard(subject).write() as connection:
                there = _write(connection, subject, [row for _, row in written])
            kept_out += [entry for entry, row in written if there.get(row.key, 0) > row.version]
        return kept_out

    def query(self, vector: Vector, where: Where, limit: int) -> list[Hit]:
        checked_limit(limit)
        unit_vector = checked(vector, self._dimensions)
        subject = where.subject.key
        snapshot = self._cache.get(subject)
        with self._shard(subject).read() as connection:
            mark = connection.execute(
                "SELECT changed, removed, entries FROM subjects WHERE subject = ?", (subject,)
            ).fetchone()
            if mark is None:
                self._cache.drop(subject)
                return []
            changed, removed, count = mark
            if size_of(count, self._dimensions) > self._cache.capacity:
                blocks = (Block.of(rows, self._dimensions, {}) for rows in _batches(connection, subject))
                return first_of((hit for part in blocks for hit in part.nearest(unit_vector, where, limit)), limit)
            if snapshot is None or snapshot.changed != changed:
                snapshot = self._read(connection, subject, snapshot, changed, removed)
                self._cache.put(subject, snapshot)
        return snapshot.nearest(unit_vector, where, limit)

    def _read(
        self, connection: sqlite3.Connection, subject: str, snapshot: Snapshot | None, changed: int, removed: int
    ) -> Snapshot:
        if snapshot is not None and removed <= snapshot.changed < changed:
            written = _rows(connection, "subject = ? AND changed > ?", (subject, snapshot.changed))
            return snapshot.with_rows(list(written), changed)
        return Snapshot.of(list(_rows(connection, "subject = ?", (subject,))), self._dimensions, changed)

    def fetch(self, subject: Subject, keys: Sequence[uuid.UUID]) -> list[Entry]:
        entries: list[Entry] = []
        with self._shard(subject.key).read() as connection:
            for batch, marks in _in_parts(keys):
                rows = _rows(connection, f"subject = ? AND key IN ({marks})", (subject.key, *batch))
                entries.extend(_entry(subject, row) for row in rows)
        return entries

    def versions(self, subject: Subject, keys: Sequence[uuid.UUID]) -> dict[uuid.UUID, int]:
        with self._shard(subject.key).read() as connection:
            there = _versions(connection, subject.key, [key.bytes for key in keys])
        return {uuid.UUID(bytes=key): version for key, version in there.items()}

    def delete(self, subject: Subject, keys: Sequence[uuid.UUID]) -> None:
        shard = self._shard(subject.key)
        with shard.write() as connection:
            removed = sum(
                connection.execute(
                    f"DELETE FROM entries WHERE subject = ? AND key IN ({marks})", (subject.key, *batch)
                ).rowcount
                for batch, marks in _in_parts(keys)
            )
            if removed:
                mark = _next_mark(connection, subject.key)
                connection.execute(
                    "UPDATE subjects SET changed = ?, removed = ?, entries = entries - ? WHERE subject = ?",
                    (mark, mark, removed, subject.key),
                )
                connection.execute("DELETE FROM subjects WHERE subject = ? AND entries = 0", (subject.key,))
        if removed:
            shard.leave_no_trace()

    def leave_no_trace(self, subject: Subject) -> bool:
        """Take what was deleted of a subject out of its file's write-ahead log too, and return whether it is."""
        return self._shard(subject.key).leave_no_trace()

    def count(self) -> int:
        total = 0
        self._make_lost_files()
        for shard in self._shards:
            with shard.read() as connection:
                total += connection.execute("SELECT COALESCE(SUM(entries), 0) FROM subjects").fetchone()[0]
        return total

    def check_health(self) -> Iterator[HealthCheck]:
        """Check whether the vectors in the files are as wide as the files say, and what there is of them.

        Raises:
            IndexUnavailable: a file cannot be read.
        """
        self._make_lost_files()
        size = sum(path.stat().st_size for path in self.folder.glob("*.sqlite3*"))
        for shard in self._shards:
            with shard.read() as connection:
                wide = connection.execute("SELECT length(vector) FROM entries LIMIT 1").fetchone()
            if wide is not None and wide[0] != 4 * self._dimensions:
                yield failed(
                    "index vectors",
                    f"{shard.path} holds vectors of {wide[0] // 4} numbers, and says {self._dimensions}",
                    "stop every process, move the index folder away and run `afterturn reindex`",
                )
                return
        yield fine("index vectors", f"{self.count()} of {self._dimensions} numbers, {size / 1e6:.1f} MB, exact search")

    def close(self) -> None:
        """Wait for what is under way and close the files."""
        for shard in self._shards:
            shard.close()

    def _shard(self, subject: str) -> Shard:
        must_be_ready(self._dimensions)
        shard = self._shards[hashlib.sha256(subject.encode()).digest()[0] % SHARDS]
        if shard.is_gone:
            self._make_lost_files()
        return shard

    def _make_lost_files(self) -> None:
        """Make files anew that were deleted, and leave the old ones: the fleet tells the index again what was in them.

        Raises:
            IndexMismatch: others lie there, made for something else.
            IndexUnavailable: they cannot be made.
        """
        if self._made_for is None or not any(shard.is_gone for shard in self._shards):
            return
        with self._reopening:
            gone = [shard for shard in self._shards if shard.is_gone]
            for shard in gone:
                shard.close()
            if gone:
                self.ensure(*self._made_for)
                # What was read of the old files may be newer than what the new ones have.
                self._cache = ByteLRU(self._cache.capacity)

    def _stored(self, entry: Entry) -> Row:
        return Row(
            key=entry.key.bytes,
            memory_id=entry.memory_id.bytes,
            labels=tuple(getattr(entry, name) for name in LABELS),
            created_at=microseconds(entry.created_at),
            tags=json.dumps(entry.tags, ensure_ascii=False),
            vector=checked(entry.vector, self._dimensions).astype("<f4").tobytes(),
            version=entry.version,
        )


def _next_mark(connection: sqlite3.Connection, subject: str) -> int:
    """Return a mark that the subject has never had: the clock, or one more than the last where the clock stands or went
    back. It only rises while the subject has entries; without any, its row goes, so that nothing is left of it."""
    last = connection.execute("SELECT changed FROM subjects WHERE subject = ?", (subject,)).fetchone()
    return max(time.time_ns(), last[0] + 1 if last else 0)


def _subject_key(entry: Entry) -> str:
    return entry.subject.key


def _write(connection: sqlite3.Connection, subject: str, rows: Sequence[Row]) -> dict[bytes, int]:
    """Write rows of a subject, and return the versions that were there, by key."""
    mark = _next_mark(connection, subject)
    keys = list({row.key for row in rows})
    there = _versions(connection, subject, keys)
    written = connection.executemany(
        _UPSERT,
        [(subject, r.key, r.memory_id, *r.labels, r.created_at, r.tags, r.vector, r.version, mark) for r in rows],
    ).rowcount
    if written:
        connection.execute(
            "INSERT INTO subjects (subject, changed, removed, entries) VALUES (?1, ?2, ?2, ?3)"
            " ON CONFLICT (subject) DO UPDATE SET changed = ?2, entries = entries + ?3",
            (subject, mark, len(keys) - len(there)),
        )
    return there


def _versions(connection: sqlite3.Connection, subject: str, keys: Sequence[bytes]) -> dict[bytes, int]:
    there: dict[bytes, int] = {}
    for batch in batched(keys, _KEYS_AT_A_TIME):
        marks = ", ".join("?" * len(batch))
        there |= connection.execute(
            f"SELECT key, version FROM entries WHERE subject = ? AND key IN ({marks})", (subject, *batch)
        ).fetchall()
    return there


def _rows(connection: sqlite3.Connection, condition: str, values: Sequence[str | int | bytes]) -> Iterator[Row]:
    for key, memory_id, *labels, created_at, tags, vector, version in connection.execute(
        f"SELECT {_COLUMNS} FROM entries WHERE {condition}", values
    ):
        yield Row(key, memory_id, tuple(labels), created_at, tags, vector, version)


def _batches(connection: sqlite3.Connection, subject: str) -> Iterator[list[Row]]:
    after = b""
    while rows := list(
        _rows(connection, f"subject = ? AND key > ? ORDER BY key LIMIT {_ROWS_AT_A_TIME}", (subject, after))
    ):
        yield rows
        after = rows[-1].key


def _in_parts(keys: Sequence[uuid.UUID]) -> Iterator[tuple[list[bytes], str]]:
    for batch in batched(keys, _KEYS_AT_A_TIME):
        yield [key.bytes for key in batch], ", ".join("?" * len(batch))


def _entry(subject: Subject, row: Row) -> Entry:
    labels = dict(zip(LABELS, row.labels, strict=True))
    return Entry(
        key=uuid.UUID(bytes=row.key),
        memory_id=uuid.UUID(bytes=row.memory_id),
        subject=subject,
        vector=np.frombuffer(row.vector, dtype="<f4").astype(np.float32),
        type=MemoryType(str(labels["type"])),
        kind=Kind(str(labels["kind"])),
        category=str(labels["category"]),
        status=Status(str(labels["status"])),
        visibility=Visibility(str(labels["visibility"])),
        created_at=moment(row.created_at),
        author_id=labels["author_id"],
        agent_id=labels["agent_id"],
        tags=tuple(json.loads(row.tags)),
        version=row.version,
    )
