"""Workers that are killed, frozen, stopped, added, or wrong about the time, while turns come in."""

from __future__ import annotations

import random
import signal
import time
from typing import Any, cast

import pytest

from schema import Turn
from stores.queue import send_turn
from tests.fleet.clock import clock_off_by
from tests.fleet.fleet import Fleet, stop, wait_until
from tests.fleet.load import fact, names, talk
from tests.fleet.oracle import Faults
from tests.fleet.state import assert_all_as_said


@pytest.mark.parametrize(("kills", "users", "turns"), [(3, 60, 6), pytest.param(20, 400, 12, marks=pytest.mark.long)])
def test_workers_that_are_killed_at_random_lose_and_double_nothing(
    oracle_fleet: Fleet, kills: int, users: int, turns: int
) -> None:
    fleet, chance = oracle_fleet, random.Random(kills)
    load = talk(names(users), turns)
    fleet.start_workers(2)
    with fleet.feeding(load, a_second=150):
        for _ in range(kills):
            fleet.wait_for_more(chance.randrange(10, 100))
            victim = fleet.workers.pop(chance.randrange(len(fleet.workers)))
            assert stop(victim, signal.SIGKILL) == -signal.SIGKILL
            fleet.launch_worker()
    fleet.wait_until_idle()
    assert_all_as_said(fleet)


@pytest.mark.long
def test_workers_may_join_and_leave_under_load_and_finish_what_they_have(oracle_fleet: Fleet) -> None:
    fleet = oracle_fleet
    load = talk(names(120), 6)
    [first] = fleet.start_workers(1)
    with fleet.feeding(load[:240], a_second=150):
        fleet.wait_for_more(80)
        second, _ = fleet.start_workers(2)
    with fleet.feeding(load[240:], a_second=150):
        fleet.wait_for_more(80)
        assert stop(first, signal.SIGTERM) == 0
        fleet.wait_for_more(80)
        assert stop(second, signal.SIGTERM) == 0
    fleet.wait_until_idle()
    assert_all_as_said(fleet)
    calls = fleet.oracle.calls()
    assert {worker.pid for worker in fleet.workers} == {call.process for call in calls}
    assert [call for call in calls if call.end is None] == []


@pytest.mark.long
def test_a_worker_frozen_past_its_leases_writes_nothing_when_it_wakes(oracle_fleet: Fleet) -> None:
    fleet = oracle_fleet
    # So slow that none is answered before the worker is frozen: one that freezes as it writes holds an SQLite file.
    fleet.oracle.ask_for(Faults(fastest=10, slowest=10))
    fleet.enqueue(talk(names(60), 4))
    frozen = fleet.start_worker()
    wait_until(lambda: len(fleet.oracle.calls()) >= 30, "the worker asks the model about many")
    frozen.send_signal(signal.SIGSTOP)
    asked = {call.subject for call in fleet.oracle.calls() if call.end is None}
    assert asked
    fleet.oracle.ask_for(Faults())
    fleet.start_worker()
    fleet.wait_until_idle()
    frozen.send_signal(signal.SIGCONT)
    wait_until(lambda: fleet.log().count("lease_lost") >= len(asked), "every late write was refused")
    assert stop(frozen, signal.SIGTERM) == 0
    assert fleet.log().count("batch_failed") == 0
    assert_all_as_said(fleet, frozen={frozen.pid})
    assert {call.subject for call in fleet.oracle.calls() if call.process == frozen.pid} >= asked


@pytest.mark.long
def test_workers_whose_clocks_are_an_hour_off_do_as_well(oracle_fleet: Fleet) -> None:
    fleet = oracle_fleet
    behind = fleet.launch_worker(**clock_off_by(-3600, fleet.folder))
    ahead = fleet.launch_worker(
        **clock_off_by(3600, fleet.folder),
        CRASH_AT="after_commit",
        CRASH_MARK=str(fleet.folder / "crashes"),
        CRASH_PASSAGE="20",
    )
    right = fleet.launch_worker()
    fleet.wait_until_ready([behind, ahead, right])
    fleet.enqueue(talk(names(120), 6))
    wait_until(lambda: ahead.poll() is not None, "the one that is ahead died with what it had not indexed")
    fleet.wait_until_idle()
    assert_all_as_said(fleet)
    assert {call.process for call in fleet.oracle.calls()} == {behind.pid, ahead.pid, right.pid}


@pytest.mark.long
def test_a_plain_message_is_back_within_a_minute_when_its_worker_dies_before_it_parked_the_turn(
    oracle_fleet: Fleet,
) -> None:
    fleet = oracle_fleet
    said = fact("maya", 0)
    fleet.expect([said])
    send_turn(fleet.celery, Turn.model_validate(said.turn()))
    dying = fleet.launch_worker(CRASH_AT="before_append", CRASH_MARK=str(fleet.folder / "crashes"))
    wait_until(lambda: dying.poll() is not None, "the worker died over the message")
    tags = cast(list[bytes], fleet.redis.zrange("unacked_index", 0, -1))
    a_minute_ago: dict[Any, float] = dict.fromkeys(tags, time.time() - 60)
    fleet.redis.zadd("unacked_index", a_minute_ago)
    fleet.start_worker()
    fleet.wait_until_idle()
    assert_all_as_said(fleet)
