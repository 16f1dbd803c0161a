"""Texts that wait for a model: which go through it together, and what one that fails means for the others."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import contextmanager
from threading import Event, Semaphore
from typing import Any

import numpy as np
import pytest

from stores.embedding.base import Vectors
from stores.embedding.dynamic_batching import MOST_TOKENS, PASS_TOKENS, DynamicBatcher, Tokens

_PATIENCE = 10.0
SHORT, ALSO_SHORT = (1,) * 8, (2,) * 10
LONG = (3,) * MOST_TOKENS


class Held(Executor):
    """Threads that begin nothing before they are let."""

    def __init__(self) -> None:
        self.came = Semaphore(0)
        self._held: list[Callable[[], object]] = []

    def submit(self, do: Callable[..., Any], /, *_: Any, **__: Any) -> Future[Any]:
        self._held.append(do)
        self.came.release()
        return Future()

    def go(self) -> None:
        for do in self._held:
            do()


class Model:
    """Answers the first token of each text, and fails on a pass with a 13 in it. The 99 holds its pass until told."""

    def __init__(self) -> None:
        self.passes: list[list[Tokens]] = []
        self.begun, self.go_on = Event(), Event()

    def __call__(self, texts: Sequence[Tokens]) -> list[Vectors]:
        if 99 in texts[0]:
            self.begun.set()
            assert self.go_on.wait(_PATIENCE)
        else:
            self.passes.append(list(texts))
        if any(13 in text for text in texts):
            raise ValueError("thirteen")
        return [np.array([text[0]], dtype=np.float32) for text in texts]


@contextmanager
def waiting(model: Model, *texts: Tokens) -> Iterator[Callable[[], list[Future[list[Vectors]]]]]:
    """Let callers of one text each wait in this order while the only core is taken, and give what lets them go."""
    held = Held()
    batcher = DynamicBatcher(held, 1, model)
    with ThreadPoolExecutor(1 + len(texts)) as callers:
        callers.submit(batcher.vectors, [(99,)])
        assert model.begun.wait(_PATIENCE)
        calls = []
        for text in texts:
            calls.append(callers.submit(batcher.vectors, [text]))
            assert held.came.acquire(timeout=_PATIENCE)

        def go() -> list[Future[list[Vectors]]]:
            model.go_on.set()
            held.go()
            return calls

        yield go


def test_a_text_that_finds_a_core_free_waits_for_no_other_thread() -> None:
    held = Held()
    assert DynamicBatcher(held, 1, Model()).vectors([SHORT])[0][0] == 1
    assert not held.came.acquire(blocking=False)


def test_short_texts_of_several_callers_go_through_the_model_together() -> None:
    model = Model()

    with waiting(model, SHORT, ALSO_SHORT, SHORT) as go:
        calls = go()
        assert [float(call.result()[0][0]) for call in calls] == [1, 2, 1]

    assert model.passes == [[SHORT, ALSO_SHORT, SHORT]]


def test_a_long_text_goes_alone_and_holds_up_no_short_one_behind_it() -> None:
    model = Model()

    with waiting(model, LONG, SHORT, LONG, SHORT) as go:
        go()

    assert model.passes == [[LONG], [SHORT, SHORT], [LONG]]


def test_texts_that_would_be_filled_up_with_more_than_a_pass_costs_go_apart() -> None:
    model = Model()
    longer = (2,) * (len(SHORT) + PASS_TOKENS)

    with waiting(model, SHORT, longer) as go:
        go()

    assert model.passes == [[SHORT], [longer]]


def test_a_text_that_the_model_fails_on_fails_for_its_caller_alone() -> None:
    model = Model()

    with waiting(model, SHORT, (13,), ALSO_SHORT) as go:
        calls = go()
        assert float(calls[0].result()[0][0]) == 1
        assert float(calls[2].result()[0][0]) == 2
        with pytest.raises(ValueError, match="thirteen"):
            calls[1].result()
