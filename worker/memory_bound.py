"""A worker's bound on memory: past it the worker finishes what it has in hand and ends, far past it it ends at once.

Celery bounds the memory of the children of its prefork pool alone, and these workers are one process with threads.
RLIMIT_AS would count what is reserved, not what is used: each thread's stack, and every file of an index and a model
that is mapped. RLIMIT_DATA makes native code abort at any allocation, and with it every turn in hand.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Final

import structlog

from schema.errors import SettingsError

_log = structlog.get_logger()
_LOOK_SECONDS: Final = 0.25
_AT_ONCE: Final = 1.25
"""How far past the bound nothing is waited for any more: the kernel would kill whom it likes soon."""
_STATM: Final = Path("/proc/self/statm")
_RESIDENT: Final = 1
"""The place of the resident pages in a line of statm."""
_MEGABYTE: Final = 1024 * 1024


def resident_mb() -> float:
    """Return how many megabytes of memory this process has.

    Raises:
        OSError: this system does not say.
    """
    pages = int(_STATM.read_text("ascii").split()[_RESIDENT])
    return pages * os.sysconf("SC_PAGE_SIZE") / _MEGABYTE


def _end_in_order() -> None:
    os.kill(os.getpid(), signal.SIGTERM)


def _end_at_once() -> None:
    os._exit(1)


class MemoryBound:
    """Looks at the memory of this process some times a second, from a thread of its own.

    Raises:
        SettingsError: a bound is set and this system does not say how much memory a process has.
    """

    def __init__(
        self,
        bound_mb: int,
        *,
        used_mb: Callable[[], float] = resident_mb,
        in_order: Callable[[], None] = _end_in_order,
        at_once: Callable[[], None] = _end_at_once,
    ) -> None:
        self._bound = bound_mb
        self._used = used_mb
        self._in_order = in_order
        self._at_once = at_once
        self._is_ending = False
        self._stopped = threading.Event()
        if bound_mb:
            try:
                used_mb()
            except OSError as error:
                raise SettingsError(f"AFTERTURN_WORKER_MEMORY_MB: {_STATM} cannot be read here: {error}") from error
            threading.Thread(target=self._run, name="memory-bound", daemon=True).start()

    def look(self) -> None:
        """End the worker where it has more memory than it may."""
        used = self._used()
        if used > self._bound * _AT_ONCE:
            _log.error("memory_far_past_bound", stage="mailbox", megabytes=round(used))
            self._at_once()
        elif used > self._bound and not self._is_ending:
            _log.warning("memory_past_bound", stage="mailbox", megabytes=round(used))
            self._is_ending = True
            self._in_order()

    def stop(self) -> None:
        """Look no more."""
        self._stopped.set()

    def _run(self) -> None:
        while not self._stopped.wait(_LOOK_SECONDS):
            try:
                self.look()
            except OSError as error:
                # No more files may be opened, for one: the next look may be luckier.
                _log.error("memory_unknown", stage="mailbox", reason=str(error))
