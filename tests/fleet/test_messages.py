"""Messages that come twice or backwards, users who talk much, turns that are large, tenants in a line."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator, Sequence

import pytest

from memory.queue import send_turn
from memory.schema import MAX_TURN_BYTES, Turn
from tests.fleet.fleet import ORACLE, Fleet, wait_until
from tests.fleet.load import Said, fact, names, talk
from tests.fleet.oracle import Faults
from tests.fleet.state import assert_all_as_said


@pytest.fixture(scope="module")
def fleet(broker_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fleet]:
    """Two workers and beat for the tests of this module in which nobody dies."""
    fleet = Fleet(broker_url, tmp_path_factory.mktemp("fleet"), **ORACLE)
    fleet.start("beat")
    fleet.start_workers(2)
    yield fleet
    fleet.close()


def park(fleet: Fleet, load: Sequence[Said]) -> list[Turn]:
    """Write turns to their mailboxes and send nothing."""
    fleet.expect(load)
    turns = [Turn.model_validate(said.turn()) for said in load]
    for turn in turns:
        fleet.mailbox.append(turn, 5)
    return turns


def test_every_message_may_come_twice(fleet: Fleet) -> None:
    for turn in park(fleet, talk(names(100, "twice"), 6)):
        send_turn(fleet.celery, turn)
        send_turn(fleet.celery, turn)
    fleet.wait_until_idle()
    assert_all_as_said(fleet)


def test_messages_may_come_in_reverse_order(fleet: Fleet) -> None:
    for turn in reversed(park(fleet, talk(names(100, "backwards"), 6))):
        send_turn(fleet.celery, turn)
    fleet.wait_until_idle()
    assert_all_as_said(fleet)


def test_turns_as_large_as_they_may_be_are_processed(fleet: Fleet) -> None:
    load = []
    for user in names(10, "large"):
        for number in range(4):
            said = len(fact(user, number).turn()["messages"][0]["content"])
            load.append(fact(user, number, padding="x" * (MAX_TURN_BYTES - said)))
    fleet.enqueue(load)
    fleet.wait_until_idle()
    assert_all_as_said(fleet)


def waited(fleet: Fleet, enqueued: dict[str, float]) -> dict[str, float]:
    """How long each of these turns waited until the model had answered for it, in seconds."""
    ends = {turn_id: call.end for call in fleet.oracle.calls() if call.end for turn_id in call.turns}
    return {turn_id: ends[turn_id] - at for turn_id, at in enqueued.items()}


def p95(values: Sequence[float]) -> float:
    return sorted(values)[int(len(values) * 0.95)]


@pytest.mark.alone
def test_a_user_with_a_third_of_the_load_waits_about_as_long_as_the_others(fleet: Fleet) -> None:
    others = talk(names(100, "quiet"), 2)
    hot = [fact("hot", number) for number in range(len(others) // 2)]
    rest = [iter(hot), iter(others)]
    order = [0] * len(hot) + [1] * len(others)
    random.Random(1).shuffle(order)
    enqueued = {}
    begin = time.monotonic()
    for place, which in enumerate(order):
        said = next(rest[which])
        time.sleep(max(0.0, begin + place / 25 - time.monotonic()))
        fleet.enqueue([said])
        enqueued[said.turn_id] = time.monotonic()
    fleet.wait_until_idle()
    assert_all_as_said(fleet)
    seconds = waited(fleet, enqueued)
    of_hot = p95([seconds[said.turn_id] for said in hot])
    of_others = p95([seconds[said.turn_id] for said in others])
    assert of_hot < 3 * of_others + 1, (of_hot, of_others)


@pytest.mark.alone
@pytest.mark.parametrize(("users", "turns"), [(1000, 2), pytest.param(1000, 10, marks=pytest.mark.soak)])
def test_a_tenants_backlog_delays_another_tenants_turns_by_no_more_than_5_seconds(
    fleet: Fleet, users: int, turns: int
) -> None:
    fleet.oracle.ask_for(Faults(fastest=0.02, slowest=0.05))
    backlog = talk(names(users, f"big{users}x"), turns, tenant="big")
    fleet.enqueue(backlog)
    enqueued = {}
    for said in talk(names(5, f"small{users}x"), 4, tenant="small"):
        wait_until(lambda: fleet.mailbox.pending_turns() > 0, "the backlog stands", 1)
        fleet.enqueue([said])
        enqueued[said.turn_id] = time.monotonic()
        time.sleep(0.2)
    still_pending = fleet.mailbox.pending_turns()
    fleet.wait_until_idle()
    assert_all_as_said(fleet)
    fleet.oracle.ask_for(Faults())
    assert still_pending > 0
    assert max(waited(fleet, enqueued).values()) < 5
