"""Keeps the leases of the mailboxes that this process works on, for as long as it works on them."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import structlog
from redis.exceptions import RedisError

from memory.mailbox import Lease, Mailbox

_log = structlog.get_logger()


class LeaseKeeper:
    """Renews every held lease three times before it would run out, from one thread a process.

    A lease that could not be renewed is not an error here: the catalog refuses what is written under an old one.
    """

    def __init__(self, mailbox: Mailbox, lease_seconds: float) -> None:
        self._mailbox = mailbox
        self._lease_seconds = lease_seconds
        self._held: set[Lease] = set()
        self._lock = threading.Lock()
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="lease-keeper", daemon=True)
        self._thread.start()

    @contextmanager
    def keeping(self, lease: Lease) -> Iterator[None]:
        """Keep a lease until the block ends."""
        with self._lock:
            self._held.add(lease)
        try:
            yield
        finally:
            with self._lock:
                self._held.discard(lease)

    def stop(self) -> None:
        self._stopped.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._stopped.wait(self._lease_seconds / 3):
            with self._lock:
                held = list(self._held)
            for lease in held:
                try:
                    self._mailbox.renew(lease, self._lease_seconds)
                except RedisError as error:
                    _log.warning("lease_not_renewed", stage="mailbox", error=type(error).__name__)
