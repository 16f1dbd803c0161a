"""Workers that grow past their bound on memory, again and again, while turns come in."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from tests.fleet.fleet import Fleet, stop, wait_until
from tests.fleet.load import names, talk
from tests.fleet.oracle import Faults
from tests.fleet.state import assert_all_as_said

_ROOM_MB = 60
_LEAK = 3 * 1024 * 1024


def resident_mb(pid: int) -> int:
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") // 1024**2


@pytest.mark.long
def test_workers_past_their_bound_on_memory_end_and_no_turn_is_lost_doubled_or_misordered(oracle_fleet: Fleet) -> None:
    fleet = oracle_fleet
    fleet.enqueue(talk(["warm"], 2))
    probe = fleet.start_worker()
    fleet.wait_until_idle()
    bound = str(resident_mb(probe.pid) + _ROOM_MB)
    assert stop(probe, signal.SIGTERM) == 0
    fleet.workers.clear()
    fleet.oracle.ask_for(Faults(leaks=_LEAK))
    fleet.enqueue(talk(names(60), 3))
    fleet.start_workers(2, AFTERTURN_WORKER_MEMORY_MB=bound)

    def is_done() -> bool:
        for worker in [worker for worker in fleet.workers if worker.poll() is not None]:
            fleet.workers.remove(worker)
            fleet.launch_worker(AFTERTURN_WORKER_MEMORY_MB=bound)
        return fleet.processed() >= len(fleet.said) and fleet.is_idle()

    wait_until(is_done, "all is processed")
    assert fleet.log().count("_past_bound") >= 2
    assert_all_as_said(fleet)
