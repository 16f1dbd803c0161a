"""A circuit breaker: stops asking a part that keeps failing, and asks it again now and then.

Our own lines and not pybreaker (or aiobreaker, which came of it): that one holds its lock for as long as a call takes,
so that the threads of a worker would ask a model one after the other.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from enum import IntEnum
from typing import ParamSpec, TypeVar

from schema.errors import CircuitOpen
from stores.machine import translated

P = ParamSpec("P")
R = TypeVar("R")


class State(IntEnum):
    """The numbers are those that the metrics show."""

    CLOSED = 0
    HALF_OPEN = 1
    OPEN = 2


class CircuitBreaker:
    """Counts the failures of one part in one process. Safe to call from many threads; calls run side by side.

    After `threshold` failures in a row it is open: calls raise CircuitOpen for `open_seconds`. Then one call goes
    through while the others still wait: its success closes the circuit, its failure opens it anew. Exceptions other
    than `failures` say nothing of the part's health. `on_change` is told of every new state.
    """

    def __init__(
        self,
        part: str,
        failures: tuple[type[Exception], ...],
        *,
        threshold: int = 5,
        open_seconds: float = 5.0,
        on_change: Callable[[str, State], None] = lambda _part, _state: None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.part = part
        self._failures = failures
        self._threshold = threshold
        self._open_seconds = open_seconds
        self._on_change = on_change
        self._clock = clock
        self._lock = threading.Lock()
        self._state = State.CLOSED
        self._failed_in_a_row = 0
        self._opened_at = 0.0

    @property
    def state(self) -> State:
        return self._state

    def call(self, function: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        """Call a function of the part.

        Raises:
            CircuitOpen: the part is not asked now.
            Exception: whatever the function raises.
        """
        self._pass_or_raise()
        try:
            result = function(*args, **kwargs)
        except BaseException as error:
            if isinstance(translated(error), self._failures):
                self._failed()
            else:
                self._worked()
            raise
        self._worked()
        return result

    def raise_if_open(self) -> None:
        """Refuse at once what `call` would refuse, before anything is spent on it.

        Raises:
            CircuitOpen: the part is not asked now.
        """
        with self._lock:
            self._refuse()

    def _pass_or_raise(self) -> None:
        with self._lock:
            self._refuse()
            if self._state is State.OPEN:
                self._become(State.HALF_OPEN)

    def _refuse(self) -> None:
        remaining = self._opened_at + self._open_seconds - self._clock()
        if self._state is State.HALF_OPEN or (self._state is State.OPEN and remaining > 0):
            raise CircuitOpen(self.part, max(remaining, 0.0))

    def _failed(self) -> None:
        with self._lock:
            self._failed_in_a_row += 1
            if self._state is State.HALF_OPEN or self._failed_in_a_row >= self._threshold:
                self._opened_at = self._clock()
                self._become(State.OPEN)

    def _worked(self) -> None:
        with self._lock:
            self._failed_in_a_row = 0
            if self._state is State.HALF_OPEN:
                self._become(State.CLOSED)

    def _become(self, state: State) -> None:
        if state is not self._state:
            self._state = state
            self._on_change(self.part, state)
