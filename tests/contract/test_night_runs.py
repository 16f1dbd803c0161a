"""Runs of the nightly jobs, and who works on them, on a real catalog and mailbox."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

import worker.nights.dispatch as dispatch
from schema import Preference, PreferenceName, Subject
from schema.errors import IndexUnavailable, LLMUnavailable
from stores.catalog import Changes, Claim, ClaimLost, NightRun
from stores.queue import NIGHTLY_QUEUE
from tests.contract.catalogs import changes
from tests.contract.pipeline import Worker, on_every_store
from tests.turns import subject
from worker.context import WorkerContext
from worker.nights.base import Job, Plan
from worker.nights.consolidate import condense_at_once
from worker.nights.forget import FORGET
from worker.nights.page import do_page
from worker.nights.subject_run import Busy, run_for_subject

pytest_generate_tests = on_every_store
NOW = datetime(2026, 11, 2, 4, 10, tzinfo=UTC)
A_DAY = timedelta(days=1)
PATIENCE = timedelta(minutes=5)


@pytest.fixture
def few(emptied: Worker, anna: str) -> Worker:
    """A worker whose pages are of 3 subjects, and who knows 8, by the names of their numbers behind Anna's."""
    settings = emptied.context.settings.model_copy(update={"night_chunk_subjects": 3, "night_slots": 2})
    few = emptied.with_parts(settings=settings)
    for number in range(8):
        few.context.catalog.commit(changes(f"t{number}", subject(f"{anna}-{number}"), fence=None))
    few.context.redis.delete(*notifications())
    return few


def notifications() -> list[str]:
    return [f"{NIGHTLY_QUEUE}\x06\x16{priority}" for priority in (3, 6, 9)]


def waiting(worker: Worker) -> int:
    """How many pages are asked for."""
    return sum(worker.context.redis.llen(queue) for queue in notifications())


class Seen:
    """A job that changes nothing and remembers whom it saw."""

    def __init__(self, fail_at: str | None = None) -> None:
        self.subjects: list[str] = []
        self.fail_at = fail_at

    def needs(self, whose: Subject, context: Any, now: datetime) -> bool:
        self.subjects.append(whose.subject_id)
        if whose.subject_id == self.fail_at:
            raise RuntimeError
        return False

    def job(self) -> dict[str, Job]:
        return {"forget": Job("forget", self.needs, FORGET.plan)}


@contextmanager
def a_run(worker: Worker) -> Iterator[str]:
    run_id = dispatch.begin("forget", "2026-11-02T04:00", None, worker.context, NOW)
    assert run_id == "forget/2026-11-02T04:00/UTC"
    yield run_id


def finished(run_id: str, jobs: dict[str, Job], worker: Worker) -> NightRun:
    """Do pages until the run is over, as messages would ask for."""
    for _ in range(20):
        do_page(run_id, jobs, worker.context, worker.leases)
        run = worker.context.catalog.nights.run(run_id)
        assert run is not None
        if run.finished_at is not None:
            return run
    pytest.fail("the run does not end")


def claimed(worker: Worker, run_id: str, now: datetime, *, size: int = 5, workers: int = 2) -> Claim | None:
    return worker.context.catalog.nights.claim(run_id, size=size, workers=workers, now=now, patience=PATIENCE)


def test_a_run_sees_every_subject_once_and_says_what_it_did(few: Worker, anna: str) -> None:
    seen = Seen()
    with a_run(few) as run_id:
        for _ in range(5):
            do_page(run_id, seen.job(), few.context, few.leases)
    run = few.context.catalog.nights.run(run_id)
    assert run is not None
    assert sorted(seen.subjects) == [f"{anna}-{number}" for number in range(8)]
    assert (run.chunks, run.subjects, run.results) == (3, 8, {"unchanged": 8})
    assert run.finished_at is not None
    assert waiting(few) == 3, "each page that is done asks for the next"


def test_a_second_beat_begins_nothing(few: Worker) -> None:
    assert dispatch.tick("forget", few.context, NOW) == ["forget/2026-11-02T04:00/UTC"]
    assert waiting(few) == 2, "as many workers as a run may have"
    assert dispatch.tick("forget", few.context, NOW + timedelta(minutes=15)) == []
    assert len(few.context.catalog.nights.runs()) == 1


def test_a_night_that_is_not_over_goes_on_in_the_place_of_the_next_one(few: Worker, anna: str) -> None:
    [run_id] = dispatch.tick("forget", few.context, NOW)
    assert dispatch.tick("forget", few.context, NOW + A_DAY) == []
    seen = Seen()
    for _ in range(4):
        do_page(run_id, seen.job(), few.context, few.leases)
    assert len(seen.subjects) == 8
    assert dispatch.tick("forget", few.context, NOW + A_DAY) == ["forget/2026-11-03T04:00/UTC"]


def test_what_a_dead_worker_whose_clock_was_ahead_left_is_done_too(few: Worker) -> None:
    with a_run(few) as run_id:
        assert claimed(few, run_id, NOW + A_DAY, size=9, workers=1) is not None
        heir = claimed(few, run_id, NOW, workers=1)
        assert heir is not None
        assert (len(heir.subjects), heir.tries) == (1, 0)


def test_a_model_that_is_away_interrupts_the_run_and_one_subject_over_whom_it_fails_is_left_after_some_tries(
    few: Worker, anna: str
) -> None:
    seen: list[str] = []

    def fails(whose: Subject, *_: Any) -> bool:
        seen.append(whose.subject_id)
        if whose.subject_id == f"{anna}-1":
            raise LLMUnavailable("timed out")
        return False

    with a_run(few) as run_id:
        few.context.redis.delete(*notifications())
        for _ in range(2):
            do_page(run_id, {"forget": Job("forget", fails, FORGET.plan)}, few.context, few.leases)
            assert waiting(few) == 0, "to ask at once would hammer what is away"
        assert f"{anna}-2" not in seen
        run = finished(run_id, {"forget": Job("forget", fails, FORGET.plan)}, few)
    assert (run.subjects, run.results) == (8, {"unchanged": 7, "failed": 1})
    assert seen.count(f"{anna}-1") == 3


def test_each_time_zone_has_a_night_of_its_own(few: Worker, anna: str) -> None:
    far = subject(f"{anna}-3")
    zone = Preference(name=PreferenceName.TIME_ZONE, value="Asia/Tokyo")
    few.context.catalog.commit(Changes(subject=far, at=NOW, preferred=(zone,)))
    seen = Seen()
    noon_in_utc = datetime(2026, 11, 1, 19, 15, tzinfo=UTC)
    assert dispatch.tick("forget", few.context, noon_in_utc) == ["forget/2026-11-02T04:00/Asia/Tokyo"]
    do_page("forget/2026-11-02T04:00/Asia/Tokyo", seen.job(), few.context, few.leases)
    assert seen.subjects == [far.subject_id]
    for number, value in enumerate(("UTC", "Nowhere/Olympus")):
        other = Preference(name=PreferenceName.TIME_ZONE, value=value)
        few.context.catalog.commit(Changes(subject=subject(f"{anna}-{number}"), at=NOW, preferred=(other,)))
    begun = dispatch.tick("forget", few.context, NOW)
    assert begun == ["forget/2026-11-02T04:00/UTC", "forget/2026-11-02T04:00/Nowhere/Olympus"], "UTC, if none is known"
    for run_id in (*begun, *begun, *begun, *begun):
        do_page(run_id, seen.job(), few.context, few.leases)
    assert sorted(seen.subjects) == [f"{anna}-{number}" for number in range(8)]


def test_a_night_that_is_long_past_is_not_made_up_for_by_day(few: Worker) -> None:
    assert dispatch.tick("forget", few.context, NOW + timedelta(hours=3)) == []


def test_a_job_without_a_moment_is_never_done(few: Worker) -> None:
    settings = few.context.settings.model_copy(update={"night_forget": ""})
    assert dispatch.tick("forget", few.with_parts(settings=settings).context, NOW) == []


def test_what_a_dead_worker_left_others_do_one_by_one(few: Worker, anna: str) -> None:
    nights = few.context.catalog.nights
    with a_run(few) as run_id:
        dead = claimed(few, run_id, NOW)
        assert dead is not None
        nights.mark_done(dead, dead.subjects[:2], {"changed": 2}, NOW, PATIENCE)
        assert claimed(few, run_id, NOW, workers=1) is None, "enough are at work"
        heirs = [claimed(few, run_id, NOW + A_DAY, workers=9) for _ in range(4)]
        got = [[one.subject_id for one in heir.subjects] for heir in heirs if heir is not None]
        assert got == [[f"{anna}-2"], [f"{anna}-3"], [f"{anna}-4"], [f"{anna}-{number}" for number in (5, 6, 7)]]
        with pytest.raises(ClaimLost):
            nights.mark_done(dead, dead.subjects[2:], {"changed": 9}, NOW + A_DAY, PATIENCE)
        run = nights.run(run_id)
        assert run is not None
        assert (run.subjects, run.results) == (2, {"changed": 2})


def test_a_slow_worker_keeps_what_it_has_by_what_it_gets_done(few: Worker) -> None:
    with a_run(few) as run_id:
        slow = claimed(few, run_id, NOW)
        assert slow is not None
        almost = NOW + PATIENCE * 0.9
        few.context.catalog.nights.mark_done(slow, slow.subjects[:1], {}, almost, PATIENCE)
        other = claimed(few, run_id, almost + PATIENCE * 0.9)
        assert other is not None
        assert not set(other.subjects) & set(slow.subjects)


def test_a_run_is_over_only_when_all_that_it_gave_out_is_done(few: Worker) -> None:
    nights = few.context.catalog.nights
    with a_run(few) as run_id:
        first = claimed(few, run_id, NOW, size=8)
        assert first is not None
        assert claimed(few, run_id, NOW) is None
        assert [run.id for run in nights.unfinished("forget")] == [run_id]
        nights.mark_done(first, first.subjects, {}, NOW, PATIENCE)
        assert claimed(few, run_id, NOW) is None
        assert nights.unfinished("forget") == []


def test_a_worker_that_is_to_end_leaves_the_rest_of_its_page_to_another_at_once(few: Worker, anna: str) -> None:
    seen = Seen()
    with a_run(few) as run_id:
        few.context.redis.delete(*notifications())
        do_page(run_id, seen.job(), few.context, few.leases, lambda: len(seen.subjects) == 2)
        assert seen.subjects == [f"{anna}-0", f"{anna}-1"]
        assert waiting(few) == 1
        run = finished(run_id, seen.job(), few)
    assert (run.subjects, run.results) == (8, {"unchanged": 8})
    assert seen.subjects == [f"{anna}-{number}" for number in range(8)]


def test_one_subject_that_cannot_be_done_does_not_keep_the_others_from_their_night(few: Worker, anna: str) -> None:
    seen = Seen(fail_at=f"{anna}-1")
    with a_run(few) as run_id:
        for _ in range(4):
            do_page(run_id, seen.job(), few.context, few.leases)
    run = few.context.catalog.nights.run(run_id)
    assert run is not None
    assert run.results == {"unchanged": 7, "failed": 1}


def test_a_subject_over_whom_every_worker_dies_is_left_for_the_next_night(few: Worker, anna: str) -> None:
    class Killed(BaseException): ...

    class Deadly(Seen):
        def needs(self, whose: Subject, context: Any, now: datetime) -> bool:
            super().needs(whose, context, now)
            if whose.subject_id == f"{anna}-1":
                raise Killed
            return False

    seen = Deadly()
    hasty = few.with_parts(
        settings=few.context.settings.model_copy(update={"turn_deadline_seconds": 0, "night_slots": 1})
    )
    with a_run(few) as run_id:
        for _ in range(12):
            with suppress(Killed):
                do_page(run_id, seen.job(), hasty.context, few.leases)
    run = few.context.catalog.nights.run(run_id)
    assert run is not None
    assert (run.finished_at is None, run.subjects, run.results) == (False, 8, {"unchanged": 7, "failed": 1})
    assert seen.subjects.count(f"{anna}-1") == 4


def test_a_store_that_is_away_interrupts_the_run_and_the_next_beat_goes_on_with_it(few: Worker, anna: str) -> None:
    def away(*_: Any) -> bool:
        raise IndexUnavailable("gone")

    with a_run(few) as run_id:
        few.context.redis.delete(*notifications())
        do_page(run_id, {"forget": Job("forget", away, FORGET.plan)}, few.context, few.leases)
        assert waiting(few) == 0
        no_more = few.context.settings.model_copy(update={"night_forget": ""})
        dispatch.tick("forget", few.with_parts(settings=no_more).context, datetime.now(UTC))
        assert waiting(few) == 2
        seen = Seen()
        assert finished(run_id, seen.job(), few).results == {"unchanged": 8}


MANY = (
    "I painted the kitchen yesterday",
    "I lost my hiking boots on the coast yesterday",
    "I met my old teacher at the market yesterday",
    "I watched a film about whales yesterday",
    "I planted tomatoes yesterday",
    "I repaired the bicycle yesterday",
)


def eager(worker: Worker) -> Worker:
    worker.context.redis.delete(*notifications())
    return worker.with_parts(policy=worker.context.policy.model_copy(update={"consolidate_burst": 3}))


def test_a_user_who_tells_very_much_in_a_day_is_condensed_at_once(worker: Worker, anna: str) -> None:
    hasty = eager(worker)
    hasty.hear(anna, *MANY[:2])
    assert waiting(worker) == 0
    hasty.hear(anna, *MANY[2:4], first=2)
    assert waiting(worker) == 1
    hasty.hear(anna, MANY[4], first=4)
    assert waiting(worker) == 1


def test_a_user_who_goes_on_and_on_is_asked_for_once_until_somebody_begins(worker: Worker, anna: str) -> None:
    hasty = eager(worker)
    for number, said in enumerate(MANY):
        hasty.hear(anna, said, first=number)
    assert waiting(worker) == 1
    condense_at_once(subject(anna), hasty.context, hasty.leases, NOW)
    for number, said in enumerate(MANY):
        hasty.hear(anna, said.replace("yesterday", "two days ago"), first=10 + number)
    assert waiting(worker) == 2


class Clock:
    """In the place of the module `time`."""

    def __init__(self) -> None:
        self.now = 0.0

    def monotonic(self) -> float:
        return self.now


@pytest.mark.parametrize("is_lost", [False, True])
def test_a_plan_that_takes_long_stays_the_only_one_of_its_subject_or_ends(
    worker: Worker, anna: str, is_lost: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    whose, redis, clock = subject(anna), worker.context.redis, Clock()
    lock, seconds = f"afterturn:night:planning:{{{whose.key}}}", worker.context.settings.turn_deadline_seconds
    left: list[int] = []

    def plan(_: Subject, context: WorkerContext, __: datetime) -> Plan:
        clock.now += seconds / 2
        redis.set(lock, "another") if is_lost else redis.pexpire(lock, round(seconds * 500))
        context.rest()
        left.append(redis.pttl(lock))
        return Plan((), (), {})

    monkeypatch.setattr("worker.nights.subject_run.time", clock)
    job = Job("consolidate", lambda *_: True, plan, ahead=True)
    try:
        with pytest.raises(Busy) if is_lost else nullcontext():
            run_for_subject(whose, job, worker.context, worker.leases, NOW)
    finally:
        redis.delete(lock)
    assert [one > seconds * 900 for one in left] == ([] if is_lost else [True])


def test_two_workers_never_plan_for_one_subject_at_a_time(worker: Worker, anna: str) -> None:
    worker.hear(anna, MANY[0])
    whose, tried = subject(anna), list[str]()

    def plan(whose: Subject, context: Any, now: datetime) -> Plan:
        with pytest.raises(Busy):
            run_for_subject(whose, job, worker.context, worker.leases, now)
        tried.append("in vain")
        return Plan(())

    job = Job("consolidate", lambda *_: True, plan, ahead=True)
    for _ in range(2):
        run_for_subject(whose, job, worker.context, worker.leases, NOW)
    assert tried == ["in vain"] * 2, "and when one has ended, the next may begin"
