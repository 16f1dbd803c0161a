"""Broker work on a few threads, so that whoever enqueues waits for as long as it wants to and no longer."""

from __future__ import annotations

import logging
import time
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from functools import partial
from threading import Lock

from producers.broker import Broker
from producers.spool import Spool
from schema import Subject, Turn
from schema.errors import BrokerFailed, BrokerRefused, SpoolUnavailable
from stores.mailbox import Receipt

_THREADS = 8
_SHORT_CIRCUIT_SECONDS = 1.0
"""How long a broker that failed is let alone before one turn tries it again."""

_log = logging.getLogger("afterturn.producers")


@dataclass(frozen=True)
class Attempt:
    """One turn on its way to the broker.

    `parked` ends as soon as the turn is safe in its mailbox, with the receipt; with what failed; or with None when
    the turn must go behind others in the spool. Its message is sent after that, and `over` is then done too.
    """

    parked: Future[Receipt | None]
    over: Future[None]


class Handover:
    """Hands turns to the broker, but for those of users whose earlier turns lie in the spool."""

    def __init__(self, spool: Spool, broker: Broker) -> None:
        self._spool = spool
        self._broker = broker
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="afterturn-broker")
        self._lock = Lock()
        self._under_way: set[Future[None]] = set()
        self._failing = False
        self._not_before = 0.0

    def begin(self, turn: Turn, waited: float = 0.0) -> Attempt | None:
        """Set a turn on its way that was enqueued `waited` seconds ago; None when the broker failed a moment ago and is
        let alone."""
        if not self._may_try():
            return None
        parked: Future[Receipt | None] = Future()
        try:
            over = self._threads.submit(self._hand_over, turn, waited, parked)
        except RuntimeError:
            # The interpreter is shutting down, or the producer was closed: no thread can be had any more.
            return None
        over.add_done_callback(partial(_pass_on, parked))
        self._under_way.add(over)
        over.add_done_callback(self._under_way.discard)
        return Attempt(parked, over)

    def settle(self, attempt: Attempt) -> Receipt | None:
        """Return what came of an attempt that the caller waited for; None when the turn must go to the spool.

        An attempt that has not ended may still succeed; that the turn is spooled too is no harm.

        Raises:
            ConflictingTurn, QuotaExceeded, BrokerRefused: as `Broker.park`.
        """
        if not attempt.parked.done() or attempt.parked.cancelled():
            attempt.over.cancel()
            self._let_alone("it did not take a turn within AFTERTURN_ENQUEUE_BUDGET_MS")
            return None
        failure = attempt.parked.exception()
        if isinstance(failure, BrokerFailed) and not isinstance(failure, BrokerRefused):
            self._let_alone(f"{type(failure).__name__}: {failure}")
            return None
        return attempt.parked.result()

    def close(self, timeout: float) -> None:
        """Begin nothing more, and wait at most `timeout` seconds for messages that are being sent."""
        self._threads.shutdown(wait=False, cancel_futures=True)
        wait(self._under_way.copy(), timeout)

    def _hand_over(self, turn: Turn, waited: float, parked: Future[Receipt | None]) -> None:
        if self._is_behind_others(turn.subject):
            return
        receipt = self._broker.park(turn, waited=waited)
        self._failing = False
        parked.set_result(receipt)
        if receipt.notify:
            try:
                self._broker.announce(turn)
            except BrokerFailed as error:
                self._let_alone(f"a parked turn waits for the sweeper: {type(error).__name__}: {error}")

    def _is_behind_others(self, subject: Subject) -> bool:
        try:
            return self._spool.holds(subject)
        except SpoolUnavailable as error:
            # What lies in there cannot be flushed either: better a turn before it than no turn.
            _log.error("turns go past the spool: %s", error)
            return False

    def _may_try(self) -> bool:
        if not self._failing:
            return True
        with self._lock:
            now = time.monotonic()
            if now < self._not_before:
                return False
            self._not_before = now + _SHORT_CIRCUIT_SECONDS
            return True

    def _let_alone(self, reason: str) -> None:
        with self._lock:
            if not self._failing:
                _log.warning("the broker is let alone for a moment, turns are spooled or refused meanwhile: %s", reason)
            self._failing = True
            self._not_before = time.monotonic() + _SHORT_CIRCUIT_SECONDS


def _pass_on(parked: Future[Receipt | None], over: Future[None]) -> None:
    """See to it that whoever waits for `parked` hears of an attempt that ended before it."""
    if parked.done():
        return
    if over.cancelled():
        parked.cancel()
    elif (failure := over.exception()) is not None:
        parked.set_exception(failure)
    else:
        parked.set_result(None)
