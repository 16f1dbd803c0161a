"""Workers that get no more from their machine: no open file, no room on the disk."""

from __future__ import annotations

import resource
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.fleet.fleet import Fleet
from tests.fleet.forked import Process
from tests.fleet.load import names, talk
from tests.fleet.state import assert_all_as_said


@contextmanager
def limited(processes: Sequence[Process], limit: int, most: int | None) -> Iterator[None]:
    """Processes under a limit of the kernel for as long as the block lasts. None: no more open files than now."""
    before = [resource.prlimit(process.pid, limit) for process in processes]
    for process, (_, hard) in zip(processes, before, strict=True):
        now = len(list(Path(f"/proc/{process.pid}/fd").iterdir())) if most is None else most
        resource.prlimit(process.pid, limit, (now, hard))
    try:
        yield
    finally:
        for process, limits in zip(processes, before, strict=True):
            resource.prlimit(process.pid, limit, limits)


@pytest.mark.long
@pytest.mark.parametrize(
    ("what", "limit", "most"),
    [
        ("files", resource.RLIMIT_NOFILE, None),
        ("room", resource.RLIMIT_FSIZE, 1),
    ],
)
def test_workers_that_their_machine_gives_no_more_lose_nothing_and_live_on(
    pair: Fleet, what: str, limit: int, most: int | None
) -> None:
    with pair.feeding(talk(names(50, f"{what}x"), 6), a_second=75):
        pair.wait_for_more(30)
        with limited(pair.workers, limit, most):
            time.sleep(3)
    pair.wait_until_idle()
    assert_all_as_said(pair)
    assert [worker.poll() for worker in pair.workers] == [None, None]
