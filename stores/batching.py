"""Batching: work that several threads ask for at the same moment, done for all at once where that costs less."""

from __future__ import annotations

import copy
import threading
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Generic, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Failed:
    """Failure of one item among others whose work went well."""

    error: BaseException


class _Request(Generic[Item, Result]):
    """One caller's item, and what came of it. The caller sleeps until that is known or its turn to lead has come."""

    def __init__(self, item: Item) -> None:
        self.item = item
        self.outcome: Future[Result] = Future()
        self.woken = threading.Event()


class Batcher(Generic[Item, Result]):
    """Does the work of all callers that wait, in the thread of the first of them; of one batch after the other.

    Whoever comes while a batch is under way goes with the next, in the order of coming. Nobody waits for company: who
    comes alone is served at once. There is no thread of its own. A caller is answered once its own batch is done, so
    what one caller does stays in order. Safe to call from many threads.
    """

    def __init__(
        self,
        work: Callable[[Sequence[Item]], Sequence[Result | Failed]],
        *,
        alone: Callable[[], AbstractContextManager[None]] = nullcontext,
    ) -> None:
        """Set up the work: from the items of a batch, in the order of coming, to what came of each.

        `alone` is entered by whoever leads before it looks who waits: it may take long to come by, and those who come
        meanwhile go with it.
        """
        self._work = work
        self._alone = alone
        self._queue = threading.Lock()
        self._waiting: deque[_Request[Item, Result]] = deque()

    def do(self, item: Item) -> Result:
        """Return what came of an item, done by this thread or by that of another caller.

        Raises:
            Exception: what the work answered as `Failed` for this item; or what it raised, or `alone` did, which every
                caller of that batch gets.
        """
        request: _Request[Item, Result] = _Request(item)
        with self._queue:
            self._waiting.append(request)
            if self._waiting[0] is request:
                request.woken.set()
        request.woken.wait()
        if not request.outcome.done():
            self._lead()
        return request.outcome.result()

    def _lead(self) -> None:
        """Do the work of all who wait by now, the first of whom is the caller, and wake them and the next to lead."""
        batch: list[_Request[Item, Result]] = []
        try:
            with self._alone():
                batch = self._all_who_wait()
                results = self._work([request.item for request in batch])
            for request, result in zip(batch, results, strict=True):
                if isinstance(result, Failed):
                    request.outcome.set_exception(result.error)
                else:
                    request.outcome.set_result(result)
        except BaseException as error:
            batch = batch or self._all_who_wait()
            for request in batch:
                if not request.outcome.done():
                    request.outcome.set_exception(_copied(error))
            if not isinstance(error, Exception):
                raise
        finally:
            with self._queue:
                for _ in batch:
                    self._waiting.popleft()
                if self._waiting:
                    self._waiting[0].woken.set()
            for request in batch:
                request.woken.set()

    def _all_who_wait(self) -> list[_Request[Item, Result]]:
        with self._queue:
            return list(self._waiting)


def each_alone_on_failure(
    work: Callable[[Sequence[Item]], Sequence[Result]],
) -> Callable[[Sequence[Item]], Sequence[Result | Failed]]:
    """Return the work such that a batch that fails is done again one by one: nobody fails for what another brought."""

    def done(items: Sequence[Item]) -> Sequence[Result | Failed]:
        if len(items) == 1:
            return work(items)
        try:
            return work(items)
        except Exception:  # noqa: BLE001 - raised again for whose item it was
            return [_done_alone(work, item) for item in items]

    return done


def _done_alone(work: Callable[[Sequence[Item]], Sequence[Result]], item: Item) -> Result | Failed:
    try:
        [result] = work([item])
    except Exception as error:  # noqa: BLE001 - raised again where the item came from
        return Failed(error)
    return result


def _copied(error: BaseException) -> BaseException:
    """Return the same error for one more thread: one that several raise would gather the tracebacks of all."""
    return copy.copy(error).with_traceback(error.__traceback__)
