"""Workers that die between any two steps: nothing is lost, nothing happens twice, and order holds."""

from __future__ import annotations

import signal
import time
from typing import Any, cast

import pytest

from memory.queue import send_turn
from memory.schema import Turn
from tests.fleet.fleet import Fleet, wait_until
from tests.fleet.load import fact, names, talk
from tests.fleet.state import assert_all_as_said
from worker.crash_points import CRASH_POINTS, CrashPoint


@pytest.mark.parametrize("point", CRASH_POINTS)
def test_a_worker_that_dies_at_a_point_loses_and_doubles_nothing(oracle_fleet: Fleet, point: CrashPoint) -> None:
    mark = oracle_fleet.folder / "crashes"
    oracle_fleet.enqueue(talk(names(150), 6))
    dying = oracle_fleet.launch_worker(CRASH_AT=point, CRASH_MARK=str(mark), CRASH_PASSAGE="9")
    wait_until(lambda: dying.poll() is not None, f"the worker died at {point}")
    assert dying.returncode == -signal.SIGKILL
    oracle_fleet.start_worker()
    oracle_fleet.wait_until_idle()
    assert_all_as_said(oracle_fleet)


def test_a_plain_message_is_back_within_a_minute_when_its_worker_dies_before_it_parked_the_turn(
    oracle_fleet: Fleet,
) -> None:
    said = fact("maya", 0)
    mark = oracle_fleet.folder / "crashes"
    oracle_fleet.expect([said])
    send_turn(oracle_fleet.celery, Turn.model_validate(said.turn()))
    dying = oracle_fleet.launch_worker(CRASH_AT="before_append", CRASH_MARK=str(mark))
    wait_until(lambda: dying.poll() is not None, "the worker died over the message")
    [tag] = cast(list[bytes], oracle_fleet.redis.zrange("unacked_index", 0, -1))
    a_minute_ago: dict[Any, float] = {tag: time.time() - 60}
    oracle_fleet.redis.zadd("unacked_index", a_minute_ago)
    oracle_fleet.start_worker()
    oracle_fleet.wait_until_idle()
    assert_all_as_said(oracle_fleet)
