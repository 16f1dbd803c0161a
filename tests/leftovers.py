"""What a run of tests leaves behind: processes that outlive it, whatever session or group they began."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path
from typing import Final

RUN_VARIABLE: Final = "TESTS_RUN"
"""Names the run's folder to all processes that it starts."""
_PATIENCE_SECONDS: Final = 10.0


def processes_of(run: Path) -> dict[int, str]:
    """Return the processes that a run started and that still live, with their command lines; none where the system has
    no /proc.

    They are known by their environment, which a server may overwrite, or by working in the run's folder, as servers do.
    Those of `multiprocessing` itself end with the process that uses it, which may be this one.
    """
    proc = Path("/proc")
    numbers = [int(entry.name) for entry in proc.iterdir() if entry.name.isdigit()] if proc.is_dir() else []
    found = {}
    for pid in numbers:
        try:
            if pid != os.getpid() and _is_of(proc / str(pid), run):
                found[pid] = (proc / str(pid) / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            # It ended meanwhile, or is another user's.
            continue
    return found


def end_processes_of(run: Path) -> list[str]:
    """End what a run left behind, and return the command lines of what had to be ended."""
    # Whoever ends with its parent may still be about to, for some seconds on a busy machine.
    found = _left_after(_PATIENCE_SECONDS, run)
    for by in (signal.SIGTERM, signal.SIGKILL):
        left = processes_of(run)
        for pid in left:
            _send(pid, by)
        if not left or not _left_after(_PATIENCE_SECONDS, run):
            break
    return list(found.values())


def _left_after(seconds: float, run: Path) -> dict[int, str]:
    last = time.monotonic() + seconds
    while (left := processes_of(run)) and time.monotonic() < last:
        time.sleep(0.05)
    return left


def _is_of(process: Path, run: Path) -> bool:
    environment = (process / "environ").read_bytes().split(b"\0")
    if f"{RUN_VARIABLE}={run}".encode() not in environment and not (process / "cwd").readlink().is_relative_to(run):
        return False
    if b"from multiprocessing." not in (process / "cmdline").read_bytes():
        return True
    return int((process / "stat").read_text().rpartition(")")[2].split()[1]) != os.getpid()


def _send(pid: int, by: signal.Signals) -> None:
    try:
        os.kill(pid, by)
    except ProcessLookupError:
        return
