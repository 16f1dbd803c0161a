"""What every index promises to threads and processes that use it at once, and after it was opened again."""

from __future__ import annotations

import multiprocessing
import uuid
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from schema import Subject
from stores.index.base import Index, Where
from tests.contract.indexes import ANA, BEN, STAND_INS, entry, numbers, opened, unit, until


def test_what_was_written_is_there_after_reopening(adapter: str, folder: Path) -> None:
    index = opened(adapter, folder)
    index.upsert([entry(number=1)])
    index.close()

    index = opened(adapter, folder)
    assert numbers(index.query(unit(1), Where(ANA), 10)) == [1]
    index.close()


def test_another_handle_sees_a_write_and_a_delete_at_once(index: Index, another: Index) -> None:
    index.upsert([entry(number=1)])
    assert numbers(another.query(unit(1), Where(ANA), 10)) == [1]

    index.upsert([entry(number=2)])
    assert numbers(another.query(unit(1), Where(ANA), 10)) == [1, 2]

    index.delete(ANA, [uuid.UUID(int=1)])
    assert numbers(another.query(unit(1), Where(ANA), 10)) == [2]

    another.upsert([replace(entry(number=2), tags=("late",))])
    assert numbers(index.query(unit(1), Where(ANA, tags=("late",)), 10)) == [2]


def _upsert_elsewhere(adapter: str, folder: Path, first: int, count: int, together: int) -> None:
    """Runs in a process of its own: waits until `together` processes are there, then writes one entry a call, half of
    them to one subject that all processes share."""
    index = opened(adapter, folder)
    if together > 1:
        index.upsert([entry(BEN, number=first)])
        until(lambda: len(index.query(unit(1), Where(BEN), together)) == together)
    for number in range(first, first + count):
        own = Subject(tenant_id="acme", subject_id=str(number % 40))
        index.upsert([entry(ANA if number % 2 else own, number=number)])
    index.close()


@pytest.fixture(scope="module")
def _processes(database_of_indexes: str) -> Iterator[Executor]:
    with ProcessPoolExecutor(3, mp_context=multiprocessing.get_context("spawn")) as pool:
        yield pool


@pytest.fixture
def processes(adapter: str, request: pytest.FixtureRequest) -> Iterator[Executor]:
    """Three of them; threads instead, each with a handle of its own, where these share nothing but a server."""
    if adapter not in STAND_INS:
        yield request.getfixturevalue("_processes")
        return
    with ThreadPoolExecutor(3) as pool:
        yield pool


def test_a_write_of_another_process_is_seen_when_it_returns(
    adapter: str, folder: Path, index: Index, processes: Executor
) -> None:
    index.upsert([entry(number=1)])
    assert numbers(index.query(unit(1), Where(ANA), 10)) == [1]

    processes.submit(_upsert_elsewhere, adapter, folder, 3, 1, 1).result()

    assert numbers(index.query(unit(1), Where(ANA), 10)) == [1, 3]


def test_processes_that_make_the_index_and_write_at_once_lose_nothing(
    adapter: str, folder: Path, processes: Executor
) -> None:
    each = 40 if adapter in STAND_INS else 200
    list(processes.map(_upsert_elsewhere, [adapter] * 3, [folder] * 3, [0, each, 2 * each], [each] * 3, [3] * 3))

    index = opened(adapter, folder)
    assert index.count() == 3 * each + 3
    assert numbers(index.query(unit(1), Where(ANA), 1_000)) == list(range(1, 3 * each, 2))
    index.close()


def _meet(folder: Path, me: int, together: int) -> None:
    folder.mkdir(exist_ok=True)
    (folder / f"ready-{me}").touch()
    until(lambda: len(list(folder.glob("ready-*"))) == together)


def _make_elsewhere(adapter: str, folders: Sequence[Path], me: int, together: int) -> None:
    """Runs in a process of its own: makes an index in each folder in the same moment as the others."""
    for folder in folders:
        _meet(folder, me, together)
        index = opened(adapter, folder / "index")
        index.upsert([entry(number=me)])
        index.close()


def test_processes_that_make_the_same_index_in_the_same_moment_all_get_it(
    adapter: str, tmp_path: Path, processes: Executor
) -> None:
    folders = [tmp_path / str(n) for n in range(3 if adapter in STAND_INS else 10)]

    list(processes.map(_make_elsewhere, [adapter] * 3, [folders] * 3, range(3), [3] * 3))

    for folder in folders:
        index = opened(adapter, folder / "index")
        assert index.count() == 3
        index.close()


def test_threads_that_write_and_read_at_once_lose_nothing(index: Index) -> None:
    def write_and_read(number: int) -> bool:
        index.upsert([entry(number=number)])
        return number in numbers(index.query(unit(1), Where(ANA), 1_000))

    with ThreadPoolExecutor(64) as pool:
        seen_by_their_writer = list(pool.map(write_and_read, range(100)))

    assert all(seen_by_their_writer)
    assert index.count() == 100
    assert numbers(index.query(unit(1), Where(ANA), 1_000)) == list(range(100))
