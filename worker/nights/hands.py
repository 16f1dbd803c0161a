"""One hand a process: whatever runs a night has, one chunk of them is in work here at a time.

The work of a night is done by processors more than it waits, so a second thread of the same process would win nothing,
and turns would wait for both.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable


class Hand:
    """The hand of one process. Safe to call from many threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._at_work = False
        self._turned_away: Counter[str] = Counter()
        self._stopping = threading.Event()

    def stop(self) -> None:
        """Say that the process is to end: what is in work is left at the next subject."""
        self._stopping.set()

    def is_stopping(self) -> bool:
        return self._stopping.is_set()

    def lend(self, run_id: str, work: Callable[[], None], ask_again: Callable[[str], None]) -> None:
        """Work on a run, or turn the message away if the hand is at work.

        Those who asked meanwhile are asked for again at the end, once for each message that was turned away, so that
        any process of the fleet may take them. If the work fails they are not: beat asks again.
        """
        with self._lock:
            if self._at_work:
                self._turned_away[run_id] += 1
                return
            self._at_work = True
        again: Counter[str] = Counter()
        try:
            work()
        finally:
            with self._lock:
                self._at_work = False
                again, self._turned_away = self._turned_away, again
        for one in again.elements():
            ask_again(one)
