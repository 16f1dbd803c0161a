"""A turn whose model fails waits for its own pause: nobody sweeps here, so who waited for that would wait for ever."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.fleet.fleet import ORACLE, Fleet
from tests.fleet.load import names, talk
from tests.fleet.oracle import Faults
from tests.fleet.state import assert_all_as_said


@pytest.fixture
def fleet_without_beat(broker_url: str, tmp_path: Path) -> Iterator[Fleet]:
    # A worker that the machine stops for longer than its lease loses the subject, whom only a sweep would find again.
    with closing(Fleet(broker_url, tmp_path, lease_seconds=60, **ORACLE)) as fleet:
        yield fleet


@pytest.mark.long
def test_no_turn_waits_for_the_sweep_when_its_model_is_throttled_or_answers_nonsense(
    fleet_without_beat: Fleet,
) -> None:
    fleet = fleet_without_beat
    fleet.oracle.ask_for(Faults(fastest=0.02, slowest=0.1, throttled=0.4, garbage=0.4))
    fleet.start_worker()
    fleet.enqueue(talk(names(20), 3))
    fleet.wait_until_idle()
    assert_all_as_said(fleet)
