"""A worker that is stopped while it tells the index, wakes, writes what it had read, and is killed: the index comes to
what the catalog has all the same, and what was erased meanwhile does not come back."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest

from memory.context import MemoryContext, open_memory
from memory.publish import publish
from policies.merge import supersede
from schema import Memory, Turn
from stores.catalog import Changes
from stores.catalog.changes import index_job
from stores.catalog.engine import create_catalog_engine
from stores.catalog.index_watches import FIRST_LOOK, watch
from stores.index.base import Entry
from stores.queue import NIGHTLY_QUEUE, send_turn
from tests.contract.catalogs import a_memory
from tests.erasing import erase_memory
from tests.fleet.fleet import ORACLE, Fleet, wait_until
from tests.fleet.forked import Process
from tests.fleet.load import names, talk
from tests.turns import subject

Told = Callable[[Fleet], tuple[Process, Memory]]
Change = Callable[[Memory, MemoryContext], None]
_PATIENCE = 40.0


@pytest.fixture
def fleet(broker_url: str, tmp_path: Path) -> Iterator[Fleet]:
    with closing(Fleet(broker_url, tmp_path, **ORACLE)) as fleet:
        yield fleet


def test_what_is_watched_and_was_told_late_is_put_right_by_the_sweep(fleet: Fleet) -> None:
    """As if a request that hung had brought back an erased memory behind all others."""
    memory, stores = a_memory("t1", subject("anna")), fleet.stores
    [vector] = stores.embedder.embed([memory.summary])
    stores.index.upsert([Entry.of(memory, vector)])
    engine = create_catalog_engine(fleet.settings.effective_catalog_url)
    with engine.begin() as connection:
        watch(connection, [index_job(memory, "upsert", 1)], datetime.now(UTC) - 2 * FIRST_LOOK)
    engine.dispose()
    fleet.start("beat")
    fleet.start_worker()
    wait_until(
        lambda: stores.index.fetch(memory.subject, [memory.index_key]) == [], "what came back is gone", _PATIENCE
    )


def is_stopped(process: Process) -> bool:
    return Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()[0] == "T"


def stopped_before_it_tells(fleet: Fleet) -> Process:
    """Start a worker that stops when it has read what it tells the index, and dies when it has told it."""
    return fleet.start_worker(FREEZE_AT="before_index", CRASH_AT="after_index", CRASH_MARK=str(fleet.folder / "crash"))


def told_by_a_turn(fleet: Fleet) -> tuple[Process, Memory]:
    """A memory of a turn, whose worker stopped between writing it to the catalog and to the index."""
    worker = stopped_before_it_tells(fleet)
    [said] = talk(names(1, "told"), 1)
    fleet.expect([said])
    send_turn(fleet.celery, Turn.model_validate(said.turn()))
    wait_until(lambda: is_stopped(worker), "the worker stopped", _PATIENCE)
    [memory] = fleet.stores.catalog.list_memories(said.subject)
    return worker, memory


def told_by_a_sweep(fleet: Fleet) -> tuple[Process, Memory]:
    """A memory that nobody told the index of, and that a sweep has read."""
    memory = a_memory("t1", subject("anna"))
    fleet.stores.catalog.commit(Changes(subject=memory.subject, at=datetime.now(UTC), created=(memory,)))
    worker = stopped_before_it_tells(fleet)

    def asked() -> bool:
        fleet.celery.send_task("memory.sweep", queue=NIGHTLY_QUEUE)
        return is_stopped(worker)

    wait_until(asked, "the sweep stopped", _PATIENCE)
    return worker, memory


def erase(memory: Memory, context: MemoryContext) -> None:
    assert erase_memory(memory.subject, memory.id, context, by="dora", now=datetime.now(UTC)).is_clean


def replace(memory: Memory, context: MemoryContext) -> None:
    now = datetime.now(UTC)
    newer = a_memory("newer", memory.subject, "Porto")
    publish(
        Changes(subject=memory.subject, at=now, created=(newer,), updated=(supersede(memory, newer.id, now),)),
        {},
        context,
    )


@pytest.mark.parametrize(
    ("told", "change"),
    [
        pytest.param(told_by_a_sweep, erase, marks=pytest.mark.long),
        pytest.param(told_by_a_turn, replace, marks=pytest.mark.long),
        pytest.param(told_by_a_turn, erase, marks=pytest.mark.long),
        pytest.param(told_by_a_sweep, replace, marks=pytest.mark.long),
    ],
)
def test_what_was_told_too_late_by_a_worker_that_then_died_does_not_stay(
    fleet: Fleet, told: Told, change: Change
) -> None:
    dying, memory = told(fleet)
    with closing(open_memory(fleet.settings)) as context:
        change(memory, context)
    dying.send_signal(signal.SIGCONT)
    assert dying.wait(60) == -signal.SIGKILL
    fleet.workers.remove(dying)
    fleet.start("beat")
    fleet.start_worker()

    def agrees() -> bool:
        known = fleet.stores.catalog.memories(memory.subject, [memory.id])
        held = fleet.stores.index.fetch(memory.subject, [memory.index_key])
        return fleet.is_idle() and [one.status for one in held] == [one.status for one in known.values()]

    wait_until(agrees, "the index has what the catalog has", _PATIENCE)
