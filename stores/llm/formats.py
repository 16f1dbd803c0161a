"""Find out, at the first call, which way of asking a provider takes, and remember it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

from schema.errors import AfterturnError, LLMRefused, LLMUnavailable

Way = TypeVar("Way")
Answer = TypeVar("Answer")


class FormatRejected(AfterturnError):
    """The provider seems not to know this way of asking. `failure` is what to raise if it takes no other either;
    `parameter` what it names as the cause, if it does."""

    def __init__(self, failure: LLMUnavailable | LLMRefused, parameter: str | None = None) -> None:
        super().__init__(str(failure))
        self.failure = failure
        self.parameter = parameter


class RequestFormats(Generic[Way]):
    """Asks in the way that is known to work. Safe to call from many threads.

    Until one works, `next_way` names the way to try after a refused one, or None. Then it stays with that way for as
    long as the process lives: a refusal is the call's own fault from then on.
    """

    def __init__(self, first: Way, next_way: Callable[[Way, FormatRejected], Way | None]) -> None:
        self._way = first
        self._other = next_way
        self._known = False

    def ask(self, call: Callable[[Way], Answer]) -> Answer:
        """Return what the call answers.

        Raises:
            LLMUnavailable, LLMRefused: the failure of the first way that was tried, or whatever the call raises.
        """
        way, first = self._way, None
        while True:
            try:
                answer = call(way)
            except FormatRejected as refusal:
                first = first or refusal
                next_way = None if self._known else self._other(way, refusal)
                if next_way is None:
                    raise first.failure from None
                way = next_way
            else:
                self._way, self._known = way, True
                return answer
