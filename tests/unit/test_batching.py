"""Work done together: who waits goes with the next batch, and each caller is answered for its own item."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stores.batching import Batcher, Failed, each_alone_on_failure

_PATIENCE = 10.0


class Doubling:
    """Doubles numbers, and notes the batches. The item 0 holds its batch until told to go on, and -1 breaks it."""

    def __init__(self) -> None:
        self.batches: list[list[int]] = []
        self.begun, self.go_on = threading.Event(), threading.Event()
        self.at_work = threading.Lock()

    def __call__(self, items: Sequence[int]) -> list[int]:
        assert self.at_work.acquire(blocking=False), "two batches were under way at a time"
        with_whom = list(items)
        self.batches.append(with_whom)
        try:
            if 0 in with_whom:
                self.begun.set()
                assert self.go_on.wait(_PATIENCE)
            if -1 in with_whom:
                raise ValueError("minus one")
            return [2 * item for item in with_whom]
        finally:
            self.at_work.release()


def after_the_first(batcher: Batcher[int, int], work: Doubling, items: Sequence[int]) -> list[Future[int]]:
    """Have callers come, in this order, while a batch of another is under way; return what became of them."""
    with ThreadPoolExecutor(len(items) + 1) as pool:
        first = pool.submit(batcher.do, 0)
        assert work.begun.wait(_PATIENCE)
        outcomes = []
        for item in items:
            outcomes.append(pool.submit(batcher.do, item))
            wait_until(lambda: len(batcher._waiting) > len(outcomes))
        work.go_on.set()
        assert first.result(_PATIENCE) == 0
    return outcomes


def wait_until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + _PATIENCE
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.0005)


def test_who_comes_alone_is_served_at_once_in_its_own_thread() -> None:
    threads: list[int] = []

    def work(items: Sequence[str]) -> list[str]:
        threads.append(threading.get_ident())
        return [item.upper() for item in items]

    assert Batcher(work).do("a") == "A"
    assert threads == [threading.get_ident()]


def test_all_who_come_while_a_batch_is_under_way_go_with_the_next_in_the_order_of_coming() -> None:
    work = Doubling()
    outcomes = after_the_first(Batcher(work), work, [3, 1, 2])
    assert [outcome.result() for outcome in outcomes] == [6, 2, 4]
    assert work.batches == [[0], [3, 1, 2]]


def test_an_item_that_fails_fails_only_its_caller() -> None:
    work = Doubling()

    def no_seven(items: Sequence[int]) -> list[int | Failed]:
        done = work(items)
        return [Failed(ValueError("seven")) if item == 7 else result for item, result in zip(items, done, strict=True)]

    one, seven, two = after_the_first(Batcher(no_seven), work, [1, 7, 2])
    assert (one.result(), two.result()) == (2, 4)
    with pytest.raises(ValueError, match="seven"):
        seven.result()


def test_a_batch_that_breaks_is_everybodys_with_an_error_for_each_and_the_next_is_done() -> None:
    work = Doubling()
    batcher = Batcher(work)
    errors = [outcome.exception() for outcome in after_the_first(batcher, work, [1, -1, 2])]
    assert [str(error) for error in errors] == ["minus one"] * 3
    assert len(set(map(id, errors))) == 3, "one error that all raise would gather the tracebacks of all"
    assert batcher.do(4) == 8


def test_a_batch_that_breaks_may_be_done_again_one_by_one() -> None:
    work = Doubling()
    batcher: Batcher[int, int] = Batcher(each_alone_on_failure(work))
    one, broken, two = after_the_first(batcher, work, [1, -1, 2])
    assert (one.result(), two.result()) == (2, 4)
    with pytest.raises(ValueError, match="minus one"):
        broken.result()
    assert work.batches == [[0], [1, -1, 2], [1], [-1], [2]]


def test_who_comes_while_the_leader_waits_to_be_alone_goes_with_it() -> None:
    work, gate = Doubling(), threading.Event()
    waits = threading.Event()

    @contextmanager
    def alone() -> Iterator[None]:
        waits.set()
        assert gate.wait(_PATIENCE)
        yield

    batcher = Batcher(work, alone=alone)
    with ThreadPoolExecutor(3) as pool:
        outcomes = [pool.submit(batcher.do, 1)]
        assert waits.wait(_PATIENCE)
        outcomes += [pool.submit(batcher.do, item) for item in (2, 3)]
        wait_until(lambda: len(batcher._waiting) == 3)
        gate.set()
        assert [outcome.result(_PATIENCE) for outcome in outcomes] == [2, 4, 6]
    assert [sorted(batch) for batch in work.batches] == [[1, 2, 3]]


def test_a_leader_who_never_comes_to_be_alone_keeps_nobody_waiting() -> None:
    def alone() -> AbstractContextManager[None]:
        raise TimeoutError("locked")

    batcher = Batcher[int, int](list, alone=alone)
    for _ in range(2):
        with pytest.raises(TimeoutError, match="locked"):
            batcher.do(1)


@given(st.lists(st.lists(st.integers(-1, 9).filter(bool), max_size=8), min_size=1, max_size=6))
def test_whoever_calls_as_they_like_each_gets_its_own_answers_in_its_own_order(callers: list[list[int]]) -> None:
    batcher: Batcher[int, int] = Batcher(each_alone_on_failure(Doubling()))

    def call(items: Sequence[int]) -> list[int | str]:
        answers: list[int | str] = []
        for item in items:
            try:
                answers.append(batcher.do(item))
            except ValueError as error:
                answers.append(str(error))
        return answers

    with ThreadPoolExecutor(len(callers)) as pool:
        answers = list(pool.map(call, callers))
    assert answers == [["minus one" if item == -1 else 2 * item for item in items] for items in callers]
    assert not batcher._waiting
