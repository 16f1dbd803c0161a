"""Named points at which a test may end the process, as a crash would. Where no test asks, one is an empty call.

`CRASH_AT` names the point and `CRASH_MARK` a file that counts the crashes of all processes, a byte each. At most
`CRASH_TIMES` (1) processes die, each when it comes to the point for the `CRASH_PASSAGE`th (first) time.
"""

from __future__ import annotations

import fcntl
import itertools
import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Literal, get_args

Failpoint = Literal["before_append", "after_acquire", "after_extract", "after_commit", "after_index", "before_ack"]
FAILPOINTS: tuple[Failpoint, ...] = get_args(Failpoint)


def _go_on(_point: Failpoint) -> None: ...


def _crash(at: str, mark: Path, times: int, passage: int) -> Callable[[Failpoint], None]:
    passages = itertools.count(1)

    def hit(point: Failpoint) -> None:
        if point != at or next(passages) < passage:
            return
        with mark.open("ab") as crashes:
            fcntl.flock(crashes, fcntl.LOCK_EX)
            if mark.stat().st_size < times:
                os.write(crashes.fileno(), b"x")
                os.kill(os.getpid(), signal.SIGKILL)

    return hit


def _from_environment() -> Callable[[Failpoint], None]:
    at = os.environ.get("CRASH_AT")
    if at is None:
        return _go_on
    if at not in FAILPOINTS:
        raise ValueError(f"CRASH_AT={at}: there are only {', '.join(FAILPOINTS)}")
    times, passage = int(os.environ.get("CRASH_TIMES", "1")), int(os.environ.get("CRASH_PASSAGE", "1"))
    return _crash(at, Path(os.environ["CRASH_MARK"]), times, passage)


hit: Callable[[Failpoint], None] = _from_environment()
"""Called where the work comes to a point."""
