"""One user who has told 20,000 episodes, and goes on talking beside 200 others."""

from __future__ import annotations

from collections import Counter
from contextlib import closing
from datetime import UTC, datetime
from functools import partial

import pytest
from sqlalchemy import func, select

from interfaces.local.progress import percentile
from stores.catalog import tables
from stores.catalog.engine import create_catalog_engine
from stores.queue import request_condensing
from tests.fleet.costly import COSTLY, fill, lags_of_others, turn
from tests.fleet.fleet import Fleet, wait_until
from tests.fleet.test_memory_bound import resident_mb
from worker.nights.subject_run import PLANNING

_EPISODES, _OTHERS, _ROUNDS = 20_000, 200, 3
_TOLD = 4
"""Turns of the costly user a round; each other has one."""
_ASKED = 4
"""How often a round asks for the costly user to be condensed: each demand may reach another worker."""
_DEARER = 1.5
"""How many times as long the others' turns may take beside the costly user, each in the best of its rounds: what this
machine does meanwhile makes some of them worse, and none better."""
_GROWTH_MB = 40
"""What a process may hold more after a round like the one before it: allocators do not give back at once."""
_HELD_MB = 50
"""What the costly user's vectors take in a worker from the first search of them on: 71 MB for 20,000, less what was
allowed above."""


def joined(fleet: Fleet) -> Counter[str]:
    """Return how often each of the costly user's episodes became a part of a consolidated memory."""
    audit = tables.audit
    query = select(audit.c.memory_id, func.count()).where(
        audit.c.subject_id == COSTLY.subject_id, audit.c.reason == "became a part of a consolidated memory"
    )
    with closing(create_catalog_engine(fleet.settings.effective_catalog_url).connect()) as connection:
        return Counter({str(id_): count for id_, count in connection.execute(query.group_by(audit.c.memory_id))})


def has_processed(fleet: Fleet, turns: int) -> bool:
    fleet.revive_beats()
    return fleet.processed() >= turns


def has_joined(fleet: Fleet, before: int) -> bool:
    fleet.revive_beats()
    return joined(fleet).total() > before and fleet.is_idle() and not fleet.redis.keys(f"{PLANNING}*")


@pytest.mark.alone
@pytest.mark.long
def test_one_with_20_000_episodes_keeps_nobody_from_their_turn_and_no_memory_of_a_worker(fleet: Fleet) -> None:
    """Beside others' turns they are condensed again and again: one plan at a time, of so many memories at most, and no
    worker holds more after the last than one that made a plan did after the first. The others' turns take as long as
    in the rounds that alternate with theirs, or half as long again."""
    fill(fleet.settings, _EPISODES)
    # What the index is told late, on a machine that has much to do, is left to the sweep.
    fleet.start("beat")
    workers = fleet.start_workers(2)
    resident: list[list[int]] = []
    alone: list[float] = []
    beside: list[float] = []
    done = 0

    def others_talk(number: int) -> float:
        """Let everybody else take a turn at once, and return the p95 of how long it took."""
        nonlocal done
        since = datetime.now(UTC)
        for other in range(_OTHERS):
            fleet.producer.enqueue(turn(f"other{other}", number))
        done += _OTHERS
        wait_until(partial(has_processed, fleet, done), "everybody's turns are processed")
        return percentile(lags_of_others(fleet.settings, since), 0.95)

    others_talk(2 * _ROUNDS)
    for round_number in range(_ROUNDS):
        alone.append(others_talk(2 * round_number))
        before = joined(fleet).total()
        for number in range(_TOLD):
            fleet.producer.enqueue(turn(COSTLY.subject_id, round_number * _TOLD + number))
        done += _TOLD
        wait_until(partial(has_processed, fleet, done), "the costly user's turns are processed")
        for _ in range(_ASKED):
            request_condensing(fleet.celery, COSTLY)
        beside.append(others_talk(2 * round_number + 1))
        wait_until(partial(has_joined, fleet, before), "they are condensed")
        assert joined(fleet).total() - before <= _ASKED * fleet.settings.night_memories
        resident.append([resident_mb(worker.pid) for worker in workers])

    assert fleet.stores.catalog.count_turns() == {"kept": done}
    assert min(beside) <= _DEARER * min(alone), (beside, alone)
    assert max(joined(fleet).values()) == 1, "no two plans took up one episode"
    # Whoever made no plan in the first round, for another did, may make one in the last.
    assert max(resident[-1]) <= max(resident[0]) + _HELD_MB + _GROWTH_MB, resident
    assert "Traceback" not in fleet.log()
