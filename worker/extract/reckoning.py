"""What a relative date means, seen from a day: "last Friday", "in a fortnight", "three years ago this May".

Each takes what a pattern of `worker.extract.dates` found, the day, and whether the clause speaks of the past; None
leaves the words as they are.
"""

from __future__ import annotations

import re
from datetime import date, timedelta
from typing import Final

from worker.extract.spans import (
    MONTHS,
    Span,
    of_day,
    of_month,
    of_week,
    of_weekend,
    of_year,
    season_of,
    shifted,
    written_day,
)
from worker.extract.tense import PUT_OFF_TO

_WEEKDAYS: Final = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
NUMBERS: Final = {
    "a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8,
    "nine": 9, "ten": 10, "eleven": 11, "twelve": 12, "couple": 2, "few": 3, "several": 4, "twenty": 20,
    "fifteen": 15, "thirty": 30,
}  # fmt: skip
_VAGUE: Final = frozenset({"few", "couple", "several"})


def _month_number(name: str) -> int:
    return next(i for i, month in enumerate(MONTHS, 1) if month.lower().startswith(name.lower()[:3]))


def deictic(match: re.Match[str], today: date, _past: bool) -> Span:
    word = match.group("word").lower()
    part = match.group("part")
    if word in ("tonight", "last night"):
        day = today if word == "tonight" else today - timedelta(days=1)
        return Span(day, f"the {'evening' if word == 'tonight' else 'night'} of {written_day(day)}", "on", "day")
    if word.startswith("this "):
        return Span(today, f"the {word[5:]} of {written_day(today)}", "on", "day")
    offset = {"today": 0, "yesterday": -1, "tomorrow": 1}.get(word)
    if offset is None:
        offset = -2 if "yesterday" in word else 2
    day = today + timedelta(days=offset)
    if part:
        return Span(day, f"the {part} of {written_day(day)}", "on", "day")
    return of_day(day)


_TO_DAY = re.compile(rf" (?:to|through|thru|till|until) (?:{'|'.join(_WEEKDAYS)})\b", re.IGNORECASE)
_FROM_DAY = re.compile(rf"\b(?:{'|'.join(_WEEKDAYS)}) (?:to|through|thru|till|until) $", re.IGNORECASE)


def weekday(match: re.Match[str], today: date, past: bool) -> Span | None:
    """The weekday meant; None in a row of them, which comes every week: "Monday to Wednesday"."""
    which = (match.group("which") or "").lower()
    text, start = match.string, match.start()
    in_a_row = _TO_DAY.match(text, match.end("day")) or _FROM_DAY.search(text[:start])
    if in_a_row and not which and not PUT_OFF_TO.search(text[:start]):
        return None
    target = _WEEKDAYS.index(match.group("day").lower())
    back = (today.weekday() - target) % 7 or 7
    ahead = (target - today.weekday()) % 7 or 7
    if which in ("last", "past", "this past", "this last") or (which in ("", "this") and past):
        day = today - timedelta(days=back)
    elif which == "next":
        day = today + timedelta(days=7 - today.weekday() + target)
    else:
        day = today + timedelta(days=ahead)
    if match.group("part"):
        return Span(day, f"the {match.group('part')} of {written_day(day)}", "on", "day")
    return of_day(day)


def unit(match: re.Match[str], today: date, past: bool) -> Span:
    which = match.group("which").lower()
    unit = match.group("unit").lower()
    step = {"next": 1, "coming": 1, "the coming": 1, "this coming": 1, "this": 0}.get(which, -1)
    if unit == "week":
        return of_week(today + timedelta(weeks=step))
    if unit == "weekend":
        saturday = today + timedelta(days=5 - today.weekday())
        if step == -1 or (step == 0 and past and today.weekday() < 5):
            saturday -= timedelta(weeks=1)
        elif step == 1 and which == "next":
            saturday += timedelta(weeks=1)
        return of_weekend(saturday)
    if unit == "month":
        return of_month(*shifted(today, step))
    if unit == "year":
        return of_year(today.year + step)
    return season_of(unit, today, step)


def ago(match: re.Match[str], today: date, _past: bool) -> Span:
    return _counted(match, today, -1)


def ahead(match: re.Match[str], today: date, _past: bool) -> Span:
    return _counted(match, today, 1)


_FIRST_TIME = re.compile(r"\b(?:first|only|once)\b", re.IGNORECASE)


def within(match: re.Match[str], today: date, past: bool) -> Span | None:
    """What "in three days" means: how long it took, where it is told of the past or for the first time."""
    return None if past or _FIRST_TIME.search(match.string, 0, match.start()) else ahead(match, today, past)


def _counted(match: re.Match[str], today: date, sign: int) -> Span:
    word = match.group("n").lower()
    count = sign * (int(word) if word.isdigit() else NUMBERS[word])
    unit = match.group("unit").lower().rstrip("s")
    if unit in ("minute", "hour", "min", "hr"):
        return of_day(today)
    if unit == "day":
        span = of_day(today + timedelta(days=count))
    elif unit in ("week", "fortnight"):
        day = today + timedelta(weeks=count * (2 if unit == "fortnight" else 1))
        return Span(day, f"around {written_day(day)}", "", "week")
    elif unit == "month":
        span = of_month(*shifted(today, count))
    else:
        span = of_year(max(1, today.year + count * (10 if unit == "decade" else 1)))
    return Span(span.first, f"around {span.text}", "", span.granularity) if word in _VAGUE else span


def month_only(match: re.Match[str], today: date, past: bool) -> Span | None:
    if _YEARLY.search(match.string) and _NUMBERED.search(match.string[: match.start()]):
        return None
    month = _month_number(match.group("month"))
    which = (match.group("which") or "").lower().strip()
    return of_month(_year_of(month, 1, today, which == "last" or (which != "next" and past)), month)


def _year_of(month: int, day: int, today: date, past: bool) -> int:
    if past:
        return today.year - ((month, day) > (today.month, today.day))
    return today.year + ((month, 31 if day == 1 else day) < (today.month, today.day))


def end_of(match: re.Match[str], today: date, _past: bool) -> Span:
    """The end of the month or year that it is."""
    if match.group("unit").lower() == "month":
        whole, after = of_month(today.year, today.month), date(*shifted(today, 1), 1)
    else:
        whole, after = of_year(today.year), date(today.year + 1, 1, 1)
    return Span(after - timedelta(days=1), f"the end of {whole.text}", "at", whole.granularity)


def day_only(match: re.Match[str], today: date, past: bool) -> Span | None:
    """The nearest day of that number, ahead or, of the past, behind."""
    before = match.string[: match.start() + len("the ")]
    if _YEARLY.search(match.string) or (before.endswith(" to the ") and not PUT_OFF_TO.search(before[: -len("the ")])):
        return None
    number = int(match.group("dom"))
    for months in range(3):
        year, month = shifted(today, -months if past else months)
        try:
            day = date(year, month, number)
        except ValueError:
            continue
        if day == today or (day < today) is past:
            return of_day(day)
    return None


_NUMBERED = re.compile(r"\d(?:st|nd|rd|th)? (?:of )?$")
_YEARLY = re.compile(r"\b(?:birthday|anniversary|bday|b-day|born)\b", re.IGNORECASE)


def month_day(match: re.Match[str], today: date, past: bool) -> Span | None:
    if _YEARLY.search(match.string):
        return None
    month = _month_number(match.group("month") or match.group("month2"))
    number = int(match.group("dom") or match.group("dom2"))
    year = _year_of(month, number, today, past)
    try:
        return of_day(date(year, month, number))
    except ValueError:
        return None


def years_ago_in(match: re.Match[str], today: date, _past: bool) -> Span:
    word = match["n"].lower()
    return of_month(today.year - (int(word) if word.isdigit() else NUMBERS[word]), _month_number(match["month"]))


def one_further(match: re.Match[str], today: date, _past: bool) -> Span:
    """The weekend before last, the week after next: the second one behind or ahead."""
    unit, step = match["unit"].lower(), -2 if match["which"].lower() == "before last" else 2
    if unit == "week":
        return of_week(today + timedelta(weeks=step))
    if unit == "weekend":
        return of_weekend(today + timedelta(days=5 - min(today.weekday(), 6), weeks=step))
    if unit == "month":
        return of_month(*shifted(today, step))
    if unit == "year":
        return of_year(today.year + step)
    nearest = season_of(unit, today, step)
    return season_of(unit, date(nearest.first.year + (-1 if step < 0 else 1), nearest.first.month, 1), 0)


def weeks_from_day(match: re.Match[str], today: date, _past: bool) -> Span:
    """So long after the next one: "a week on Friday", "two weeks from Friday" and, in British, "Friday week"."""
    word = (match["n"] or "a").lower()
    count = int(word) if word.isdigit() else NUMBERS[word]
    if (match["unit"] or match["unit2"]).lower().startswith("fortnight"):
        count *= 2
    target = _WEEKDAYS.index((match["day"] or match["day2"]).lower())
    return of_day(today + timedelta(days=(target - today.weekday()) % 7 or 7, weeks=count))
