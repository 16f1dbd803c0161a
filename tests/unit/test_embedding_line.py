"""Texts that wait for a model: which go through it together, and what one that fails means for the others."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import contextmanager
from threading import Semaphore
from typing import Any

import numpy as np
import pytest

from stores.embedding.base import Vectors
from stores.embedding.line import MOST_TOKENS, PASS_TOKENS, Line, Tokens

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
    """Answers the first token of each text, and fails on a pass with a 13 in it."""

    def __init__(self) -> None:
        self.passes: list[list[Tokens]] = []

    def __call__(self, texts: Sequence[Tokens]) -> list[Vectors]:
        self.passes.append(list(texts))
        if any(13 in text for text in texts):
            raise ValueError("thirteen")
        return [np.array([text[0]], dtype=np.float32) for text in texts]


@contextmanager
def waiting(line: Line, held: Held, *texts: Tokens) -> Iterator[list[Future[list[Vectors]]]]:
    """Let callers of one text each wait for the line, in this order."""
    with ThreadPoolExecutor(len(texts)) as callers:
        calls = []
        for text in texts:
            calls.append(callers.submit(line.vectors, [text]))
            held.came.acquire()
        yield calls


def test_short_texts_of_several_callers_go_through_the_model_together() -> None:
    model, held = Model(), Held()

    with waiting(Line(held, model), held, SHORT, ALSO_SHORT, SHORT) as calls:
        held.go()
        assert [float(call.result()[0][0]) for call in calls] == [1, 2, 1]

    assert model.passes == [[SHORT, ALSO_SHORT, SHORT]]


def test_a_long_text_goes_alone_and_holds_up_no_short_one_behind_it() -> None:
    model, held = Model(), Held()

    with waiting(Line(held, model), held, LONG, SHORT, LONG, SHORT):
        held.go()

    assert model.passes == [[LONG], [SHORT, SHORT], [LONG]]


def test_texts_that_would_be_filled_up_with_more_than_a_pass_costs_go_apart() -> None:
    model, held = Model(), Held()
    longer = (2,) * (len(SHORT) + PASS_TOKENS)

    with waiting(Line(held, model), held, SHORT, longer):
        held.go()

    assert model.passes == [[SHORT], [longer]]


def test_a_text_that_the_model_fails_on_fails_for_its_caller_alone() -> None:
    model, held = Model(), Held()

    with waiting(Line(held, model), held, SHORT, (13,), ALSO_SHORT) as calls:
        held.go()
        assert float(calls[0].result()[0][0]) == 1
        assert float(calls[2].result()[0][0]) == 2
        with pytest.raises(ValueError, match="thirteen"):
            calls[1].result()
