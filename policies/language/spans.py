"""Spans of the calendar, and how each is written."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import date, timedelta
from typing import Final

MONTHS: Final = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip
_SEASONS: Final = {"spring": 3, "summer": 6, "fall": 9, "autumn": 9, "winter": 12}


WRITTEN_DAY: Final = rf"\b(?P<day>\d{{1,2}}) (?P<month>{'|'.join(MONTHS)}) (?P<year>\d{{4}})\b"
"""A resolved date, as summaries have it: "26 September 2026"."""


@dataclass(frozen=True)
class Span:
    """Days that belong together: the first of them, how they are written, and the word that stands before."""

    first: date
    text: str
    preposition: str
    granularity: str


def written_day(day: date) -> str:
    return f"{day.day} {MONTHS[day.month - 1]} {day.year}"


def of_day(day: date) -> Span:
    return Span(day, written_day(day), "on", "day")


def of_week(day: date) -> Span:
    monday = day - timedelta(days=day.weekday())
    return Span(monday, f"the week of {written_day(monday)}", "in", "week")


def week_of_month(first_of_month: date, nth: int, word: str) -> Span:
    """Return "the first week of December 2026", "the last week of July 2027": seven days, wherever its Monday is."""
    first = _last_of(of_month(first_of_month.year, first_of_month.month)) - timedelta(days=6)
    if nth > 0:
        first = first_of_month + timedelta(weeks=nth - 1)
    text = f"the {word} week of {MONTHS[first_of_month.month - 1]} {first_of_month.year}"
    return Span(first, text, "in", "week")


def of_weekend(saturday: date) -> Span:
    sunday = saturday + timedelta(days=1)
    if sunday.month == saturday.month:
        text = f"the weekend of {saturday.day}-{written_day(sunday)}"
    else:
        text = f"the weekend of {saturday.day} {MONTHS[saturday.month - 1]}-{written_day(sunday)}"
    return Span(saturday, text, "on", "weekend")


def of_month(year: int, month: int) -> Span:
    return Span(date(year, month, 1), f"{MONTHS[month - 1]} {year}", "in", "month")


def of_year(year: int) -> Span:
    return Span(date(year, 1, 1), str(year), "in", "year")


def edge_of(whole: Span, edge: str) -> Span:
    """Return the end of a month, a year or a week ("the end of"), its beginning ("the start of"), or where in it
    something is ("mid", "early")."""
    word = edge.removeprefix("the ").removesuffix(" of")
    if word in ("early", "mid", "late"):
        return replace(whole, text=f"{word} {whole.text}")
    first = _last_of(whole) if word in ("end", "last day") else whole.first
    if word.endswith(" day"):
        return of_day(first)
    return Span(first, f"the {word} of {whole.text}", "in" if word == "middle" else "at", whole.granularity)


def _last_of(whole: Span) -> date:
    if whole.granularity == "week":
        return whole.first + timedelta(days=6)
    months = 12 if whole.granularity == "year" else 1
    return date(*shifted(whole.first, months), 1) - timedelta(days=1)


def shifted(day: date, months: int) -> tuple[int, int]:
    index = day.year * 12 + day.month - 1 + months
    return index // 12, index % 12 + 1


def season_of(unit: str, today: date, step: int) -> Span:
    start = _SEASONS[unit]
    year = today.year
    if start == 12 and today.month < 3:
        # The winter that began last year.
        year -= 2 if step < 0 else 1
    elif step < 0 and (today.month < start + 3 or start == 12):
        year -= 1
    elif step > 0 and today.month >= start:
        year += 1
    name = f"winter {year}/{(year + 1) % 100:02d}" if start == 12 else f"{unit} {year}"
    return Span(date(year, start, 1), name, "in", "season")
