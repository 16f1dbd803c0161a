"""A date as it stands in a text: its form, the day from which it is seen, and where its clause looks."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date
from enum import Enum
from typing import Final

from policies.language.spans import MONTHS, Span


class Looks(Enum):
    """Where the clause of a date looks. `EITHER` takes what is nearer, `UNKNOWN` what is to come."""

    BACK = "back"
    AHEAD = "ahead"
    EITHER = "either"
    UNKNOWN = "unknown"


_NUMBERS: Final = {
    "a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8,
    "nine": 9, "ten": 10, "eleven": 11, "twelve": 12, "couple": 2, "few": 3, "several": 4, "fifteen": 15,
    "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "hundred": 100,
}  # fmt: skip


@dataclass(frozen=True)
class DateMention:
    """A match, the day from which it is seen, where its clause looks, and the dates found before it."""

    match: re.Match[str]
    today: date
    looks: Looks
    before: Span | None

    def __getitem__(self, group: str) -> str:
        groups = self.match.groupdict()
        return (groups.get(group) or groups.get(f"{group}_") or groups.get(f"{group}__") or "").lower()

    @property
    def text(self) -> str:
        return self.match.string

    def count(self, group: str = "n") -> int:
        return number_of(self[group] or "a")


def number_of(word: str) -> int:
    """Return the number that a word or digits stand for: "two", "14"."""
    return int(word) if word.isdigit() else _NUMBERS[word.lower()]


def month_number(name: str) -> int:
    return next(i for i, month in enumerate(MONTHS, 1) if month.lower().startswith(name.lower()[:3]))
