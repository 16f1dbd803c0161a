"""The way in for a chat backend: `enqueue(turn)` after the response has gone out.

A turn goes to the broker, or, when that does not take it within the budget, into the spool on this machine's disk.
Either way `enqueue` is back in time, and what it accepted will be processed.
"""

from __future__ import annotations

import asyncio
import os
import time
import uuid
import weakref
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor, wait
from datetime import UTC, datetime, timedelta
from functools import cache
from threading import Lock
from types import TracebackType
from typing import Any, Self

from pydantic import ValidationError

from producers.broker import Broker
from producers.counting import Accepted, Counters, Outcome, Tally
from producers.flush import Flusher
from producers.handover import Attempt, Handover
from producers.spool import Spool
from schema import Turn
from schema.errors import ConflictingTurn, InvalidTurn, QuotaExceeded, SettingsError, SpoolFull, SpoolUnavailable
from schema.settings import Settings, load_settings
from schema.wrong_fields import wrong_fields

_BROKER_TIMEOUT_SECONDS = 1.0
_FLUSH_TIMEOUT_SECONDS = 2.0
_CLOSE_SECONDS = 2.0
_SPOOL_SHARE = 0.3
"""The part of the budget that is kept for writing to the spool."""


class _Resources:
    """Connections, files and threads of a producer in one process; none of them outlives a fork."""

    def __init__(self, settings: Settings, tally: Tally) -> None:
        self.process = os.getpid()
        self.spool = _open_spool(settings)
        self._brokers = (
            Broker(settings, timeout=_BROKER_TIMEOUT_SECONDS),
            Broker(settings, timeout=_FLUSH_TIMEOUT_SECONDS),
        )
        self.handover = Handover(self.spool, self._brokers[0])
        self.flusher = Flusher(self.spool, self._brokers[1], tally, max_pending_turns=settings.max_pending_turns)
        self.spooling = ThreadPoolExecutor(1, thread_name_prefix="afterturn-spool")
        self.flusher.start()

    def close(self, timeout: float) -> None:
        deadline = time.monotonic() + timeout
        self.handover.close(timeout)
        self.spooling.shutdown(wait=False)
        if self.flusher.stop(max(0.1, deadline - time.monotonic())):
            self.spool.close()
            for broker in self._brokers:
                broker.close()


class Producer:
    """Enqueues turns. Make one per process, when it starts, and share it between threads and event loops.

    Making it checks the settings and the spool's folder; threads and connections come with the first turn, so it may be
    made before a fork. Turns of an earlier process that lie in the spool are handed over from the first turn on.

    Raises:
        SettingsError: the spool's folder cannot be used.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._budget = settings.enqueue_budget_ms / 1000
        self._tally = Tally()
        self._lock = Lock()
        self._resources: _Resources | None = None
        self._at_exit: weakref.finalize[..., Producer] | None = None
        try:
            spool = _open_spool(settings)
        except SpoolUnavailable as error:
            raise SettingsError(str(error)) from error
        self._tally.show_depth(spool.depth())
        spool.close()
        broker = Broker(settings, timeout=_BROKER_TIMEOUT_SECONDS)
        broker.load()
        broker.close()
        _PRODUCERS.add(self)

    def enqueue(
        self, turn: Turn | Mapping[str, Any] | None = None, /, *, waited_seconds: float = 0.0, **fields: Any
    ) -> Accepted:
        """Hand over one turn, within AFTERTURN_ENQUEUE_BUDGET_MS milliseconds whatever the broker does.

        A turn is given whole, or by its fields: `user_id` and `messages` are enough. What is left out is then that of a
        turn said just now, in the tenant and the conversation `default`, under an id of its own: whoever may send a
        turn twice gives it a `turn_id`. `metadata`, names and plain values of your own, is kept with the turn. Whoever
        kept the turn before says for how many seconds (`waited_seconds`; 30 days at most count): what was erased since
        then does not come back with it.

        Once this returns the turn will be processed. Enqueuing the same turn again changes nothing and says so. Only
        others who write to the spool at the same moment can make it wait for longer, by as much again at most.

        Raises:
            InvalidTurn: a field is missing, unknown or wrong, or the text is too long.
            ConflictingTurn: another turn was enqueued under the same turn_id.
            QuotaExceeded: not accepted: the user, or the tenant, has had its turns of this minute.
            SpoolFull, SpoolUnavailable: not accepted: the broker does not take it, nor does the spool.
            SettingsError: not accepted: the broker refuses our credentials.
        """
        deadline = time.monotonic() + self._budget
        accepted = self._parsed(turn, fields)
        resources = self._here()
        attempt = resources.handover.begin(accepted, waited_seconds)
        if attempt is not None:
            wait([attempt.parked], self._patience(deadline))
        return self._settle(resources, attempt) or self._spool(resources, accepted, waited_seconds)

    async def enqueue_async(
        self, turn: Turn | Mapping[str, Any] | None = None, /, *, waited_seconds: float = 0.0, **fields: Any
    ) -> Accepted:
        """Do what `enqueue` does, without ever blocking the event loop.

        Where the awaiting task is cancelled, the turn may or may not have been accepted.
        """
        deadline = time.monotonic() + self._budget
        accepted = self._parsed(turn, fields)
        resources = self._resources
        if resources is None:
            resources = await asyncio.to_thread(self._here)
        attempt = resources.handover.begin(accepted, waited_seconds)
        if attempt is not None:
            answered = asyncio.wrap_future(attempt.parked)
            # `_settle` asks the attempt itself; without this the loop complains that nobody did.
            answered.add_done_callback(lambda future: future.cancelled() or future.exception())
            await asyncio.wait([answered], timeout=self._patience(deadline))
        outcome = self._settle(resources, attempt)
        if outcome is not None:
            return outcome
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(resources.spooling, self._spool, resources, accepted, waited_seconds)

    def overloaded(self) -> bool:
        """Return whether more turns wait to be processed than AFTERTURN_MAX_PENDING_TURNS: a signal to send fewer.

        `enqueue` still takes turns. It is what the broker last said, and asks nobody; False before the first turn.
        """
        return self._resources is not None and self._resources.flusher.overloaded()

    def counters(self) -> Counters:
        """Return what this producer counted in this process."""
        return self._tally.counters()

    def flush(self, timeout: float) -> int:
        """Wait at most `timeout` seconds for the spool to be empty, and answer how many turns are left in it.

        Raises:
            SpoolUnavailable: it cannot be read.
        """
        return self._here().flusher.wait_until_empty(timeout)

    def close(self, timeout: float = _CLOSE_SECONDS) -> None:
        """Flush what the broker takes in `timeout` seconds, and end the threads; what it does not take stays spooled.

        A producer that is used again begins anew.
        """
        with self._lock:
            at_exit, self._at_exit, self._resources = self._at_exit, None, None
        if at_exit is not None and (detached := at_exit.detach()) is not None:
            _, close, _, _ = detached
            close(timeout)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def _parsed(self, turn: Turn | Mapping[str, Any] | None, fields: Mapping[str, Any]) -> Turn:
        if turn is None:
            turn = filled_in(fields, turn_id=uuid.uuid4().hex, occurred_at=datetime.now(UTC))
        elif fields:
            raise InvalidTurn(f"a turn is given whole or by its fields, not both: {', '.join(sorted(fields))}")
        accepted = parse_turn(turn)
        require_not_ahead(accepted, self._settings, datetime.now(UTC))
        return accepted

    def _here(self) -> _Resources:
        resources = self._resources
        if resources is not None:
            return resources
        with self._lock:
            if self._resources is None:
                self._resources = _Resources(self._settings, self._tally)
                self._at_exit = weakref.finalize(self, self._resources.close, _CLOSE_SECONDS)
            return self._resources

    def _patience(self, deadline: float) -> float:
        return max(0.0, deadline - self._budget * _SPOOL_SHARE - time.monotonic())

    def _settle(self, resources: _Resources, attempt: Attempt | None) -> Accepted | None:
        """Return what the broker did; None when the turn must go to the spool."""
        try:
            receipt = None if attempt is None else resources.handover.settle(attempt)
        except ConflictingTurn:
            self._tally.count(Outcome.CONFLICTING)
            raise
        except QuotaExceeded:
            self._tally.count(Outcome.REFUSED_QUOTA)
            raise
        if receipt is None:
            if resources.flusher.refused is not None:
                raise resources.flusher.refused
            return None
        resources.flusher.note_pending(receipt.pending)
        accepted = Accepted(receipt.appended.value)
        self._tally.count(accepted)
        return accepted

    def _spool(self, resources: _Resources, turn: Turn, waited: float) -> Accepted:
        try:
            # Not what is left of the budget: on a starved machine that may be nothing, and late is better than lost.
            depth = resources.spool.put(turn, self._budget, waited=waited)
        except ConflictingTurn:
            self._tally.count(Outcome.CONFLICTING)
            raise
        except SpoolFull:
            self._tally.count(Outcome.REFUSED_FULL)
            raise
        except SpoolUnavailable:
            self._tally.count(Outcome.REFUSED_UNAVAILABLE)
            raise
        self._tally.count(Accepted.SPOOLED)
        self._tally.show_depth(depth)
        resources.flusher.wake()
        return Accepted.SPOOLED

    def _begin_anew_in_child(self) -> None:
        self._lock = Lock()
        self._tally = Tally()
        if self._at_exit is not None:
            self._at_exit.detach()
        if self._resources is not None:
            self._resources.spool.leave_to_parent()
            _OF_PARENT.append(self._resources)
        self._at_exit = self._resources = None


_PRODUCERS: weakref.WeakSet[Producer] = weakref.WeakSet()
_OF_PARENT: list[_Resources] = []
"""Kept for ever in a child: closing an inherited SQLite file or TLS connection would harm the parent's."""


def _after_fork() -> None:
    for producer in list(_PRODUCERS):
        producer._begin_anew_in_child()


os.register_at_fork(after_in_child=_after_fork)


def _open_spool(settings: Settings) -> Spool:
    return Spool(settings.effective_spool_dir, max_turns=settings.spool_max_turns, max_bytes=settings.spool_max_bytes)


def filled_in(fields: Mapping[str, Any], *, turn_id: str, occurred_at: datetime) -> dict[str, Any]:
    """Return the fields of a turn with what they leave out: `user_id` and `messages` are enough."""
    return {
        "schema_version": 2 if fields.get("history") or fields.get("metadata") else 1,
        "turn_id": turn_id,
        "tenant_id": "default",
        "conversation_id": "default",
        "occurred_at": occurred_at,
        **fields,
    }


def parse_turn(turn: Turn | Mapping[str, Any]) -> Turn:
    """Return the turn, checked.

    Raises:
        InvalidTurn: it breaks the contract; the message names the wrong fields.
    """
    if isinstance(turn, Turn):
        return turn
    try:
        return Turn.model_validate(turn)
    except ValidationError as error:
        raise InvalidTurn(wrong_fields(error)) from None


def require_not_ahead(turn: Turn, settings: Settings, now: datetime) -> None:
    """Check that a turn says of itself no time that lies too far ahead.

    Raises:
        InvalidTurn: it does.
    """
    if turn.occurred_at > now + timedelta(seconds=settings.max_ahead_seconds):
        raise InvalidTurn(
            f"occurred_at: {turn.occurred_at.isoformat()} lies further ahead than AFTERTURN_MAX_AHEAD_SECONDS "
            f"({settings.max_ahead_seconds:g}) lets it: what is said there would outlast all that is said until then"
        )


_MAKING = Lock()
os.register_at_fork(before=_MAKING.acquire, after_in_parent=_MAKING.release, after_in_child=_MAKING.release)


@cache
def _made() -> Producer:
    return Producer(load_settings())


def default_producer() -> Producer:
    """Return the producer of `enqueue` and `enqueue_async`, with the settings of the environment.

    Call it when the process starts: making it takes a moment, and a wrong setting is told then.

    Raises:
        SettingsError: a setting cannot work.
    """
    # Of two that threads made at once, one would be thrown away, and whoever does that waits for its threads to end.
    with _MAKING:
        return _made()


def enqueue(turn: Turn | Mapping[str, Any] | None = None, /, **fields: Any) -> Accepted:
    """Enqueue a turn with the settings of the environment: `enqueue(user_id="maya", messages=[...])`."""
    return default_producer().enqueue(turn, **fields)


async def enqueue_async(turn: Turn | Mapping[str, Any] | None = None, /, **fields: Any) -> Accepted:
    """Enqueue a turn with the settings of the environment, as `Producer.enqueue_async` does."""
    producer = default_producer() if _made.cache_info().currsize else await asyncio.to_thread(default_producer)
    return await producer.enqueue_async(turn, **fields)
