"""A worker past its bound on memory ends in order, far past it at once."""

from __future__ import annotations

from threading import Event

import pytest

from schema.errors import SettingsError
from worker.memory_bound import MemoryBound, resident_mb


class Process:
    """A process that has so many megabytes, and how it was ended."""

    def __init__(self, bound: int) -> None:
        self.used = 0.0
        self.ended: list[str] = []
        self.bound = MemoryBound(
            bound,
            used_mb=lambda: self.used,
            in_order=lambda: self.ended.append("in order"),
            at_once=lambda: self.ended.append("at once"),
        )
        self.bound.stop()


def test_a_worker_ends_in_order_once_and_at_once_where_that_does_not_help() -> None:
    process = Process(1_000)
    for used in (900, 1_000, 1_100, 1_200, 1_251):
        process.used = used
        process.bound.look()
    assert process.ended == ["in order", "at once"]


def test_a_bound_that_cannot_be_kept_is_no_setting() -> None:
    def silent() -> float:
        raise OSError("no such file")

    with pytest.raises(SettingsError, match="AFTERTURN_WORKER_MEMORY_MB"):
        MemoryBound(1_000, used_mb=silent)
    MemoryBound(0, used_mb=silent)


def test_a_bound_outlives_a_look_that_failed() -> None:
    looks = iter((10.0, None, 1_100.0))
    ended = Event()

    def used() -> float:
        megabytes = next(looks, 1_100.0)
        if megabytes is None:
            raise OSError("too many open files")
        return megabytes

    bound = MemoryBound(1_000, used_mb=used, in_order=ended.set)
    assert ended.wait(20)
    bound.stop()


def test_this_process_has_some_memory() -> None:
    assert resident_mb() > 1
