"""Named points at which a test may end or stop the process, as a crash or a stall would. Where no test asks, one is an
empty call.

`CRASH_AT` names the point and `CRASH_MARK` a file that counts the crashes of all processes, a byte each. At most
`CRASH_TIMES` (1) processes die, each when it comes to the point for the `CRASH_PASSAGE`th (first) time. At the point
that `FREEZE_AT` names the process stops when it first comes there, until it is sent SIGCONT.
"""

from __future__ import annotations

import fcntl
import itertools
import os
import signal
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Literal, get_args

Failpoint = Literal[
    "before_append", "after_acquire", "after_extract", "after_commit", "before_index", "after_index", "before_ack"
]
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


def _freeze(at: str) -> Callable[[Failpoint], None]:
    passages = itertools.count(1)

    def hit(point: Failpoint) -> None:
        if point == at and next(passages) == 1:
            # To this very thread, which otherwise might go on until another has taken the signal.
            signal.pthread_kill(threading.get_ident(), signal.SIGSTOP)

    return hit


def _asked(name: str) -> str | None:
    at = os.environ.get(name)
    if at is not None and at not in FAILPOINTS:
        raise ValueError(f"{name}={at}: there are only {', '.join(FAILPOINTS)}")
    return at


def _from_environment() -> Callable[[Failpoint], None]:
    hits: list[Callable[[Failpoint], None]] = []
    if (at := _asked("FREEZE_AT")) is not None:
        hits.append(_freeze(at))
    if (at := _asked("CRASH_AT")) is not None:
        times, passage = int(os.environ.get("CRASH_TIMES", "1")), int(os.environ.get("CRASH_PASSAGE", "1"))
        hits.append(_crash(at, Path(os.environ["CRASH_MARK"]), times, passage))
    if not hits:
        return _go_on

    def hit(point: Failpoint) -> None:
        for action in hits:
            action(point)

    return hit


hit: Callable[[Failpoint], None] = _from_environment()
"""Called where the work comes to a point."""
