"""Forgetting, and what else is done when nobody is talking, on a real catalog, index and mailbox: months in seconds."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from memory.indexing import index
from recall.retrieve import retrieve
from schema import Status, Subject
from stores.catalog import Access, Changes
from stores.catalog.costs import Spent
from tests.contract.catalogs import a_memory
from tests.contract.pipeline import Worker, on_every_store_at_length, only
from tests.turns import a_turn, subject
from worker.nights.base import Job, Plan
from worker.nights.cleanup import clean_up
from worker.nights.forget import FORGET
from worker.nights.subject_run import Busy, run_for_subject

pytest_generate_tests = on_every_store_at_length
NOW = datetime(2026, 11, 2, 4, 10, tzinfo=UTC)
A_DAY = timedelta(days=1)
FADED = 1_600
"""Days without use after which nothing that was said once is recalled: more than four half-lives of a year."""


def later(days: float) -> datetime:
    return datetime.now(UTC) + timedelta(days=days)


def forget(worker: Worker, whose: Subject, days: float) -> Plan | None:
    """One night of forgetting, some days from now."""
    return run_for_subject(whose, FORGET, worker.context, worker.leases, later(days))


def steps(plan: Plan | None) -> list[str]:
    return [step.action for step in plan.steps] if plan else []


# -- forgetting -----------------------------------------------------------------------------------------------------


def test_a_memory_that_nobody_uses_is_archived_and_deleted_half_a_year_later(alone: Worker, anna: str) -> None:
    alone.hear(anna, "I live in Lisbon", "I went to the beach yesterday with my sister")
    whose = subject(anna)
    before = alone.known(whose)
    assert forget(alone, whose, 60) is None, "nothing has faded yet"
    assert "archive" in steps(forget(alone, whose, FADED))
    archived = alone.known(whose, Status.ARCHIVED)
    assert archived
    assert forget(alone, whose, FADED + 179) is None, "kept for half a year"
    gone = forget(alone, whose, FADED + 182)
    assert steps(gone).count("delete") == len(archived)
    assert len(alone.state(whose)) == len(before) - len(archived)
    assert {"archived", "deleted"} <= set(alone.audited(whose))
    assert all(memory.summary.encode() not in held for memory in archived for held in alone.files().values())


def test_an_archived_memory_is_not_found_and_its_vector_is_not_made_again(worker: Worker, anna: str) -> None:
    worker.hear(anna, "I live in Lisbon")
    whose = subject(anna)
    [vector] = worker.context.index.fetch(whose, [only(worker.known(whose)).index_key])

    class Silent:
        name, dimensions = worker.context.embedder.name, worker.context.embedder.dimensions

        def embed(self, texts: Any) -> Any:
            pytest.fail("a night embeds nothing that the index has")

    plan = run_for_subject(whose, FORGET, worker.with_parts(embedder=Silent()).context, worker.leases, later(FADED))
    assert steps(plan) == ["archive"]
    [entry] = worker.context.index.fetch(whose, [vector.key])
    assert (entry.status, entry.vector.tolist()) == (Status.ARCHIVED, vector.vector.tolist())
    assert retrieve(None, [whose], "Where does she live?", worker.context, now=NOW) == []
    assert worker.event_names(whose)[-1] == "memory.archived"


def test_what_is_recalled_is_refreshed_and_outlives_its_neighbours(worker: Worker, anna: str) -> None:
    worker.hear(anna, "I live in Lisbon", "My brother owns a bakery in Porto")
    whose = subject(anna)
    [found] = retrieve(None, [whose], "In which city does she live?", worker.context, limit=1, now=later(FADED))
    worker.context.accesses.close()
    plan = forget(worker, whose, FADED)
    assert {step.memory_id: step.action for step in plan.steps}[found.memory.id] == "refresh" if plan else False
    kept = only(worker.known(whose))
    assert (kept.id, kept.access_count) == (found.memory.id, 1)
    assert kept.importance > found.memory.importance
    assert kept.last_accessed > found.memory.last_accessed
    assert forget(worker, whose, FADED) is None, "an access counts once"


def test_pinned_memories_and_those_under_legal_hold_stay_for_ever(worker: Worker, anna: str) -> None:
    worker.hear(anna, "I live in Lisbon", "My brother owns a bakery in Porto")
    whose = subject(anna)
    pinned, held = worker.known(whose)
    rewrite(worker, pinned.model_copy(update={"pinned": True, "version": pinned.version + 1}))
    rewrite(worker, held.model_copy(update={"legal_hold": True, "version": held.version + 1}))
    assert forget(worker, whose, 5000) is None
    assert len(worker.known(whose)) == 2


def rewrite(worker: Worker, memory: Any) -> None:
    worker.context.catalog.commit(Changes(subject=memory.subject, at=NOW, updated=(memory,)))


def test_what_much_has_faded_is_written_in_parts_so_that_others_need_not_wait_for_all(
    worker: Worker, anna: str
) -> None:
    whose, at = subject(anna), NOW - timedelta(days=900)
    many = [a_memory(f"t{number}", whose, created_at=at) for number in range(120)]
    worker.context.catalog.commit(Changes(subject=whose, at=at, created=tuple(many)))
    with_vectors(worker, whose)
    plan = forget(worker, whose, 0)
    assert plan is not None
    assert [len(changes.updated) for changes in plan.changes] == [100, 20]
    assert {memory.status for memory in worker.state(whose)} == {Status.ARCHIVED}
    assert forget(worker, whose, 179) is None
    assert steps(forget(worker, whose, 182)) == ["delete"] * 120
    assert worker.state(whose) == []


def with_vectors(worker: Worker, whose: Subject) -> None:
    """Tell the index of a subject's memories, each with the same vector."""
    [vector] = worker.context.embedder.embed(["a city"])
    jobs = worker.context.catalog.index_jobs(whose)
    index(jobs, worker.context, vectors={job.memory_id: vector for job in jobs})


def test_an_access_of_a_memory_that_is_gone_is_not_counted(worker: Worker, anna: str) -> None:
    worker.hear(anna, "I live in Lisbon")
    whose = subject(anna)
    memory = only(worker.known(whose))
    gone = uuid.UUID(int=7)
    worker.context.catalog.uses.count(
        [Access(id_, whose, times, NOW) for id_, times in ((gone, 1), (memory.id, 2), (memory.id, 1))]
    )
    assert [row["times"] for row in worker.rows("accesses", whose)] == [3]


# -- turns go first -------------------------------------------------------------------------------------------------


def test_a_subject_with_pending_turns_is_left_alone(worker: Worker, anna: str) -> None:
    worker.hear(anna, "I live in Lisbon")
    worker.park(a_turn(anna, 1, "I moved to Porto"))
    with pytest.raises(Busy):
        forget(worker, subject(anna), FADED)
    worker.work(subject(anna))
    assert steps(forget(worker, subject(anna), FADED)).count("archive") == 2


def test_a_turn_that_comes_in_the_night_waits_for_the_lease_and_is_rung_for_when_it_is_free(
    worker: Worker, anna: str
) -> None:
    worker.hear(anna, "I live in Lisbon")
    whose = subject(anna)

    def talks(whose: Subject, context: Any, now: datetime) -> Plan:
        worker.park(a_turn(anna, 1, "I moved to Porto"))
        worker.work(whose)
        assert worker.outcomes(whose) == {f"{anna}-0": "kept"}, "the night holds the lease"
        return FORGET.plan(whose, context, now)

    before = worker.context.redis.llen("memory_ingest_queue")
    run_for_subject(whose, Job("forget", lambda *_: True, talks), worker.context, worker.leases, later(900))
    assert worker.context.redis.llen("memory_ingest_queue") == before + 1
    worker.work(whose)
    assert worker.outcomes(whose) == {f"{anna}-0": "kept", f"{anna}-1": "kept"}


# -- what is dropped by the hour ------------------------------------------------------------------------------------


def test_what_models_cost_is_kept_for_as_long_as_the_settings_say(alone: Worker, anna: str) -> None:
    whose = subject(anna)
    spent = (Spent("c1", "turn", 1, 900, 40, 2, 3, 50),)
    alone.context.catalog.commit(Changes(subject=whose, at=datetime.now(UTC), spent=spent))
    for_ever = alone.with_parts(settings=alone.context.settings.model_copy(update={"cost_days": 0}))
    assert clean_up(for_ever.context, later(10_000))["costs"] == 0
    assert clean_up(alone.context, later(399))["costs"] == 0
    assert clean_up(alone.context, later(402))["costs"] == 1
    assert alone.rows("costs", whose) == []


def test_raw_turns_are_kept_for_as_long_as_the_settings_say_and_for_a_legal_hold(alone: Worker, anna: str) -> None:
    alone.hear(anna, "I live in Lisbon", "My brother owns a bakery in Porto")
    whose = subject(anna)
    held = alone.known(whose)[0]
    rewrite(alone, held.model_copy(update={"legal_hold": True, "version": held.version + 1}))
    assert clean_up(alone.context, later(400))["sources"] == 0, "as long as a memory needs them"
    year = alone.with_parts(settings=alone.context.settings.model_copy(update={"source_days": 365}))
    assert clean_up(year.context, later(300))["sources"] == 0
    assert clean_up(year.context, later(400))["sources"] == 1
    assert [row["turn_id"] for row in alone.rows("sources", whose)] == list(held.source_turn_ids)
    assert len(alone.known(whose)) == 2
