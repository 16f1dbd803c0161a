"""The days that a text names in full, in digits and words: several may share a month, and all of them a year."""

from __future__ import annotations

import re
from typing import Final

from policies.language.date_grammar import MONTH
from policies.language.date_mentions import month_number

_DAY: Final = r"(?:3[01]|[12]\d|0?[1-9])(?:st|nd|rd|th)?"
_BETWEEN: Final = r"(?:\s?,\s?(?:and\s)?|\s?[-–&]\s?|\s(?:and|to|until|till)\s)"
_DAYS: Final = rf"{_DAY}(?:{_BETWEEN}(?:the\s)?{_DAY}){{0,9}}"
_DATE: Final = re.compile(
    rf"(?<![\w.,])(?:(?P<before>{_DAYS})\s(?:of\s)?(?P<month>{MONTH})\b|"
    rf"(?P<american>{MONTH})\s(?:the\s)?(?P<after>{_DAYS})(?!\w))",
    re.IGNORECASE,
)
"""Days of one month: "2nd, 3rd and 9 March", "March 2-4"."""
_ISO: Final = re.compile(r"\b(?P<year>(?:19|20)\d\d)-(?P<month>\d\d)-(?P<day>\d\d)\b")
"""A day in digits alone: "2026-03-02"."""
_YEAR: Final = re.compile(r"\b(?:19|20)\d\d\b")
"""A year: "2026"."""
_NUMBER: Final = re.compile(r"\d+")
"""A day of several: "3"."""


def days_named(text: str) -> frozenset[tuple[int, int, int]]:
    """Return the days that a text names, each as (year, month, day): of a day its year is the next one that is named,
    else the last. What stands without a year in the whole text is none."""
    years = [(match.start(), int(match[0])) for match in _YEAR.finditer(text)]
    if not years:
        return frozenset()
    days = [(int(match["year"]), int(match["month"]), int(match["day"])) for match in _ISO.finditer(text)]
    for match in _DATE.finditer(text):
        year = next((number for at, number in years if at >= match.end()), years[-1][1])
        month = month_number(match["month"] or match["american"])
        numbers = map(int, _NUMBER.findall(match["before"] or match["after"]))
        days += [(year, month, day) for day in numbers]
    return frozenset(days)
