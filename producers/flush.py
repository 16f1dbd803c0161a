"""The thread that hands spooled turns to the broker, in order, as soon as it takes them."""

from __future__ import annotations

import logging
import math
import time
from threading import Condition, Event, Thread

from pydantic import ValidationError

from producers.broker import Broker
from producers.counting import Outcome, Tally
from producers.spool import Spool, SpooledTurn
from schema import Turn
from schema.errors import BrokerFailed, BrokerRefused, ConflictingTurn, SettingsError, SpoolUnavailable
from schema.wrong_fields import wrong_fields

_LOOK_SECONDS = 1.0
"""How often an idle process looks whether another left turns behind, and how long a broker that failed is let alone."""
_BATCH_TURNS = 64

_log = logging.getLogger("afterturn.producers")


class Flusher:
    """Flushes a spool for one process while no other process of the machine does."""

    def __init__(self, spool: Spool, broker: Broker, tally: Tally, *, max_pending_turns: int) -> None:
        self._spool = spool
        self._broker = broker
        self._tally = tally
        self._max_pending_turns = max_pending_turns
        self._pending_turns = 0
        self._work, self._stopping = Event(), Event()
        self._passed = Condition()
        self._failing = False
        self._unshrunk = True
        self._end = math.inf
        self._thread = Thread(target=self._run, name="afterturn-flusher", daemon=True)
        self.refused: SettingsError | None = None
        """Why the broker refuses us, while it does."""

    def start(self) -> None:
        self._thread.start()

    def wake(self) -> None:
        """Say that there may be turns in the spool."""
        self._work.set()

    def note_pending(self, turns: int) -> None:
        """Note how many turns wait in the mailboxes."""
        self._pending_turns = turns

    def overloaded(self) -> bool:
        """Return whether more turns wait in the mailboxes than should, as last heard, a second ago at most."""
        return self._pending_turns > self._max_pending_turns

    def wait_until_empty(self, timeout: float) -> int:
        """Wait at most `timeout` seconds for the spool to be empty, and answer how many turns are left.

        Raises:
            SpoolUnavailable: it cannot be read.
        """
        deadline = time.monotonic() + timeout
        self.wake()
        with self._passed:
            while (depth := self._spool.depth()) and (remaining := deadline - time.monotonic()) > 0:
                self._passed.wait(min(remaining, 0.1))
        return depth

    def stop(self, timeout: float) -> bool:
        """Flush once more if the broker takes it, and end the thread; False if it runs on after `timeout` seconds."""
        self._end = time.monotonic() + timeout
        self._stopping.set()
        self._work.set()
        self._thread.join(timeout)
        return not self._thread.is_alive()

    def _run(self) -> None:
        last = False
        while not last:
            if self._failing:
                self._stopping.wait(_LOOK_SECONDS)
            else:
                self._work.wait(_LOOK_SECONDS)
            self._work.clear()
            last = self._stopping.is_set()
            failure = self._pass()
            if failure is not None and not self._failing:
                _log.warning("turns stay in the spool: %s: %s", type(failure).__name__, failure)
            elif failure is None and self._failing:
                _log.info("the spool is flushed again")
            self._failing = failure is not None
            self.refused = failure if isinstance(failure, BrokerRefused) else None
            with self._passed:
                self._passed.notify_all()

    def _pass(self) -> Exception | None:
        """Flush what there is, and return what kept it from that, or None."""
        try:
            empty = self._spool.is_empty()
            if self._unshrunk or not empty:
                with self._spool.locked() as alone:
                    if alone and not empty:
                        self._flush()
                    elif alone:
                        # A pass later, when nobody is likely to write to the spool.
                        self._spool.shrink()
                        self._unshrunk = False
            self._tally.show_depth(self._spool.depth())
            if self.overloaded():
                self.note_pending(self._broker.pending_turns())
        except (SpoolUnavailable, BrokerFailed) as failure:
            return failure
        return None

    def _flush(self) -> None:
        self._unshrunk = True
        while time.monotonic() < self._end and (turns := self._spool.oldest(_BATCH_TURNS)):
            safe: list[SpooledTurn] = []
            try:
                safe.extend(turn for turn in turns if self._hand_over(turn))
            finally:
                self._take_out(safe)
                self._spool.write_through()

    def _take_out(self, safe: list[SpooledTurn]) -> None:
        # Whoever waits for an empty spool must not see one before it was counted.
        with self._passed:
            self._spool.remove(safe)
            for _ in safe:
                self._tally.count(Outcome.FLUSHED)
            self._tally.show_depth(self._spool.depth())

    def _hand_over(self, spooled: SpooledTurn) -> bool:
        """Return whether the broker has the turn; a turn that it will never take is put aside instead."""
        try:
            turn = Turn.model_validate_json(spooled.body)
            receipt = self._broker.park(turn, was_accepted=True, waited=spooled.waited())
        except ConflictingTurn:
            return self._reject(spooled, "another turn was enqueued under this turn_id")
        except ValidationError as error:
            return self._reject(spooled, f"it is no turn of this version: {wrong_fields(error)}")
        self.note_pending(receipt.pending)
        if receipt.notify:
            try:
                self._broker.announce(turn)
            except BrokerFailed as error:
                _log.warning("a parked turn waits for the sweeper: %s: %s", type(error).__name__, error)
        return True

    def _reject(self, spooled: SpooledTurn, reason: str) -> bool:
        self._spool.reject(spooled, reason)
        self._tally.count(Outcome.REJECTED)
        _log.error("turn %s was put aside in %s: %s", spooled.turn_id, self._spool.folder, reason)
        return False
