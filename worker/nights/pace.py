"""The pace of a night: turns go first, on this process's share of the machine too."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Final

from memory.leases import LeaseKeeper
from schema import Thresholds
from stores.embedding.base import Embedder, Vectors

_REST: Final = 3.0
"""Seconds of rest for each second of work, at most, while turns are in hand: so a night gets a quarter of one thread's
time where turns never cease, and all of it where there are none."""
_LONGEST_SECONDS: Final = 5.0


class Pace:
    """Rests between two steps of a night's work while this process has turns in hand.

    Between two steps the night itself must hold no lease.
    """

    def __init__(self, leases: LeaseKeeper) -> None:
        self._leases = leases
        self._since = time.monotonic()

    def rest(self) -> None:
        """Wait until no turn is in hand, in proportion to the time since the last rest at most."""
        worked = time.monotonic() - self._since
        self._leases.wait_idle(min(_LONGEST_SECONDS, _REST * worked))
        self._since = time.monotonic()


class Unhurried:
    """An embedder that rests before each call: embedding is the longest step of a plan."""

    def __init__(self, embedder: Embedder, pace: Pace) -> None:
        self._embedder = embedder
        self._pace = pace
        self.name: str = embedder.name
        self.dimensions: int = embedder.dimensions
        self.thresholds: Thresholds | None = embedder.thresholds

    def embed(self, texts: Sequence[str]) -> Vectors:
        self._pace.rest()
        return self._embedder.embed(texts)
