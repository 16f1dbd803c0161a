"""Messages that come twice or backwards, users who talk much, turns that are large, tenants in a line."""

from __future__ import annotations

import random
import time
from collections.abc import Sequence

import pytest

from schema import MAX_TURN_BYTES, Turn
from stores.queue import send_turn
from tests.fleet.fleet import Fleet, wait_until
from tests.fleet.load import Said, fact, names, talk
from tests.fleet.oracle import Faults
from tests.fleet.state import assert_all_as_said


def park(fleet: Fleet, load: Sequence[Said]) -> list[Turn]:
    """Write turns to their mailboxes and send nothing."""
    fleet.expect(load)
    turns = [Turn.model_validate(said.turn()) for said in load]
    for turn in turns:
        fleet.mailbox.append(turn, 5)
    return turns


@pytest.mark.long
def test_every_message_may_come_twice(pair: Fleet) -> None:
    for turn in park(pair, talk(names(100, "twice"), 6)):
        send_turn(pair.celery, turn)
        send_turn(pair.celery, turn)
    pair.wait_until_idle()
    assert_all_as_said(pair)


@pytest.mark.long
def test_messages_may_come_in_reverse_order(pair: Fleet) -> None:
    for turn in reversed(park(pair, talk(names(100, "backwards"), 6))):
        send_turn(pair.celery, turn)
    pair.wait_until_idle()
    assert_all_as_said(pair)


@pytest.mark.long
def test_turns_as_large_as_they_may_be_are_processed(pair: Fleet) -> None:
    load = []
    for user in names(10, "large"):
        for number in range(4):
            said = len(fact(user, number).turn()["messages"][0]["content"])
            load.append(fact(user, number, padding="x" * (MAX_TURN_BYTES - said)))
    pair.enqueue(load)
    pair.wait_until_idle()
    assert_all_as_said(pair)


def waited(fleet: Fleet, enqueued: dict[str, float]) -> dict[str, float]:
    """How long each of these turns waited until the model had answered for it, in seconds."""
    ends = {turn_id: call.end for call in fleet.oracle.calls() if call.end for turn_id in call.turns}
    return {turn_id: ends[turn_id] - at for turn_id, at in enqueued.items()}


def p95(values: Sequence[float]) -> float:
    return sorted(values)[int(len(values) * 0.95)]


@pytest.mark.alone
def test_a_user_with_a_third_of_the_load_waits_about_as_long_as_the_others(pair: Fleet) -> None:
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
        pair.enqueue([said])
        enqueued[said.turn_id] = time.monotonic()
    pair.wait_until_idle()
    assert_all_as_said(pair)
    seconds = waited(pair, enqueued)
    of_hot = p95([seconds[said.turn_id] for said in hot])
    of_others = p95([seconds[said.turn_id] for said in others])
    assert of_hot < 3 * of_others + 1, (of_hot, of_others)


@pytest.mark.alone
@pytest.mark.long
@pytest.mark.parametrize(("users", "turns"), [(1000, 2), (300, 10)])
def test_a_tenants_backlog_delays_another_tenants_turns_by_no_more_than_5_seconds(
    pair: Fleet, users: int, turns: int
) -> None:
    pair.oracle.ask_for(Faults(fastest=0.02, slowest=0.05))
    backlog = talk(names(users, f"big{users}x"), turns, tenant="big")
    pair.enqueue(backlog)
    enqueued = {}
    for said in talk(names(5, f"small{users}x"), 4, tenant="small"):
        wait_until(lambda: pair.mailbox.pending_turns() > 0, "the backlog stands", 1)
        pair.enqueue([said])
        enqueued[said.turn_id] = time.monotonic()
        time.sleep(0.2)
    still_pending = pair.mailbox.pending_turns()
    pair.wait_until_idle()
    assert_all_as_said(pair)
    pair.oracle.ask_for(Faults())
    assert still_pending > 0
    assert max(waited(pair, enqueued).values()) < 5
