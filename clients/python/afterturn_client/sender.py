"""The thread that sends what is spooled: each user's turns one by one and in order, several users side by side."""

from __future__ import annotations

import logging
import math
import time
import traceback
from collections import deque
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from enum import Enum, auto
from threading import Condition, Event, Thread
from typing import Final

from afterturn_client.backoff import backoff
from afterturn_client.errors import (
    AfterturnError,
    Conflict,
    Invalid,
    RequestFailed,
    SpoolUnavailable,
    Unauthorized,
    Unavailable,
)
from afterturn_client.spool import Spool, Spooled

_LOOK_SECONDS: Final = 1.0
"""How often an idle process looks whether another left turns behind."""
_OTHERS_SECONDS: Final = 0.05
"""How soon a process looks again while another one of the machine sends."""
_BATCH_TURNS: Final = 64
_LONGEST_LOG_BYTES: Final = 4 * 1024 * 1024
_QUIET_SECONDS: Final = 30.0
"""How long nothing was sent before what was said is wiped from the log: a turn that comes just then waits for it."""
_FIRST_PAUSE_SECONDS: Final = 0.5
_LONGEST_PAUSE_SECONDS: Final = 30.0
_MOST_REASON: Final = 500
_FRAMES: Final = 4

_log = logging.getLogger("afterturn_client")


class Outcome(Enum):
    """Meaning of an answer for a turn and for those behind it."""

    REJECTED = auto()
    """It will never be taken: put it aside, and go on."""
    HELD = auto()
    """A person can mend it, or it is this user's quota: let their turns wait, in order, and go on with others'."""
    AWAY = auto()
    """It is nobody's turn's fault: let all wait."""


def outcome_of(error: RequestFailed) -> Outcome:
    """Return what a failure to hand over a turn means."""
    if isinstance(error, Invalid | Conflict):
        return Outcome.REJECTED
    is_users_own = error.problem is not None and error.problem.scope == "user"
    return Outcome.AWAY if isinstance(error, Unavailable | Unauthorized) and not is_users_own else Outcome.HELD


def _raised(error: Exception) -> str:
    """Return what was raised and where, without its message: that may repeat what a user said."""
    frames = reversed(traceback.extract_tb(error.__traceback__)[-_FRAMES:])
    return f"{type(error).__name__} in " + ", in ".join(
        f"{frame.name} ({frame.filename}:{frame.lineno})" for frame in frames
    )


@dataclass
class _Pass:
    """Outcome of the turns of one batch."""

    lanes: deque[list[Spooled]]
    safe: list[Spooled] = field(default_factory=list)
    rejected: list[tuple[Spooled, RequestFailed]] = field(default_factory=list)
    held: list[tuple[Spooled, AfterturnError]] = field(default_factory=list)
    away: RequestFailed | None = None


@dataclass
class _Held:
    until: float
    times: int


class Sender:
    """Sends a spool for one process while no other process of the machine does.

    `hand_over` gives one turn to the service and raises RequestFailed; up to `side_by_side` threads call it.
    """

    def __init__(self, spool: Spool, hand_over: Callable[[Spooled], None], *, side_by_side: int) -> None:
        self._spool, self._hand_over, self._side_by_side = spool, hand_over, side_by_side
        self._work, self._stopping, self._passed = Event(), Event(), Condition()
        self._end = math.inf
        self._held: dict[str, _Held] = {}
        self._failures = 0
        self._untidy, self._sent_at = True, time.monotonic()
        self._thread = Thread(target=self._run, name="afterturn-sender", daemon=True)

    def start(self) -> None:
        """Begin to send."""
        self._thread.start()

    def wake(self) -> None:
        """Say that there is something to send."""
        self._work.set()

    def tidy_later(self) -> None:
        """Say that something was dropped whose words may still lie in the log."""
        self._untidy = True

    def wait_until_empty(self, timeout: float) -> int:
        """Wait at most `timeout` seconds for all to be sent, and return how many turns are left."""
        deadline = time.monotonic() + timeout
        self.wake()
        with self._passed:
            while (waiting := self._spool.depth().waiting) and (remaining := deadline - time.monotonic()) > 0:
                self._passed.wait(min(remaining, 0.1))
        return waiting

    def stop(self, timeout: float) -> bool:
        """Send what can be sent in `timeout` seconds, and end the thread; False if it still waits for an answer."""
        self._end = time.monotonic() + timeout
        self._stopping.set()
        self._work.set()
        self._thread.join(timeout)
        return not self._thread.is_alive()

    def _run(self) -> None:
        pause, last = 0.0, False
        while not last:
            # While the service is away a new turn is no reason to ask it again.
            (self._stopping if self._failures else self._work).wait(min(pause, _LOOK_SECONDS))
            last = self._stopping.is_set()
            try:
                if pause > _LOOK_SECONDS and not last:
                    pause -= _LOOK_SECONDS
                else:
                    self._work.clear()
                    pause = self._pass()
                self._keep()
            except Exception as error:  # noqa: BLE001  # Whatever it is: nobody else sends what waits.
                _log.error("turns wait on this machine's disk: %s", _raised(error))
                self._failures += 1
                pause = backoff(self._failures, _FIRST_PAUSE_SECONDS, _LONGEST_PAUSE_SECONDS)
            with self._passed:
                self._passed.notify_all()

    def _keep(self) -> None:
        """Write what waits through to the disk; once nothing does, leave nothing of what was said there."""
        try:
            if self._spool.depth().waiting:
                self._spool.write_through()
                self._untidy = True
            elif self._spool.log_bytes() > _LONGEST_LOG_BYTES:
                self._spool.write_through()
            elif self._untidy and not self._work.is_set() and time.monotonic() > self._sent_at + _QUIET_SECONDS:
                self._untidy = not self._spool.tidy()
        except SpoolUnavailable as error:
            _log.warning("%s", error)

    def _pass(self) -> float:
        """Send what there is, and return after how many seconds to look again."""
        try:
            if not self._spool.depth().waiting:
                return _LOOK_SECONDS
            with self._spool.sending() as is_alone:
                if not is_alone:
                    return _OTHERS_SECONDS
                away = self._send()
        except SpoolUnavailable as error:
            away = error
        if away is None:
            if self._failures:
                _log.info("turns are sent again")
            self._failures = 0
            return _LOOK_SECONDS
        if not self._failures:
            _log.warning("turns wait on this machine's disk: %s", away)
        self._failures += 1
        asked = away.retry_after if isinstance(away, Unavailable) else None
        return asked or backoff(self._failures, _FIRST_PAUSE_SECONDS, _LONGEST_PAUSE_SECONDS)

    def _send(self) -> AfterturnError | None:
        """Send until nothing is left that can be sent; what kept it from that, or None."""
        away = None
        while away is None and time.monotonic() < self._end:
            now = time.monotonic()
            held = [user for user, hold in self._held.items() if hold.until > now]
            turns = self._spool.oldest(_BATCH_TURNS, without=held)
            if not turns:
                break
            lanes: dict[str, list[Spooled]] = {}
            for turn in turns:
                lanes.setdefault(turn.user, []).append(turn)
            done = _Pass(deque(lanes.values()))
            others = [
                Thread(target=self._work_off, args=(done,), name="afterturn-send", daemon=True)
                for _ in range(min(self._side_by_side, len(lanes)) - 1)
            ]
            with ExitStack() as at_work:
                for thread in others:
                    try:
                        thread.start()
                    except RuntimeError:  # The machine has no more threads, or this process ends: fewer send.
                        break
                    at_work.callback(thread.join)
                self._work_off(done)
            self._settle(done)
            away = done.away
        return away

    def _work_off(self, done: _Pass) -> None:
        while done.away is None and time.monotonic() < self._end:
            try:
                lane = done.lanes.popleft()
            except IndexError:
                return
            self._send_lane(lane, done)

    def _send_lane(self, lane: list[Spooled], done: _Pass) -> None:
        """Send a user's turns in order, until one must wait."""
        for turn in lane:
            if done.away is not None or time.monotonic() >= self._end:
                return
            try:
                self._hand_over(turn)
            except RequestFailed as error:
                match outcome_of(error):
                    case Outcome.REJECTED:
                        done.rejected.append((turn, error))
                    case Outcome.HELD:
                        done.held.append((turn, error))
                        return
                    case Outcome.AWAY:
                        done.away = error
                        return
            except Exception as error:  # noqa: BLE001  # Said in the log by whoever settles.
                done.held.append((turn, AfterturnError(_raised(error))))
                return
            else:
                done.safe.append(turn)

    def _settle(self, done: _Pass) -> None:
        if done.safe:
            self._spool.sent(done.safe)
            self._untidy, self._sent_at = True, time.monotonic()
        for turn, error in done.rejected:
            self._spool.reject(turn, str(error)[:_MOST_REASON])
            _log.error("turn %s was put aside in %s: %s", turn.turn_id, self._spool.folder, error)
        for user in {turn.user for turn in done.safe}:
            self._held.pop(user, None)
        for turn, why in done.held:
            times = self._held[turn.user].times + 1 if turn.user in self._held else 1
            if times == 1:
                _log.error("turn %s and those of its user behind it wait: %s", turn.turn_id, why)
            asked = why.retry_after if isinstance(why, Unavailable) else None
            pause = asked or backoff(times, 1.0, _LONGEST_PAUSE_SECONDS)
            self._held[turn.user] = _Held(time.monotonic() + pause, times)
