"""Notifies of subjects when their pauses end, so that a turn that failed waits for its pause and for nothing else."""

from __future__ import annotations

import heapq
import threading
import time
from collections.abc import Callable

import structlog

from schema import Subject
from schema.errors import BrokerOutage

_log = structlog.get_logger()
_ROUNDED = 0.002
"""Redis counts pauses in whole milliseconds: who comes within one finds the subject still backing off."""


class DelayedNotifications:
    """Calls `notify` with a subject after a delay, from one thread a process that sleeps until the next is due.

    They live in this process alone: with it they are lost, and where the broker does not take one it is dropped. The
    sweep finds those subjects a little later. Celery's own `countdown` is not used: a worker holds such messages in
    hand, and beyond `worker_eta_task_limit` it takes no turn any more.
    """

    def __init__(self, notify: Callable[[Subject], None]) -> None:
        self._notify = notify
        self._due: list[tuple[float, str]] = []
        self._changed = threading.Condition()
        self._stopped = False
        self._thread: threading.Thread | None = None

    def after(self, seconds: float, subject: Subject) -> None:
        """Notify of a subject in so many seconds."""
        with self._changed:
            if self._stopped:
                return
            heapq.heappush(self._due, (time.monotonic() + seconds + _ROUNDED, subject.key))
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="delayed-notifications", daemon=True)
                self._thread.start()
            self._changed.notify()

    def stop(self) -> None:
        """Drop what is not due yet, and end the thread."""
        with self._changed:
            self._stopped = True
            self._changed.notify()
        if self._thread is not None:
            self._thread.join()

    def _run(self) -> None:
        while (key := self._next()) is not None:
            try:
                self._notify(Subject.from_key(key))
            except BrokerOutage as error:
                _log.warning("not_notified", stage="mailbox", error=type(error).__name__)

    def _next(self) -> str | None:
        """Return the next that is due, having waited for it; None when it is over."""
        with self._changed:
            while not self._stopped:
                if not self._due:
                    self._changed.wait()
                elif (seconds := self._due[0][0] - time.monotonic()) > 0:
                    self._changed.wait(seconds)
                else:
                    return heapq.heappop(self._due)[1]
        return None
