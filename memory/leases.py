"""Keeps the leases of the mailboxes that this process works on, for as long as it works on them."""

from __future__ import annotations

import math
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial

import structlog

from memory.context import MemoryContext
from schema import Subject
from schema.errors import BrokerFailed, LeaseLost, Transient
from stores.llm.cancellation import wanted_while
from stores.mailbox import Lease, Mailbox

WAIT_SECONDS = 5.0
"""For how long somebody waits for a subject that a worker has in hand, unless they say otherwise."""
_POLL_SECONDS = 0.05
_HELD_BACK_SECONDS = 0.5
"""For how long no worker takes a subject's turns after whoever waits for its lease last asked."""
_log = structlog.get_logger()


class SubjectBusy(Transient):
    """A worker has the subject's mailbox in hand. The message says what to do."""


@contextmanager
def subject_lease(
    subject: Subject, context: MemoryContext, *, wait_seconds: float | None = None, before_turns: bool = False
) -> Iterator[Lease]:
    """Hold a subject's lease for as long as the block takes; with `before_turns` ahead of the turns that are parked: a
    worker leaves them after the batch that it has in hand.

    Raises:
        SubjectBusy: it was not to be had within `wait_seconds`, 5 unless given.
    """
    deadline = time.monotonic() + (WAIT_SECONDS if wait_seconds is None else wait_seconds)
    while (lease := context.mailbox.acquire_lease(subject, context.settings.lease_seconds)) is None:
        if time.monotonic() > deadline:
            raise SubjectBusy(f"a worker has the turns of {subject.subject_id!r} in hand; try again in a moment")
        if before_turns:
            context.mailbox.hold_back(subject, _HELD_BACK_SECONDS)
        time.sleep(_POLL_SECONDS)
    leases = LeaseKeeper(context.mailbox, context.settings.lease_seconds, math.inf)
    try:
        with leases.keeping(lease):
            yield lease
    finally:
        leases.stop()
        context.mailbox.release_lease(lease)


class LeaseKeeper:
    """Renews every held lease three times before it would run out, from one thread a process.

    A lease that could not be renewed is not an error here: the catalog refuses what is written under an old one. A
    thread cannot be ended from outside, so a batch that is in hand for longer than `deadline` seconds ends the
    process through `on_stuck`: its supervisor starts a new one, and the turns come back by themselves.
    """

    def __init__(
        self,
        mailbox: Mailbox,
        lease_seconds: float,
        deadline: float,
        on_stuck: Callable[[], None] = lambda: os._exit(1),
    ) -> None:
        self._mailbox = mailbox
        self._lease_seconds = lease_seconds
        self._deadline = deadline
        self._on_stuck = on_stuck
        self._held: dict[Lease, float] = {}
        self._renewed: dict[Lease, float] = {}
        self._giving_back: dict[Lease, Callable[[], None]] = {}
        self._takes_more = True
        self._idle_since = -math.inf
        self._lock = threading.Condition()
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="lease-keeper", daemon=True)
        self._thread.start()

    @contextmanager
    def keeping(self, lease: Lease, give_back: Callable[[], None] | None = None) -> Iterator[None]:
        """Keep a lease until the block ends. While it may be lost, no model is asked: another worker may ask too.

        `give_back` gives up what is done under it where the process ends first; unless given, the lease is released.
        """
        with self._lock:
            self._held[lease] = self._renewed[lease] = time.monotonic()
            self._giving_back[lease] = give_back or partial(self._release, lease)
        try:
            with wanted_while(partial(self._ensure_held, lease)):
                yield
        finally:
            with self._lock:
                self._held.pop(lease, None)
                self._renewed.pop(lease, None)
                self._giving_back.pop(lease, None)
                if not self._held:
                    self._idle_since = time.monotonic()
                    self._lock.notify_all()

    def oldest(self) -> float:
        """Return for how many seconds the oldest batch is in hand; 0 where none is."""
        with self._lock:
            return time.monotonic() - min(self._held.values()) if self._held else 0.0

    def wait_idle(self, seconds: float, quiet: float = 0.0) -> bool:
        """Wait until nothing is in hand nor was for `quiet` seconds, `seconds` at most. Returns whether it is so."""
        deadline = time.monotonic() + seconds
        with self._lock:
            while self._held or time.monotonic() - self._idle_since < quiet:
                now = time.monotonic()
                if now >= deadline:
                    return False
                self._lock.wait(deadline - now if self._held else min(deadline, self._idle_since + quiet) - now)
            return True

    @property
    def takes_more(self) -> bool:
        """Return whether more may be taken behind what is in hand."""
        return self._takes_more

    def take_no_more(self) -> None:
        """Leave to others what is not in hand yet: this process is to end."""
        self._takes_more = False

    def give_back(self) -> int:
        """Give up all that is in hand, for a process that ends without it, and answer how much that was. What its
        threads still write under their leases is refused once others hold these."""
        with self._lock:
            giving_back = list(self._giving_back.values())
            self._held.clear()
            self._renewed.clear()
            self._giving_back.clear()
        for give_back in giving_back:
            try:
                give_back()
            except BrokerFailed as error:
                # It is taken over when its lease ends.
                _log.warning("lease_not_given_back", stage="mailbox", error=type(error).__name__)
        return len(giving_back)

    def stop(self) -> None:
        self._stopped.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._stopped.wait(self._lease_seconds / 3):
            if (oldest := self.oldest()) > self._deadline:
                _log.error("stuck", stage="mailbox", seconds=round(oldest))
                self._on_stuck()
            with self._lock:
                leases = list(self._held)
            for lease in leases:
                asked_at = time.monotonic()
                try:
                    is_renewed = self._mailbox.renew(lease, self._lease_seconds)
                except BrokerFailed as error:
                    _log.warning("lease_not_renewed", stage="mailbox", error=type(error).__name__)
                    continue
                with self._lock:
                    if is_renewed and lease in self._renewed:
                        self._renewed[lease] = asked_at

    def _release(self, lease: Lease) -> None:
        self._mailbox.release_lease(lease)

    def _ensure_held(self, lease: Lease) -> None:
        """Raise `LeaseLost` where a lease was not renewed for two thirds of its time: twice it should have been."""
        with self._lock:
            renewed_at = self._renewed.get(lease)
        if renewed_at is None or time.monotonic() - renewed_at > self._lease_seconds * 2 / 3:
            raise LeaseLost("its lease may have run out: another worker takes the turns")
