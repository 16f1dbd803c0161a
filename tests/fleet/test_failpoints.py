"""Workers that die between any two steps: nothing is lost, nothing happens twice, and order holds."""

from __future__ import annotations

import itertools
import signal
from collections.abc import Iterator
from contextlib import closing

import pytest

from stores.failpoints import FAILPOINTS, Failpoint
from tests.fleet.fleet import ORACLE, Fleet, wait_until
from tests.fleet.load import names, talk
from tests.fleet.state import assert_all_as_said


@pytest.fixture(scope="module")
def fleet(broker_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fleet]:
    """A fleet with beat and one worker that lives."""
    with closing(Fleet(broker_url, tmp_path_factory.mktemp("fleet"), **ORACLE)) as fleet:
        fleet.start("beat")
        fleet.start_worker()
        yield fleet


def let_one_die(fleet: Fleet, point: Failpoint) -> None:
    """Start one more worker, which dies at a point, and let people talk until it has come there."""
    crash = {"CRASH_AT": point, "CRASH_MARK": str(fleet.folder / point), "CRASH_PASSAGE": "9"}
    dying = fleet.launch_worker(**crash)
    fleet.enqueue(talk(names(120, point), 4))
    for number in itertools.count():
        wait_until(lambda: dying.poll() is not None or len(fleet.said) - fleet.processed() < 50, f"it died at {point}")
        if dying.poll() is not None:
            break
        fleet.enqueue(talk(names(50, f"{point}{number}x"), 2))
    assert dying.poll() == -signal.SIGKILL
    fleet.workers.remove(dying)


@pytest.mark.long
@pytest.mark.parametrize("point", FAILPOINTS)
def test_a_worker_that_dies_at_a_point_loses_and_doubles_nothing(fleet: Fleet, point: Failpoint) -> None:
    let_one_die(fleet, point)
    fleet.wait_until_idle()
    assert_all_as_said(fleet)
