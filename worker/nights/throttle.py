"""Turns go first on the processors of this machine too: one page of a night at a time, and rests while turns are in
hand.

The work of a night is done by processors more than it waits, so a second thread of the same process would win nothing,
and turns would wait for both.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Final

from memory.leases import LeaseKeeper

_REST: Final = 9.0
"""Seconds of rest for each second of work, at most, while turns come: so a night gets a tenth of one thread's time
where they never cease, and all of it where there are none."""
_QUIET_SECONDS: Final = 1.0
"""For how long no turn was in hand where none are coming: at five a second, turns are in hand a tenth of the time."""
_LONGEST_SECONDS: Final = 5.0


class SingleFlight:
    """Lets one piece of work at a time into this process. Safe to call from many threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._in_flight = False
        self._turned_away: list[str] = []
        self._stopping = threading.Event()

    def stop(self) -> None:
        """Say that the process is to end: what is in work is left at the next subject."""
        self._stopping.set()

    def is_stopping(self) -> bool:
        return self._stopping.is_set()

    def run(self, key: str, work: Callable[[], None], ask_again: Callable[[str], None]) -> None:
        """Do the work, or turn it away while other work is in flight.

        At the end `ask_again` is called with the key of each that was turned away, so that any process of the fleet
        may do it. If the work fails it is not: beat asks again.
        """
        with self._lock:
            if self._in_flight:
                self._turned_away.append(key)
                return
            self._in_flight = True
        try:
            work()
        finally:
            with self._lock:
                self._in_flight = False
                turned_away, self._turned_away = self._turned_away, []
        for waiting_key in turned_away:
            ask_again(waiting_key)


class Pace:
    """Rests between two steps of a night's work while turns come to this process: so often that a turn which comes
    meanwhile has the interpreter soon. Between two steps the night itself must hold no lease.
    """

    def __init__(self, leases: LeaseKeeper) -> None:
        self._leases = leases
        self._since = time.monotonic()
        self._owed = 0.0

    def rest(self) -> None:
        """Wait until no turns come any more, for as long as is owed for the work since the first rest at most: what was
        not needed while nobody talked is there for who talks later."""
        began = time.monotonic()
        self._owed = min(_LONGEST_SECONDS, self._owed + _REST * (began - self._since))
        self._leases.wait_idle(self._owed, _QUIET_SECONDS)
        self._since = time.monotonic()
        self._owed = max(0.0, self._owed - (self._since - began))
