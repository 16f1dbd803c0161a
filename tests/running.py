"""How a run of tests goes: where its files lie, in which order, and that nothing outlives it, interrupted or not."""

from __future__ import annotations

import gc
import json
import os
import re
import shutil
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import pytest

from tests.leftovers import RUN_VARIABLE, end_processes_of

DURATIONS: Final = Path(__file__).with_name("durations.json")
"""Seconds that each file takes, roughly; `--store-durations` notes those of a run."""
_IN_A_BROWSER: Final = "tests/browser/"
_MEMORY: Final = Path("/dev/shm")
_MEMINFO: Final = Path("/proc/meminfo")
_ENOUGH_BYTES: Final = 4 * 1024**3
_OURS = pytest.StashKey[Path]()


class Durations:
    """Notes how long the tests of each file took."""

    def __init__(self) -> None:
        self._seconds: Counter[str] = Counter()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._seconds[_file(report.nodeid)] += report.duration  # type: ignore[assignment]

    def pytest_sessionfinish(self) -> None:
        known = json.loads(DURATIONS.read_text()) | {file: round(took, 1) for file, took in self._seconds.items()}
        DURATIONS.write_text(json.dumps(known, indent=0, sort_keys=True) + "\n")


class Limit:
    """Begins no test once some seconds are over, and says of each that it was left out."""

    def __init__(self, seconds: float) -> None:
        self._last = time.monotonic() + seconds

    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        if time.monotonic() > self._last:
            # With its name, or the summary would only count them.
            pytest.skip(f"left out for want of time: {item.nodeid}")


def add_options(parser: pytest.Parser) -> None:
    """Add the options of a run."""
    parser.addoption("--store-durations", action="store_true", help="note how long each file took, to balance files")
    parser.addoption("--seconds", type=float, help="begin no test after so many seconds, and name those left out")
    parser.addoption(
        "--machines", action="store_true", help="run each fleet on two machines' worth of data folders and one Postgres"
    )


def begin(config: pytest.Config) -> None:
    """Name the run to all processes that it starts, and give its files a folder that goes with it.

    A catalog writes each commit through to the disk, which is most of what a test waits for: where there is room, the
    folder lies in memory. What tests kill is a process, never the machine.
    """
    if config.option.seconds is not None:
        config.pluginmanager.register(Limit(config.option.seconds), "limit")
    if hasattr(config, "workerinput"):
        return
    if config.option.store_durations:
        config.pluginmanager.register(Durations(), "durations")
    if config.option.basetemp is None:
        folder = Path(tempfile.mkdtemp(prefix="afterturn-tests-", dir=_roomy())).resolve()
        config.stash[_OURS] = folder
        config.option.basetemp = str(folder / "t")
    os.environ[RUN_VARIABLE] = str(_run(config))


def end(session: pytest.Session) -> None:
    """End what the tests did not, and fail for it; drop the folder unless a test failed, whose files may tell why."""
    if hasattr(session.config, "workerinput"):
        return
    outlived = end_processes_of(_run(session.config))
    folder = session.config.stash.get(_OURS, None)
    if folder is not None and session.exitstatus == pytest.ExitCode.TESTS_FAILED:
        print(f"\nthe files of the tests that failed are in {folder}; they are yours to remove")
    elif folder is not None:
        shutil.rmtree(folder, ignore_errors=True)
    if outlived and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
    for command in outlived:
        print(f"\noutlived its tests: {command[:200]}")


def _run(config: pytest.Config) -> Path:
    return Path(config.option.basetemp).resolve()


@contextmanager
def nothing_collected() -> Iterator[None]:
    """Import without the garbage collector, and have it pass over what was imported from then on: to look through a
    million objects takes a fifth of a second, each time that a test or pytest asks for it."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
        gc.freeze()


def put_in_order(items: list[pytest.Item], *, limited: bool) -> None:
    """Put the tests of the files that take longest first, so that no worker is left with one of them at the end; last
    where the time is `limited`, so that as many as can are run.

    Those in a browser come behind all others: Playwright leaves its event loop running, and no test of the same process
    can run one of its own after it.
    """
    seconds: dict[str, float] = json.loads(DURATIONS.read_text())
    direction = 1 if limited else -1

    def place(item: pytest.Item) -> tuple[bool, float, str]:
        file = _file(item.nodeid)
        return file.startswith(_IN_A_BROWSER), direction * seconds.get(file, 0.0), file

    items.sort(key=place)


def _file(nodeid: str) -> str:
    return nodeid.partition("::")[0]


def _roomy() -> Path | None:
    """Return the folder of memory, if there is one with room; None: wherever temporary files go.

    What the folder has left is not what the memory has: by default it may fill half of it, whatever else is in there.
    """
    if not (_MEMORY.is_dir() and os.access(_MEMORY, os.W_OK)):
        return None
    room = min(shutil.disk_usage(_MEMORY).free, _available_bytes(_MEMINFO.read_text()))
    return _MEMORY if room >= _ENOUGH_BYTES else None


def _available_bytes(meminfo: str) -> int:
    """Return how much memory can be had without swapping, by the kernel's own estimate (proc(5), MemAvailable)."""
    [kilobytes] = re.findall(r"^MemAvailable:\s+(\d+) kB$", meminfo, re.MULTILINE)
    return int(kilobytes) * 1024
