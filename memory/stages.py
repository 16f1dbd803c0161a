"""The stages of the pipeline: timed into the metrics, traced where tracing is on, named on every log line."""

from __future__ import annotations

import secrets
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Literal, get_args

from structlog.contextvars import bound_contextvars

from memory.metrics import STAGE_CPU, STAGE_SECONDS
from memory.tracing import span

Stage = Literal["admit", "extract", "screen", "score", "embed", "resolve", "commit", "index", "announce"]

_CPU = {name: STAGE_CPU.labels(name) for name in get_args(Stage)}
_SECONDS = {name: STAGE_SECONDS.labels(name) for name in get_args(Stage)}


@contextmanager
def stage(name: Stage) -> Iterator[None]:
    """Time a stage of the pipeline, with a span where tracing is on; log lines in it carry its name."""
    wall, cpu = time.perf_counter(), time.thread_time()
    try:
        with bound_contextvars(stage=name), span(name):
            yield
    finally:
        _CPU[name].inc(time.thread_time() - cpu)
        _SECONDS[name].observe(time.perf_counter() - wall)


@contextmanager
def in_batch(turn_ids: Sequence[str]) -> Iterator[None]:
    """Give the work on one batch a random id, on every log line and on its span; log lines carry its turns too.

    The id says nothing of whose turns they are.
    """
    id_ = secrets.token_hex(4)
    with (
        bound_contextvars(batch=id_, turn_ids=list(turn_ids)),
        span("batch", {"afterturn.batch": id_, "afterturn.turns": len(turn_ids)}),
    ):
        yield
