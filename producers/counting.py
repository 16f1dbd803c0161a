"""Counters of a producer, as plain numbers and for Prometheus. No label ever names a user or a turn."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from enum import StrEnum
from threading import Lock

from prometheus_client import Counter as Metric
from prometheus_client import Gauge

TURNS = Metric("afterturn_producer_turns", "Turns by what became of them at the producer.", ["outcome"])
SPOOL_TURNS = Gauge(
    "afterturn_spool_turns", "Turns that wait on this machine's disk for the broker.", multiprocess_mode="mostrecent"
)


class Accepted(StrEnum):
    """Outcome of `enqueue`. Whichever it is, the turn will be processed."""

    ADDED = "added"
    PENDING = "pending"
    """It was there already, and waits."""
    DONE = "done"
    """It was processed lately."""
    SPOOLED = "spooled"
    """It waits on this machine's disk until the broker takes it."""


class Outcome(StrEnum):
    """Outcomes that are counted beside those of `Accepted`."""

    FLUSHED = "flushed"
    REJECTED = "rejected"
    CONFLICTING = "conflicting"
    REFUSED_QUOTA = "refused_quota"
    REFUSED_FULL = "refused_full"
    REFUSED_UNAVAILABLE = "refused_unavailable"


@dataclass(frozen=True)
class Counters:
    """Turns that one producer counted in this process.

    `enqueued` were accepted, `spooled` of them into the spool. `flushed` went from the spool to the broker, `rejected`
    were put aside there because the broker knows another turn of that id. `refused_full` and `refused_unavailable` were
    not accepted: the broker did not take them and the spool was full or could not be written. `spool_depth` is how many
    lie in the spool, as last seen.
    """

    enqueued: int
    spooled: int
    flushed: int
    rejected: int
    refused_full: int
    refused_unavailable: int
    spool_depth: int


class Tally:
    """Counts for one producer; for any thread."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._counts: Counter[Accepted | Outcome] = Counter()
        self._depth = 0

    def count(self, outcome: Accepted | Outcome) -> None:
        """Count one turn."""
        with self._lock:
            self._counts[outcome] += 1
        TURNS.labels(outcome.value).inc()

    def show_depth(self, depth: int) -> None:
        """Note how many turns lie in the spool."""
        self._depth = depth
        SPOOL_TURNS.set(depth)

    def counters(self) -> Counters:
        """Return the counts now."""
        with self._lock:
            counts = self._counts.copy()
        return Counters(
            enqueued=sum(counts[accepted] for accepted in Accepted),
            spooled=counts[Accepted.SPOOLED],
            flushed=counts[Outcome.FLUSHED],
            rejected=counts[Outcome.REJECTED],
            refused_full=counts[Outcome.REFUSED_FULL],
            refused_unavailable=counts[Outcome.REFUSED_UNAVAILABLE],
            spool_depth=self._depth,
        )
