"""Two beats: what is scheduled happens as often as with one, and goes on when one of them dies."""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from schema import Turn
from stores.queue import BEAT_LOCK, NIGHTLY_QUEUE
from tests.fleet.fleet import ORACLE, Fleet, stop, wait_until
from tests.fleet.forked import Process
from tests.fleet.load import names, talk
from tests.fleet.state import assert_all_as_said


@pytest.fixture
def fleet(broker_url: str, tmp_path: Path) -> Iterator[Fleet]:
    with closing(Fleet(broker_url, tmp_path, **ORACLE)) as fleet:
        yield fleet


def leading(fleet: Fleet) -> Process:
    """Start a beat and wait until it leads."""
    beat = fleet.start("beat")
    wait_until(lambda: bool(fleet.redis.exists(BEAT_LOCK)), "a beat leads")
    return beat


def sweeps(fleet: Fleet) -> int:
    """How many sweeps wait: nobody takes them."""
    return fleet.redis.llen(NIGHTLY_QUEUE)


@pytest.mark.long
def test_two_beats_ask_for_no_more_sweeps_than_one(fleet: Fleet) -> None:
    leading(fleet)
    fleet.start("beat")
    before, begin = sweeps(fleet), time.monotonic()
    wait_until(lambda: sweeps(fleet) >= before + 6, "six more sweeps are asked for")
    seconds = time.monotonic() - begin
    assert seconds > 4.5, "one a second, not two"
    fleet.enqueue(talk(names(50), 4))
    fleet.start_worker()
    fleet.wait_until_idle()
    assert_all_as_said(fleet)


@pytest.mark.long
def test_another_beat_takes_over_from_one_that_was_killed(fleet: Fleet) -> None:
    leader = leading(fleet)
    fleet.start("beat")
    assert stop(leader, signal.SIGKILL) == -signal.SIGKILL
    before = sweeps(fleet)
    wait_until(lambda: sweeps(fleet) >= before + 3, "the other beat leads")


@pytest.mark.long
def test_a_beat_that_was_held_up_past_its_lead_ends_and_its_successor_goes_on_when_the_other_dies(fleet: Fleet) -> None:
    fleet.start_worker()
    held_up = leading(fleet)
    other = fleet.start("beat")
    lead = fleet.redis.get(BEAT_LOCK)
    held_up.send_signal(signal.SIGSTOP)
    wait_until(lambda: fleet.redis.get(BEAT_LOCK) not in (lead, None), "the other beat leads")
    held_up.send_signal(signal.SIGCONT)
    wait_until(lambda: held_up.poll() is not None, "who leads no more has ended")
    assert held_up.poll() != 0, "a supervisor would not start it again"
    assert stop(other, signal.SIGKILL) == -signal.SIGKILL
    wait_until(lambda: sweeps(fleet) == 0, "the worker took what the dead asked for")
    # No message is under way for these: a sweep alone finds them.
    unannounced = talk(names(3), 1)
    fleet.expect(unannounced)
    for said in unannounced:
        fleet.mailbox.append(Turn.model_validate(said.turn()), 0.0)
    fleet.wait_for_more(len(unannounced))
    assert_all_as_said(fleet)
