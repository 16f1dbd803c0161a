"""Accept turns onto this machine's disk, and have them sent: what both clients share."""

from __future__ import annotations

import asyncio
import logging
import time
import weakref
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from afterturn_client.errors import SpoolUnavailable
from afterturn_client.processes import OfProcess
from afterturn_client.requests import turn as request_of
from afterturn_client.sender import Sender
from afterturn_client.spool import Accepted, Depth, Rejected, Spool, Spooled, left_waiting
from afterturn_client.spool_writer import SpoolWriter
from afterturn_client.turns import Written

if TYPE_CHECKING:
    from afterturn_client.configuration import Configuration
    from afterturn_client.transport import Link

CLOSE_SECONDS: Final = 2.0
_SIDE_BY_SIDE: Final = 8

_log = logging.getLogger("afterturn_client")


@dataclass(frozen=True)
class Enqueued:
    """A turn that was accepted, by the id that it is known by."""

    turn_id: str
    accepted: Accepted


@dataclass(frozen=True)
class Bounds:
    """In which folder turns wait (None: that of the service and the key), how many turns and bytes may, and within how
    many seconds each is accepted or not."""

    folder: Path | str | None
    max_turns: int
    max_bytes: int
    budget: float

    def open(self, configuration: Configuration) -> Spool:
        """Open the spool, and say in the log where turns wait for another key.

        Raises:
            SpoolUnavailable: the folder cannot be written.
        """
        folder = configuration.spool_folder() if self.folder is None else Path(self.folder)
        spool = Spool(folder, max_turns=self.max_turns, max_bytes=self.max_bytes, put_seconds=self.budget)
        if self.folder is None:
            for other in configuration.spool_folders_of_other_keys():
                _warn_of(other)
        return spool


def _warn_of(folder: Path) -> None:
    # Not taken over: the other key may be another tenant's, and a turn becomes that tenant's whose key sends it.
    try:
        waiting = left_waiting(folder)
    except SpoolUnavailable as error:
        _log.warning("whether turns wait there for another key cannot be told: %s", error)
        return
    if waiting:
        _log.warning(
            "%d turns wait in %s for a client of another key of this service. If that key was replaced and this one is "
            "of the same tenant, a client with this key and that folder as `spool_dir` sends them",
            waiting,
            folder,
        )


class _Connections:
    def __init__(self, link: Link, spool: Spool, budget: float) -> None:
        from afterturn_client.senders import Sync

        self.spool = spool
        # Made by the thread that sends: it takes as long as a turn may take to be accepted.
        self._http = http = OfProcess(lambda: Sync(link))

        def hand_over(turn: Spooled) -> None:
            http.get().once(request_of(turn.body, turn.waited()))

        self.sender = Sender(self.spool, hand_over, side_by_side=_SIDE_BY_SIDE)
        self.writer = SpoolWriter(self.spool, budget)
        self.sender.start()

    def accepted(self, turn: Written, accepted: Accepted) -> Enqueued:
        self.sender.wake()
        return Enqueued(turn.turn_id, accepted)

    def tidy(self) -> None:
        """Leave nothing on the disk of what was dropped, at once if nobody else reads just now."""
        if not self.spool.tidy():
            self.sender.tidy_later()

    def close(self, timeout: float) -> int:
        self.writer.close(timeout)
        ended = self.sender.stop(timeout)
        waiting = self.spool.depth().waiting
        if waiting:
            _log.warning(
                "%d turns are left in %s; the next client of this spool sends them", waiting, self.spool.folder
            )
        if ended:
            self.spool.close()
            if (http := self._http.take()) is not None:
                http.close()
        return waiting


class Enqueuer:
    """Accepts turns in any thread of any process, and sends them from a thread of its own.

    Raises:
        SpoolUnavailable: the spool's folder cannot be written.
    """

    def __init__(self, link: Link, bounds: Bounds) -> None:
        spool = bounds.open(link.configuration)
        self._connections = OfProcess(lambda: _Connections(link, spool, bounds.budget))
        # At the end of a process that nobody closed the client in.
        self._at_exit = weakref.finalize(self, _close, self._connections, CLOSE_SECONDS)

    def put(self, turn: Written) -> Enqueued:
        """Accept a turn."""
        running = self._connections.get()
        return running.accepted(turn, running.writer.put(turn))

    async def put_async(self, turn: Written) -> Enqueued:
        """Accept a turn without blocking the event loop."""
        running = self._connections.there()
        if running is None:
            running = await asyncio.to_thread(self._connections.get)
        return running.accepted(turn, await running.writer.put_async(turn))

    def flush(self, timeout: float) -> int:
        """Wait at most `timeout` seconds for the spool to be empty, and return how many turns are left."""
        return self._connections.get().sender.wait_until_empty(timeout)

    def depth(self) -> Depth:
        """Return how much lies in the spool."""
        return self._connections.get().spool.depth()

    def rejected(self, limit: int) -> list[Rejected]:
        """Return turns that the service will never take, oldest first."""
        return self._connections.get().spool.rejected(limit)

    def drop_rejected(self, turns: Iterable[Rejected]) -> int:
        """Drop such turns, and return how many were still there."""
        running = self._connections.get()
        dropped = running.spool.drop_rejected(turns)
        running.tidy()
        return dropped

    def last(self) -> int:
        """Return the position of the last turn that was accepted."""
        return self._connections.get().spool.last()

    def drop_user(self, user: str, last: int) -> None:
        """Drop what a user said up to a position, whether it waits or was rejected."""
        running = self._connections.get()
        running.spool.drop_user(user, last)
        running.tidy()

    def close(self, timeout: float) -> int:
        """Send what can be sent in `timeout` seconds, and return how many turns are left; a later `put` begins anew."""
        return _close(self._connections, timeout)


def _close(running: OfProcess[Any], timeout: float) -> int:
    deadline = time.monotonic() + timeout
    taken = running.take()
    return 0 if taken is None else taken.close(max(0.1, deadline - time.monotonic()))
