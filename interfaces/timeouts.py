"""Ask several parts at once, each with a timeout of its own."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from multiprocessing.pool import ThreadPool
from typing import TypeVar

Answer = TypeVar("Answer")


def ask_all(questions: Mapping[str, Callable[[], Answer]], seconds: float) -> Iterator[tuple[str, Answer | Exception]]:
    """Yield what each part answers, in their order, or what it raised; multiprocessing.TimeoutError of one that did not
    answer within so many seconds of the call."""
    deadline = time.monotonic() + seconds
    # The pool's threads are daemons: a part that hangs does not hold up the command's end.
    pool = ThreadPool(len(questions))
    asked = [(part, pool.apply_async(question)) for part, question in questions.items()]
    # One that takes no more work says nothing when the command ends before a part has answered.
    pool.close()
    for part, answer in asked:
        try:
            yield part, answer.get(max(0.0, deadline - time.monotonic()))
        except Exception as error:  # noqa: BLE001 - whoever asked decides what it means
            yield part, error
