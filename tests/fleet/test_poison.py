"""A turn over which every worker dies."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from stores.queue import DEAD_LETTER_QUEUE
from tests.fleet.fleet import ORACLE, WAIT_SECONDS, Fleet
from tests.fleet.load import fact, names, talk
from tests.fleet.oracle import KILL, Faults
from tests.fleet.state import assert_all_as_said


@pytest.fixture
def fleet(broker_url: str, tmp_path: Path) -> Iterator[Fleet]:
    """Workers ask the oracle, and three of them may die over a turn."""
    with closing(Fleet(broker_url, tmp_path, max_deliveries=3, **ORACLE)) as fleet:
        fleet.start("beat")
        yield fleet


@pytest.mark.long
def test_a_turn_that_kills_its_workers_becomes_a_dead_letter_and_its_neighbours_live(fleet: Fleet) -> None:
    # All take as long as the one that kills: whoever is in the same worker's hands dies with it, again and again.
    fleet.oracle.ask_for(Faults(fastest=0.5, slowest=0.5))
    poison = fact("user7", 0, value=KILL)
    others = [said for said in talk(names(12), 2) if said.user != poison.user]
    fleet.enqueue([poison, fact("user7", 1), *others])
    deadline = time.monotonic() + 2 * WAIT_SECONDS
    while fleet.processed() < len(fleet.said) and time.monotonic() < deadline:
        fleet.keep(1)
        time.sleep(0.05)
    fleet.wait_until_idle()
    assert_all_as_said(fleet, dead={poison.turn_id})
    assert fleet.redis.llen(DEAD_LETTER_QUEUE) == 1
