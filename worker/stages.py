"""The stages of the pipeline, timed."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal

from prometheus_client import Counter, Histogram

Stage = Literal["admit", "extract", "screen", "score", "embed", "resolve", "commit", "index", "announce"]

STAGE_SECONDS = Histogram(
    "afterturn_stage_duration_seconds", "Wall time of one stage for one batch of turns.", ["stage"]
)
STAGE_CPU = Counter("afterturn_stage_cpu_seconds", "CPU time of the threads that ran a stage.", ["stage"])


@contextmanager
def stage(name: Stage) -> Iterator[None]:
    """Time a stage of the pipeline into the metrics."""
    wall, cpu = time.perf_counter(), time.thread_time()
    try:
        yield
    finally:
        STAGE_CPU.labels(name).inc(time.thread_time() - cpu)
        STAGE_SECONDS.labels(name).observe(time.perf_counter() - wall)
