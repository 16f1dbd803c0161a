"""What the embedded index promises beside the contract: its failures, its memory and its files."""

from __future__ import annotations

import gc
import multiprocessing
import os
import resource
import sqlite3
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from itertools import count
from pathlib import Path

import numpy as np
import pytest

from schema import Subject, Thresholds
from schema.errors import IndexUnavailable, exit_code_of
from schema.settings import Settings
from stores.embedding.base import Embedder
from stores.index import open_index
from stores.index.base import Vector, Where
from stores.index.snapshot import Snapshot
from stores.index.sqlite import SqliteIndex
from tests.contract.indexes import ANA, BEN, DIMENSIONS, MODEL, entry, numbers, unit, units, until


def opened(folder: Path, cache_bytes: int = 2**20) -> SqliteIndex:
    index = SqliteIndex(folder, cache_bytes)
    index.ensure(DIMENSIONS, "cosine", MODEL)
    return index


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "index"


class _NamedEmbedder:
    name = MODEL
    dimensions = DIMENSIONS
    thresholds = Thresholds(
        semantic_auto_update=0.9, semantic_check_low=0.8, episodic_auto_update=0.9, episodic_check_low=0.8
    )

    def embed(self, texts: Sequence[str]) -> Vector:
        return np.stack([unit(1) for _ in texts])


def test_the_settings_open_the_embedded_index_in_the_data_folder(tmp_path: Path) -> None:
    embedder: Embedder = _NamedEmbedder()
    index = open_index(Settings(data_dir=tmp_path / "new" / "data"), embedder)
    index.upsert([entry(number=1)])
    index.close()

    again = opened(tmp_path / "new" / "data" / "index")
    assert again.count() == 1
    again.close()


def test_a_folder_that_cannot_be_made_is_named_with_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder")

    with pytest.raises(IndexUnavailable, match=r"file/index: .*write to"):
        SqliteIndex(tmp_path / "file" / "index").ensure(DIMENSIONS, "cosine", MODEL)


def test_a_damaged_file_is_named_with_what_to_do(folder: Path) -> None:
    opened(folder).close()
    damaged = sorted(folder.glob("*.sqlite3"))[3]
    damaged.write_bytes(b"this is no database" * 1000)

    with pytest.raises(IndexUnavailable, match=rf"{damaged.name}: .*move the index folder away"):
        opened(folder)


@contextmanager
def _no_file_larger_than(size: int) -> Iterator[None]:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_a_disk_that_takes_no_more_is_said_and_nothing_is_half_written(folder: Path) -> None:
    index = opened(folder)
    index.upsert([entry(number=1)])
    many = [entry(number=n, vector=v) for n, v in enumerate(units(5_000))]

    with _no_file_larger_than(256 * 1024), pytest.raises(IndexUnavailable, match="disk"):
        index.upsert(many)

    assert index.count() == 1
    index.upsert(many)
    assert index.count() == 5_000
    index.close()


def test_a_subject_larger_than_the_cache_is_ranked_as_any_other(folder: Path) -> None:
    small = opened(folder, cache_bytes=1_000)
    vectors = units(9_000)
    small.upsert([entry(number=n, vector=v) for n, v in enumerate(vectors)])
    large = opened(folder, cache_bytes=2**30)

    assert small.query(vectors[17], Where(ANA), 30) == large.query(vectors[17], Where(ANA), 30)
    small.close()
    large.close()


def _snapshots() -> dict[int, Snapshot]:
    """Return the snapshots that anybody in this process has, by their addresses."""
    gc.collect()
    return {id(thing): thing for thing in gc.get_objects() if isinstance(thing, Snapshot)}


@pytest.mark.long
def test_subjects_leave_memory_when_it_is_full_and_are_still_found(folder: Path) -> None:
    of_others = _snapshots()
    index = opened(folder, cache_bytes=2_000)
    subjects = [Subject(tenant_id="acme", subject_id=str(n)) for n in range(20)]
    index.upsert([entry(s, number=n) for n, s in enumerate(subjects)])

    for _ in range(2):
        for number, subject in enumerate(subjects):
            assert numbers(index.query(unit(1), Where(subject), 1)) == [number]

    in_memory = [snapshot for address, snapshot in _snapshots().items() if address not in of_others]
    assert 1 <= len(in_memory) <= 2_000 // (4 * DIMENSIONS)
    assert sum(held.size for held in in_memory) <= 2_000
    index.close()


@pytest.mark.parametrize("drift", [0, -1_000])
def test_a_clock_that_stands_or_goes_back_hides_no_write(
    folder: Path, monkeypatch: pytest.MonkeyPatch, drift: int
) -> None:
    ticks = count(10**18, drift)
    monkeypatch.setattr("time.time_ns", lambda: next(ticks))
    writer, reader = opened(folder), opened(folder)

    for number in range(1, 6):
        writer.upsert([entry(number=number), entry(number=number + 100)])
        assert len(reader.query(unit(1), Where(ANA), 20)) == number + 1
        writer.delete(ANA, [uuid.UUID(int=number + 100)])
        assert numbers(reader.query(unit(1), Where(ANA), 20)) == list(range(1, number + 1))
    writer.close()
    reader.close()


def test_no_trace_of_a_deleted_entry_is_left_in_the_file(folder: Path) -> None:
    index = opened(folder)
    index.upsert([replace(entry(number=1), tags=("indelible-ink",)), entry(BEN, number=2)])
    index.delete(ANA, [uuid.UUID(int=1)])
    index.close()

    left = b"".join(path.read_bytes() for path in folder.iterdir())
    assert b"indelible-ink" not in left
    assert ANA.key.encode() not in left
    assert BEN.key.encode() in left


def _holds(folder: Path, words: bytes) -> bool:
    return any(words in path.read_bytes() for path in folder.iterdir())


def test_no_trace_of_a_deleted_entry_is_left_in_the_log_while_processes_have_the_files_open(folder: Path) -> None:
    index, other = opened(folder), opened(folder)
    index.upsert([replace(entry(number=1), tags=("indelible-ink",)), entry(BEN, number=2)])
    assert len(other.query(unit(1), Where(ANA), 5)) == 1
    index.delete(ANA, [uuid.UUID(int=1)])

    assert not _holds(folder, b"indelible-ink")
    assert not _holds(folder, ANA.key.encode())
    assert _holds(folder, BEN.key.encode())
    index.close()
    other.close()


def test_an_index_that_is_read_all_the_while_says_that_its_log_still_has_what_was_deleted(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("stores.index.shard._TRACE_SECONDS", 0.05)
    index = opened(folder)
    index.upsert([replace(entry(number=1), tags=("indelible-ink",))])
    [file] = [path.with_name(path.name.removesuffix("-wal")) for path in folder.iterdir() if ANA.key in _text(path)]
    reader = sqlite3.connect(file, isolation_level=None)
    reader.execute("BEGIN")
    assert reader.execute("SELECT COUNT(*) FROM entries").fetchone() == (1,)
    index.delete(ANA, [uuid.UUID(int=1)])

    assert index.leave_no_trace(ANA) is False
    assert _holds(folder, b"indelible-ink")
    reader.execute("ROLLBACK")
    assert index.leave_no_trace(ANA) is True
    assert not _holds(folder, b"indelible-ink")
    reader.close()
    index.close()


def _text(path: Path) -> str:
    return path.read_bytes().decode("latin-1")


def _write_without_end(folder: Path, first: int) -> None:
    """Runs in a process of its own until it is killed."""
    index = opened(folder)
    for number in count(first):
        subject = Subject(tenant_id="acme", subject_id=str(number % 20))
        index.upsert([entry(subject, number=number + n) for n in range(5)])
        index.delete(subject, [uuid.UUID(int=number)])


def test_writers_that_are_killed_leave_every_file_whole_and_the_count_true(folder: Path) -> None:
    index = opened(folder)
    spawn = multiprocessing.get_context("spawn")
    writers = [spawn.Process(target=_write_without_end, args=(folder, n * 10**6), daemon=True) for n in (1, 2)]
    for writer in writers:
        writer.start()
    until(lambda: index.count() >= 400)
    for writer in writers:
        writer.kill()
        writer.join()

    index.upsert([entry(number=1)])
    assert numbers(index.query(unit(1), Where(ANA), 1)) == [1]
    index.close()
    for path in folder.glob("*.sqlite3"):
        connection = sqlite3.connect(path)
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        counted = dict(connection.execute("SELECT subject, COUNT(*) FROM entries GROUP BY subject"))
        assert dict(connection.execute("SELECT subject, entries FROM subjects")) == counted
        connection.close()


def test_files_that_an_older_afterturn_made_are_read_and_written(folder: Path) -> None:
    index = opened(folder)
    index.upsert([entry(number=1)])
    index.close()
    for path in folder.glob("*.sqlite3"):
        connection = sqlite3.connect(path)
        connection.execute("ALTER TABLE entries DROP COLUMN version")
        connection.commit()
        connection.close()

    index = opened(folder)
    assert [hit.version for hit in index.query(unit(1), Where(ANA), 5)] == [0]
    index.upsert([replace(entry(number=1), version=2)])
    assert [hit.version for hit in index.query(unit(1), Where(ANA), 5)] == [2]
    index.close()


def test_where_no_more_files_can_be_opened_it_says_so_and_may_be_tried_again(folder: Path) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    held = [os.dup(0)]
    most = held[0] + 64
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
    try:
        with suppress(OSError):
            while True:
                held.append(os.dup(0))
        for number in held[-4:]:
            os.close(number)
        with pytest.raises(IndexUnavailable, match=f"process may have {most}: raise that") as refused:
            opened(folder)
    finally:
        for number in held[:-4]:
            os.close(number)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert exit_code_of(refused.value) == 1
