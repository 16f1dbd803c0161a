"""Several who tell the index of one memory at a time, and die or stall between reading and telling."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from memory.erasure.subjects import erase_subject
from memory.indexing import index
from memory.publish import publish
from policies.merge import supersede
from schema import Memory
from stores.catalog import Changes
from stores.index.base import Entry
from tests.contract.catalogs import a_memory
from tests.contract.pipeline import EVERYTHING, Worker, on_every_store
from tests.erasing import erase_memory
from tests.turns import subject
from worker.repair import index_left

pytest_generate_tests = on_every_store
NOW = datetime.now(UTC)
PATIENCE = timedelta(seconds=30)
Change = Callable[[Memory, Worker], None]


@dataclass
class Clock:
    """In the place of the module `time`."""

    now: float = 0.0

    def monotonic(self) -> float:
        return self.now


class Killed(BaseException):
    """The end of a process, at any point."""


def untold(worker: Worker, user: str) -> Memory:
    """A memory that nobody told the index of."""
    memory = a_memory("t1", subject(user))
    worker.context.catalog.commit(Changes(subject=memory.subject, at=NOW, created=(memory,)))
    worker.lose_index_jobs(memory.subject)
    return memory


def erase(memory: Memory, worker: Worker) -> None:
    assert erase_memory(memory.subject, memory.id, worker.context, by="dora", now=NOW).is_clean


def erase_all(memory: Memory, worker: Worker) -> None:
    assert erase_subject(memory.subject, worker.context, by="dora", now=NOW).is_clean


def replace(memory: Memory, worker: Worker) -> None:
    newer = a_memory("newer", memory.subject, "Porto")
    changes = Changes(subject=memory.subject, at=NOW, created=(newer,), updated=(supersede(memory, newer.id, NOW),))
    publish(changes, {}, worker.context)


def tell(memory: Memory, worker: Worker) -> None:
    """Another sweep, which comes to its end."""
    index(worker.context.catalog.index_jobs(memory.subject), worker.context)


def sweep_later(memory: Memory, worker: Worker) -> None:
    worker.lose_index_jobs(memory.subject)
    index(worker.context.catalog.index_jobs(memory.subject), worker.context)


def assert_agreed(memory: Memory, worker: Worker) -> None:
    known = {one.index_key: (one.status, one.version) for one in worker.known(memory.subject, *EVERYTHING)}
    held = worker.context.index.fetch(memory.subject, list({memory.index_key, *known}))
    assert {one.key: (one.status, one.version) for one in held} == known
    assert worker.context.catalog.index_jobs(memory.subject) == []


@pytest.mark.parametrize("changes", [(erase,), (erase_all,), (replace,), (replace, erase), (tell, erase_all)])
def test_whoever_tells_what_is_no_longer_so_and_dies_leaves_a_job_from_which_it_is_put_right(
    worker: Worker, anna: str, changes: tuple[Change, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = untold(worker, anna)
    passed: list[str] = []

    def hit(point: str) -> None:
        passed.append(point)
        if passed == ["before_index"]:
            for change in changes:
                change(worker.context.catalog.memory(memory.id) or memory, worker)
            passed.append("changed")
        elif passed[-2:] == ["changed", "after_index"]:
            raise Killed

    with monkeypatch.context() as deadly:
        deadly.setattr("memory.indexing.hit", hit)
        with pytest.raises(Killed):
            index(worker.context.catalog.index_jobs(memory.subject), worker.context)
    sweep_later(memory, worker)
    assert_agreed(memory, worker)


@pytest.mark.parametrize("change", [erase, replace])
def test_whoever_stalled_until_another_may_have_taken_its_job_reads_again_before_it_tells(
    worker: Worker, anna: str, change: Change, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = untold(worker, anna)
    clock = Clock()
    told: list[Entry] = []
    upsert = type(worker.context.index).upsert

    def recorded(own: Any, entries: Sequence[Entry]) -> list[Entry]:
        told.extend(entries)
        kept_out: list[Entry] = upsert(own, entries)
        return kept_out

    def stalls(point: str) -> None:
        if point == "before_index" and not clock.now:
            clock.now = worker.context.settings.lease_seconds
            sweep_later(memory, worker)
            change(memory, worker)
            told.clear()

    monkeypatch.setattr("memory.indexing.time", clock)
    monkeypatch.setattr("memory.indexing.hit", stalls)
    monkeypatch.setattr(type(worker.context.index), "upsert", recorded)
    index(worker.context.catalog.index_jobs(memory.subject), worker.context)
    assert [entry for entry in told if entry.memory_id == memory.id and entry.version == memory.version] == []
    sweep_later(memory, worker)
    assert_agreed(memory, worker)


def test_a_job_that_one_was_alone_with_is_struck_and_one_that_another_took_stays(worker: Worker, anna: str) -> None:
    memory, catalog = untold(worker, anna), worker.context.catalog
    jobs = catalog.index_jobs(memory.subject)
    first = catalog.take_index_jobs(jobs, PATIENCE)
    second = catalog.take_index_jobs(jobs, PATIENCE)
    catalog.mark_done(second)
    catalog.mark_done(first)
    assert len(catalog.index_jobs(memory.subject)) == 1
    worker.lose_index_jobs(memory.subject)
    catalog.mark_done(catalog.take_index_jobs(catalog.index_jobs(memory.subject), PATIENCE))
    assert catalog.index_jobs(memory.subject) == []


def test_what_one_sweep_is_at_work_on_no_other_does_again(
    worker: Worker, anna: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However long the first takes: else each sweep would make those before it slower."""
    memory = untold(worker, anna)
    begun: list[str] = []

    def another_sweeps(point: str) -> None:
        if point == "before_index":
            begun.append(point)
            worker.lose_index_jobs(memory.subject)
            if len(begun) == 1:
                index_left(worker.context, (NOW, NOW))

    monkeypatch.setattr("memory.indexing.hit", another_sweeps)
    index_left(worker.context, (NOW, NOW))
    assert len(begun) == 1
    assert_agreed(memory, worker)
