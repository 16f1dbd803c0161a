"""Progress of the fleet since a moment, as numbers and as a live panel."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import datetime

from rich.console import RenderableType
from rich.panel import Panel
from rich.table import Table

from stores.catalog import Catalog, Outcome
from stores.mailbox import Mailbox


@dataclass(frozen=True)
class Progress:
    """Counts since a moment; `lags` are seconds from a turn's arrival to its commit, sorted."""

    expected: int
    outcomes: dict[Outcome, int]
    actions: dict[str, int]
    lags: list[float]
    waiting_subjects: int

    @property
    def processed(self) -> int:
        """Return how many of the expected were processed: what waited from before takes a place of theirs until all
        are."""
        return min(self.expected, sum(self.outcomes.values()))

    @property
    def from_before(self) -> int:
        """Return how many were processed beside the expected, which had waited since before the moment."""
        return sum(self.outcomes.values()) - self.processed


def measure(expected: int, since: datetime, catalog: Catalog, mailbox: Mailbox) -> Progress:
    """Return where `expected` newly enqueued turns stand."""
    return Progress(
        expected=expected,
        outcomes=catalog.count_turns(since),
        actions=catalog.count_audit(since),
        lags=sorted(catalog.lags(since)),
        waiting_subjects=mailbox.pending_subjects(),
    )


def percentile(sorted_values: list[float], share: float) -> float:
    """Return the nearest-rank percentile of sorted values; not a number where there are none."""
    if not sorted_values:
        return math.nan
    return sorted_values[max(0, math.ceil(share * len(sorted_values)) - 1)]


def panel(progress: Progress, notes: list[str]) -> RenderableType:
    """Return the progress for a person to watch."""
    table = Table.grid(padding=(0, 3))
    table.add_column(style="dim", no_wrap=True)
    table.add_column()
    also = f", and {progress.from_before} that waited from before" if progress.from_before else ""
    table.add_row("turns in", f"{progress.processed} of {progress.expected} processed{also}")
    table.add_row("", _counts({outcome.value: progress.outcomes.get(outcome, 0) for outcome in Outcome}))
    table.add_row("memories", _counts(progress.actions) or "none yet")
    if progress.lags:
        p50, p95 = (percentile(progress.lags, share) for share in (0.50, 0.95))
        table.add_row("lag", f"p50 {p50 * 1000:.0f} ms, p95 {p95 * 1000:.0f} ms from enqueued to remembered")
    table.add_row("waiting", f"{progress.waiting_subjects} users with turns to come")
    for note in notes[-3:]:
        table.add_row("note", note)
    return Panel(table, title="the fleet at work", title_align="left")


def _counts(counts: dict[str, int]) -> str:
    return ", ".join(f"{count} {name}" for name, count in counts.items() if count)
