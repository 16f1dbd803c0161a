"""Workers that die: what was accepted is processed all the same, once and in order."""

from __future__ import annotations

import signal
from functools import partial

import pytest

from schema import Status
from stores.catalog import Outcome
from tests.fleet.fleet import Fleet, wait_until
from tests.turns import a_turn, subject

CITIES = ["Lisbon", "Berlin", "Paris", "Rome", "Oslo", "Madrid", "Vienna", "Prague", "Athens", "Dublin"]
USERS = [f"user{number}" for number in range(30)]


def enqueue_moves(fleet: Fleet) -> None:
    for number, city in enumerate(CITIES):
        for user in USERS:
            fleet.producer.enqueue(a_turn(user, number, f"I live in {city}."))


def some_are_done(fleet: Fleet, enough: int) -> bool:
    return sum(fleet.stores.catalog.count_turns().values()) >= enough


def assert_every_move_happened_once_and_in_order(fleet: Fleet) -> None:
    assert fleet.stores.catalog.count_turns() == {Outcome.KEPT: len(USERS) * len(CITIES)}
    for user in USERS:
        memories = fleet.stores.catalog.list_memories(subject(user), statuses=tuple(Status))
        in_order = sorted(memories, key=lambda memory: memory.occurred_at)
        assert [memory.summary for memory in in_order] == [f"{user.title()} lives in {city}." for city in CITIES]
        assert [memory.status for memory in in_order] == [Status.SUPERSEDED] * (len(CITIES) - 1) + [Status.ACTIVE]


@pytest.mark.long
def test_a_worker_killed_in_the_middle_loses_and_doubles_nothing(fleet: Fleet) -> None:
    fleet.start("beat")
    enqueue_moves(fleet)
    for kills in range(1, 4):
        worker = fleet.start_worker()
        wait_until(partial(some_are_done, fleet, kills * len(USERS)), "some are done")
        worker.send_signal(signal.SIGKILL)
        worker.wait()
    fleet.start_worker()
    fleet.wait_until_idle()
    assert_every_move_happened_once_and_in_order(fleet)


@pytest.mark.long
def test_turns_whose_messages_were_lost_are_found_by_the_sweeper(fleet: Fleet) -> None:
    for number, city in enumerate(CITIES):
        for user in USERS:
            fleet.producer.enqueue(a_turn(user, number, f"I live in {city}."))
    fleet.redis.delete("memory_ingest_queue")
    fleet.start("beat")
    fleet.start_worker()
    fleet.wait_until_idle()
    assert_every_move_happened_once_and_in_order(fleet)


@pytest.mark.long
def test_a_worker_asked_to_stop_finishes_what_it_has_and_leaves_the_rest(fleet: Fleet) -> None:
    enqueue_moves(fleet)
    worker = fleet.start_worker()
    wait_until(partial(some_are_done, fleet, len(USERS)), "some are done")
    worker.send_signal(signal.SIGTERM)
    assert worker.wait(30) == 0
    assert fleet.redis.zcard("unacked_index") == 0
    fleet.start("beat")
    fleet.start_worker()
    fleet.wait_until_idle()
    assert_every_move_happened_once_and_in_order(fleet)
