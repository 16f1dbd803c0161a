"""The one thread that writes accepted turns to the spool: all that came meanwhile in one transaction.

Threads that took turns at the file would wait for each other and for the interpreter's lock at every statement; so the
last of eight would not be done in time.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from concurrent.futures import Future, wait
from queue import Empty, SimpleQueue
from threading import Thread

from afterturn_client.errors import SpoolUnavailable
from afterturn_client.spool import Accepted, Spool
from afterturn_client.turns import Written

_Put = tuple[Written, "Future[Accepted]"]


class SpoolWriter:
    """Puts turns into a spool, each within `budget` seconds or not at all."""

    def __init__(self, spool: Spool, budget: float) -> None:
        self._spool, self._budget = spool, budget
        self._queue: SimpleQueue[_Put | None] = SimpleQueue()
        self._thread = Thread(target=self._run, name="afterturn-spool", daemon=True)
        self._thread.start()

    def put(self, turn: Written) -> Accepted:
        """Put a turn, and wait for it to be on the disk.

        Raises:
            ConflictingTurn, SpoolFull, SpoolUnavailable: see `Spool.put`.
        """
        future = self._begin(turn)
        wait([future], self._budget)
        if self._is_under_way(future):
            wait([future], self._budget)
        return self._outcome(future)

    async def put_async(self, turn: Written) -> Accepted:
        """Put a turn without ever blocking the event loop."""
        future = self._begin(turn)
        answered = asyncio.wrap_future(future)
        # `_outcome` asks the future itself; without this the loop complains that nobody did.
        answered.add_done_callback(lambda done: done.cancelled() or done.exception())
        await asyncio.wait([answered], timeout=self._budget)
        if self._is_under_way(future):
            await asyncio.wait([answered], timeout=self._budget)
        return self._outcome(future)

    def backlog(self) -> int:
        """Return about how many turns nobody has begun to write."""
        return self._queue.qsize()

    def close(self, timeout: float) -> None:
        """Write what was put, and end the thread."""
        self._queue.put(None)
        self._thread.join(timeout)

    def _begin(self, turn: Written) -> Future[Accepted]:
        future: Future[Accepted] = Future()
        self._queue.put((turn, future))
        return future

    def _is_under_way(self, future: Future[Accepted]) -> bool:
        """Return whether a turn is being written just now; one that nobody began with is taken back."""
        return not (future.done() or future.cancel())

    def _outcome(self, future: Future[Accepted]) -> Accepted:
        if future.cancelled():
            raise SpoolUnavailable(
                f"not accepted: the spool in {self._spool.folder} could not be written within "
                f"{self._budget * 1000:.0f} ms; enqueue the turn again"
            )
        if not future.done():
            raise SpoolUnavailable(
                f"the disk under {self._spool.folder} stands still: the turn may be accepted or not; enqueue it again "
                "under the same turn_id"
            )
        return future.result()

    def _run(self) -> None:
        ends = False
        while not ends:
            taken = [self._queue.get(), *self._rest()]
            ends = None in taken
            begun = [put for put in taken if put is not None and put[1].set_running_or_notify_cancel()]
            try:
                outcomes: Sequence[Accepted | Exception] = self._spool.put([turn for turn, _ in begun])
            except Exception as error:  # noqa: BLE001  # Raised where the turns came from; those behind it go on.
                outcomes = [error] * len(begun)
            for (_, future), outcome in zip(begun, outcomes, strict=True):
                if isinstance(outcome, Accepted):
                    future.set_result(outcome)
                else:
                    future.set_exception(outcome)

    def _rest(self) -> list[_Put | None]:
        rest: list[_Put | None] = []
        try:
            while True:
                rest.append(self._queue.get_nowait())
        except Empty:
            return rest
