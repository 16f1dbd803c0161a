"""A worker that is asked to end does so in its time, whatever hangs, and nobody waits for what it had in hand."""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from redis.exceptions import TimeoutError as RedisTimeout

from tests.fleet.fleet import ORACLE, Fleet, wait_until
from tests.fleet.load import names, talk
from tests.fleet.oracle import Faults
from tests.fleet.state import assert_all_as_said

SECONDS = 4
LEASE_SECONDS = 120
MODEL_SECONDS = 300
_MARGIN = 10
"""What the chart and the compose file allow more than the setting, in seconds."""


@pytest.fixture
def fleet(broker_url: str, tmp_path: Path) -> Iterator[Fleet]:
    """A fleet whose leases and calls last longer than a test may take."""
    given: dict[str, Any] = {"lease_seconds": LEASE_SECONDS, "llm_timeout_seconds": MODEL_SECONDS}
    with closing(Fleet(broker_url, tmp_path, shutdown_seconds=SECONDS, **given, **ORACLE)) as fleet:
        yield fleet


def ended_within(fleet: Fleet, by: signal.Signals = signal.SIGTERM) -> float:
    """Ask the worker to end; how long it took."""
    [worker] = fleet.workers
    began = time.monotonic()
    worker.send_signal(by)
    assert worker.wait(60) == 0
    fleet.workers.clear()
    return time.monotonic() - began


def answers(fleet: Fleet) -> bool:
    """Return whether the broker does."""
    try:
        return bool(fleet.redis.ping())
    except RedisTimeout:
        return False


def test_a_worker_with_a_call_that_hangs_ends_in_time_and_another_does_its_turns_at_once(fleet: Fleet) -> None:
    fleet.oracle.ask_for(Faults(hangs=True))
    fleet.start_worker()
    users = names(3)
    fleet.enqueue(talk(users, 3))
    wait_until(lambda: len(fleet.oracle.calls()) == len(users), "a call hangs for each user")
    assert ended_within(fleet) < SECONDS + _MARGIN
    assert fleet.mailbox.pending_turns() == len(fleet.said)
    left = {key.decode().rpartition(":")[2] for key in fleet.redis.scan_iter("afterturn:mailbox:*", count=1000)}
    # Neither is their lease waited for, nor does it count against the turns that their worker went.
    assert left.isdisjoint({"lease", "deliveries"})
    fleet.oracle.ask_for(Faults())
    # Without a beat: nothing is swept.
    fleet.start_worker()
    fleet.wait_until_idle(LEASE_SECONDS / 2)
    assert_all_as_said(fleet)


@pytest.mark.long
def test_what_can_be_finished_in_time_is_and_what_waits_behind_it_is_left(fleet: Fleet) -> None:
    fleet.oracle.ask_for(Faults(fastest=1.5, slowest=1.5))
    fleet.start_worker()
    [user] = names(1)
    first, *others = talk([user], 20)
    fleet.enqueue([first])
    wait_until(lambda: len(fleet.oracle.calls()) == 1, "the first is in hand")
    fleet.enqueue(others)
    assert ended_within(fleet) < SECONDS
    assert fleet.processed() == 1
    assert fleet.mailbox.pending_turns() == len(others)
    fleet.oracle.ask_for(Faults())
    fleet.start("beat")
    fleet.start_worker()
    fleet.wait_until_idle(LEASE_SECONDS / 2)
    assert_all_as_said(fleet)


@pytest.mark.long
def test_a_worker_whose_broker_hangs_meanwhile_ends_all_the_same(fleet: Fleet, broker_url: str) -> None:
    fleet.oracle.ask_for(Faults(hangs=True))
    fleet.start_worker()
    fleet.enqueue(talk(names(1), 1))
    wait_until(lambda: len(fleet.oracle.calls()) == 1, "a call hangs")
    fleet.redis.client_pause(round((SECONDS + 6) * 1000))
    try:
        assert ended_within(fleet) < SECONDS + _MARGIN
    finally:
        wait_until(lambda: answers(fleet), "others of these tests have the broker, too")
