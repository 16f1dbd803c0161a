"""After workers were killed, those whose turns they had in hand do not wait for the sweep."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from stores.mailbox import key_of
from stores.queue import notify
from tests.fleet.fleet import ORACLE, Fleet, stop, wait_until
from tests.fleet.load import fact, names
from tests.fleet.oracle import Faults
from tests.fleet.state import assert_all_as_said

_USERS = 40


@pytest.fixture
def fleet(broker_url: str, tmp_path: Path) -> Iterator[Fleet]:
    """Workers that ask the oracle. No lease and no pause ends by itself while the test runs, and no beat sweeps."""
    with closing(Fleet(broker_url, tmp_path, lease_seconds=300, max_deliveries=5, **ORACLE)) as fleet:
        yield fleet


@pytest.mark.long
def test_turns_on_their_third_delivery_are_taken_one_after_the_other_without_the_sweep(fleet: Fleet) -> None:
    fleet.oracle.ask_for(Faults(fastest=60, slowest=60))
    said = [fact(user, 0) for user in names(_USERS)]
    fleet.enqueue(said)

    def taken(times: int) -> bool:
        deliveries = [fleet.redis.hget(key_of(one.subject, "deliveries"), one.turn_id) for one in said]
        return all(int(count or 0) >= times for count in deliveries)

    for times in (1, 2):
        worker = fleet.start_worker()
        for one in said if times > 1 else ():
            notify(fleet.celery, one.subject)
        wait_until(lambda times=times: taken(times), "all are in hand")  # type: ignore[misc]
        stop(worker, signal.SIGKILL)
        for one in said:
            fleet.redis.delete(key_of(one.subject, "lease"))
    fleet.oracle.ask_for(Faults(fastest=0.05, slowest=0.05))
    fleet.start_worker()
    for one in said:
        notify(fleet.celery, one.subject)
    fleet.wait_until_idle()
    assert_all_as_said(fleet)
    assert fleet.redis.keys("afterturn:suspect:*:waiting") == []
