"""How well what a memory holds fits what an everyday case asks for."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from rich.table import Table

from benchmarks.everyday.cases import Case

_WORD: Final = re.compile(r"[^\W\d_]+")
_FRAME: Final = frozenset(
    _WORD.findall("""
    a an the and or not no of to in on at by for from with about as that this who
    is are was were be been being has have had do does did will would can could should may might
    they them their theirs themself themselves he him his she her it its user assistant
    said says asked wants wanted reminded shared sent titled called document image video recording
    day days week weeks weekend month months year years morning afternoon evening night
    beginning end early late until since between before after around ago
    monday tuesday wednesday thursday friday saturday sunday
    january february march april may june july august september october november december
    """)
)
"""Words that the telling of a memory brings along, said or not."""
_BORNE_OUT: Final = 3
"""A word with as many first letters in common with a word that was said is taken for an inflection of it."""


@dataclass(frozen=True)
class Score:
    """What is wrong with the memories of a case; all empty where it is right."""

    missing: tuple[Sequence[str], ...] = ()
    """Groups of `keep` that no memory matches."""
    false: tuple[str, ...] = ()
    """Memories that match a group of `drop`."""
    needless: tuple[str, ...] = ()
    """Memories where there should be none."""

    @property
    def right(self) -> bool:
        return not (self.missing or self.false or self.needless)


@dataclass
class Tally:
    """Counts over some cases."""

    cases: int = 0
    faults: Counter[str] = field(default_factory=Counter)
    memories: int = 0
    unheard: int = 0
    """Memories with a word that nobody said."""

    def add(self, case: Case, active: Sequence[str]) -> Score:
        found = score(case, active)
        self.cases += 1
        self.faults.update({"wrong": not found.right, "missing": bool(found.missing)})
        self.faults.update({"false": bool(found.false), "needless": bool(found.needless)})
        self.memories += len(active)
        self.unheard += sum(bool(unheard_words(summary, case)) for summary in active)
        return found


def score(case: Case, active: Sequence[str]) -> Score:
    """Compare the summaries of the active memories with what the case asks for.

    Raises:
        re.error: an expression of the case is none.
    """
    return Score(
        missing=tuple(group for group in case.keep if not any(_matches(group, summary) for summary in active)),
        false=tuple(summary for summary in active if any(_matches(group, summary) for group in case.drop)),
        needless=tuple(active) if case.none else (),
    )


def unheard_words(summary: str, case: Case) -> list[str]:
    """Return the words of a summary that nobody said, but for inflections, the user's name and words of the frame."""
    heard = {word[:_BORNE_OUT] for word in _WORD.findall(f"{case.heard()} {case.name or ''}".lower())}
    return [
        word
        for word in _WORD.findall(summary.lower())
        if word not in _FRAME and len(word) > 1 and word[:_BORNE_OUT] not in heard
    ]


def table(tallies: Mapping[str, Tally]) -> Table:
    """Show the counts by kind, and of all together: `extra` cases know what they should not, `known` are memories,
    `unheard` those of them with words that nobody said.
    """
    shown = Table("kind", "cases", "right", "share", "missing", "false", "extra", "known", "unheard")
    for kind, tally in [*sorted(tallies.items()), ("all", together(tallies))]:
        right = tally.cases - tally.faults["wrong"]
        faults = [f"{tally.faults[name]:,}" for name in ("missing", "false", "needless")]
        share = f"{right / tally.cases:.3f}" if tally.cases else "-"
        counts = (f"{tally.cases:,}", f"{right:,}", share, *faults, f"{tally.memories:,}", f"{tally.unheard:,}")
        shown.add_row(kind, *counts)
    return shown


def together(tallies: Mapping[str, Tally]) -> Tally:
    """Return the sum of some counts."""
    total = Tally()
    for tally in tallies.values():
        total.cases += tally.cases
        total.faults += tally.faults
        total.memories += tally.memories
        total.unheard += tally.unheard
    return total


def _matches(group: Sequence[str], summary: str) -> bool:
    return all(re.search(expression, summary, re.IGNORECASE) for expression in group)
