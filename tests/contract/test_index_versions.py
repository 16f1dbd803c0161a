"""Who hangs on the way to the index for longer than a lease, wakes, tells it what was so before, and dies: on every
kind of index, nothing that was erased or superseded comes back for good."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import tests.contract.test_index_races as races
from memory.agreement import disagreements, look_at_watched, queue_again
from memory.indexing import index as tell
from memory.indexing import index_all
from schema import Memory, Status
from stores.index.base import Entry, Family, Index, Where
from tests.contract.indexes import ANA, BEN, COMPARING, entry, opened, unit
from tests.contract.pipeline import Worker


class Late:
    """An index whose first write hangs on the way until `meanwhile` is over; who waited for it is dead then."""

    def __init__(self, index: Index, meanwhile: Callable[[], None]) -> None:
        self._index, self._meanwhile = index, meanwhile

    def __getattr__(self, name: str) -> Any:
        return getattr(self._index, name)

    def upsert(self, entries: Sequence[Entry]) -> list[Entry]:
        self._meanwhile()
        self._index.upsert(entries)
        raise races.Killed


@pytest.fixture
def at(worker: Worker, adapter: str, folder: Path) -> Iterator[Worker]:
    """The worker, on an index of this kind."""
    embedder = worker.context.embedder
    with closing(opened(adapter, folder, embedder.dimensions, embedder.name)) as index:
        yield worker.with_parts(index=index)


def held(memory: Memory, worker: Worker) -> list[Status]:
    return [one.status for one in worker.context.index.fetch(memory.subject, [memory.index_key])]


@pytest.mark.parametrize("change", [races.erase, races.erase_all, races.replace])
def test_what_a_dead_process_told_the_index_after_all_others_is_put_right(
    at: Worker, anna: str, change: races.Change
) -> None:
    memory = races.untold(at, anna)

    def meanwhile() -> None:
        races.sweep_later(memory, at)
        change(memory, at)
        races.sweep_later(memory, at)
        assert at.context.catalog.index_jobs(memory.subject) == []

    with pytest.raises(races.Killed):
        tell(
            at.context.catalog.index_jobs(memory.subject),
            at.with_parts(index=Late(at.context.index, meanwhile)).context,
        )
    look_at_watched(at.context, datetime.now(UTC) + timedelta(minutes=2), limit=100)
    index_all(memory.subject, at.context)
    races.assert_agreed(memory, at)


def test_where_an_index_can_compare_an_older_version_does_not_take_the_place_of_a_newer(
    adapter: str, folder: Path
) -> None:
    with closing(opened(adapter, folder)) as index:
        assert index.upsert([replace(entry(number=1, vector=unit(0, 1)), version=3), entry(number=2)]) == []
        older = [replace(entry(number=n), version=2, status=Status.SUPERSEDED) for n in (1, 2, 3)]
        kept_out = index.upsert([*older, replace(older[0], subject=BEN)])
        assert index.upsert([replace(entry(number=2), version=2)]) == []

        hits = index.query(unit(1), Where(ANA, statuses=()), 5)

    is_comparing = adapter in COMPARING
    assert {hit.key.int: hit.version for hit in hits} == {1: 3 if is_comparing else 2, 2: 2, 3: 2}
    assert kept_out == older[:1] * is_comparing


def known_ahead(at: Worker, user: str) -> Memory:
    """A memory of a catalog that was restored from a backup: the index knows what became of it since."""
    memory = races.untold(at, user)
    tell(at.context.catalog.index_jobs(memory.subject), at.context)
    [vector] = at.context.embedder.embed([memory.summary])
    ahead = memory.model_copy(update={"version": memory.version + 4, "status": Status.ARCHIVED})
    at.context.index.upsert([Entry.of(ahead, vector)])
    return memory


def test_an_index_that_is_ahead_of_a_catalog_that_was_restored_is_put_back(at: Worker, anna: str) -> None:
    memory = known_ahead(at, anna)

    queue_again(disagreements(Family.MEMORIES, memory.subject, at.context), at.context, datetime.now(UTC))
    index_all(memory.subject, at.context)

    assert held(memory, at) == [Status.ACTIVE]
    races.assert_agreed(memory, at)


def test_what_is_changed_where_an_index_is_ahead_of_a_restored_catalog_is_found_as_it_is(at: Worker, anna: str) -> None:
    memory = known_ahead(at, anna)

    races.replace(memory, at)

    assert held(memory, at) == [Status.SUPERSEDED]
    races.sweep_later(memory, at)
    races.assert_agreed(memory, at)


def test_who_dies_where_an_index_is_ahead_of_a_restored_catalog_leaves_a_job_that_puts_it_right(
    at: Worker, anna: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = known_ahead(at, anna)

    def dies(*_: object) -> None:
        raise races.Killed

    with monkeypatch.context() as deadly:
        deadly.setattr("memory.publish.index", dies)
        with pytest.raises(races.Killed):
            races.replace(memory, at)

    races.sweep_later(memory, at)
    races.assert_agreed(memory, at)
