"""The end of a worker that is asked to stop: within its time, whatever hangs, so that nobody has to kill it."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from typing import Final

import structlog

from memory.leases import LeaseKeeper

_GIVING_BACK_SECONDS: Final = 2.0
_log = structlog.get_logger()


class Shutdown:
    """Lets what is in hand be finished, for `seconds` at most. Shortly before, what is not finished is given back, so
    that others take it at once and no delivery counts against it, and the process ends.

    Celery waits for the threads of its pool for as long as they take, and a thread cannot be ended from outside.
    """

    def __init__(self, leases: LeaseKeeper, seconds: float, end: Callable[[], None] = lambda: os._exit(0)) -> None:
        self._leases = leases
        self._seconds = seconds
        self._end = end
        self._is_begun = False
        self._finished = threading.Event()

    def begin(self) -> None:
        """Take no more, and end in time. Asked again it changes nothing."""
        if self._is_begun:
            return
        self._is_begun = True
        self._leases.take_no_more()
        # A broker that hangs holds up the giving back, and a store its closing: the end comes all the same.
        last = threading.Timer(self._seconds, self._end)
        last.daemon = True
        last.start()
        threading.Thread(target=self._give_back, name="shutdown", daemon=True).start()

    def finish(self) -> None:
        """Say that nothing is in hand any more."""
        self._finished.set()

    def _give_back(self) -> None:
        if self._finished.wait(max(self._seconds - _GIVING_BACK_SECONDS, self._seconds / 2)):
            return
        given_back = self._leases.give_back()
        _log.warning("ended_with_work_in_hand", stage="mailbox", given_back=given_back)
        self._end()
