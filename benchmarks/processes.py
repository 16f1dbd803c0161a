"""Processes that a benchmark starts, and what they cost."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def running(
    arguments: list[str], environment: dict[str, str], *, python: Path = Path(sys.executable)
) -> Iterator[Callable[[], float]]:
    """Run a Python process until the block ends, and answer a function that tells the CPU seconds that it and those it
    started have spent."""
    process = subprocess.Popen(
        [python, *arguments], env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )

    def cpu() -> float:
        started = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        return sum(map(_spent, (process.pid, *map(int, started))))

    try:
        yield cpu
        if process.poll() is not None:
            raise RuntimeError(f"{' '.join(arguments)} ended by itself with exit code {process.returncode}")
    finally:
        process.terminate()
        process.wait(60)


def _spent(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def wait_for(condition: Callable[[], bool], seconds: float = 300) -> None:
    """Wait until a condition holds.

    Raises:
        TimeoutError: it does not within that time.
    """
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            raise TimeoutError(f"a run of the benchmark does not come to its end within {seconds:.0f} s")
        time.sleep(0.02)
