"""A night lets turns go first: one page a process, and rests while turns are in hand."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any, cast

import pytest

from memory.leases import LeaseKeeper
from schema import Subject
from stores.mailbox import Lease, Mailbox
from worker.nights.throttle import Pace, SingleFlight

LEASE = Lease(Subject(tenant_id="t", subject_id="anna"), 1)


@pytest.fixture
def leases() -> Iterator[LeaseKeeper]:
    keeper = LeaseKeeper(cast(Mailbox, None), lease_seconds=3600, deadline=3600)
    yield keeper
    keeper.stop()


def test_while_a_page_is_in_work_others_are_turned_away_and_asked_for_again_once_each() -> None:
    flight = SingleFlight()
    done: list[str] = []
    asked: list[str] = []

    def work() -> None:
        for other in ("b", "c", "b"):
            flight.run(other, lambda: done.append("too early"), asked.append)
        assert asked == [], "nobody is asked again while the work is in flight"
        done.append("a")

    flight.run("a", work, asked.append)
    assert (done, sorted(asked)) == (["a"], ["b", "b", "c"])
    flight.run("b", lambda: done.append("b"), asked.append)
    assert (done, sorted(asked)) == (["a", "b"], ["b", "b", "c"])


def test_a_page_that_fails_lets_the_next_in_and_leaves_asking_to_beat() -> None:
    flight = SingleFlight()
    asked: list[str] = []

    def fails() -> None:
        flight.run("b", lambda: asked.append("too early"), asked.append)
        raise RuntimeError

    with pytest.raises(RuntimeError):
        flight.run("a", fails, asked.append)
    flight.run("c", lambda: asked.append("worked"), asked.append)
    assert asked == ["worked"]


def test_a_rest_ends_when_the_last_turn_is_done_and_lasts_no_longer_than_asked(leases: LeaseKeeper) -> None:
    assert leases.wait_idle(0), "nothing is in hand"
    with leases.keeping(LEASE):
        assert not leases.wait_idle(0.001)
        rested: list[bool] = []
        waiting = threading.Thread(target=lambda: rested.append(leases.wait_idle(60)))
        waiting.start()
    waiting.join(30)
    assert rested == [True]


def test_a_rest_lasts_until_no_turn_was_in_hand_for_a_while(leases: LeaseKeeper) -> None:
    assert leases.wait_idle(0, quiet=3600), "nothing ever was"
    with leases.keeping(LEASE):
        pass
    assert not leases.wait_idle(0.001, quiet=3600)
    assert leases.wait_idle(60, quiet=0.001)


def test_rests_are_nine_times_as_long_as_the_work_at_most_and_what_was_not_needed_is_left_for_later(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Work of 0.1 s, nobody talks; of 0.1 s, and a turn takes half a second; of 800 s, when 5 s are enough."""
    clock, asked = iter([0.0, 0.1, 0.1, 0.2, 0.7, 800.7, 800.7]), list[float]()
    monkeypatch.setattr("worker.nights.throttle.time.monotonic", lambda: next(clock))

    class Leases:
        def wait_idle(self, seconds: float, _: float) -> bool:
            asked.append(seconds)
            return True

    pace = Pace(cast(Any, Leases()))
    for _ in range(3):
        pace.rest()
    assert asked == pytest.approx([0.9, 1.8, 5.0])
