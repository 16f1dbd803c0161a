"""Meanings of dates, seen from a day: each form of `date_grammar` read as a span of the calendar."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import date, timedelta
from enum import Enum
from typing import Final

from policies.language.date_grammar import SPELLED
from policies.language.habits import comes_weekly, weekday_number
from policies.language.spans import (
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


class Looks(Enum):
    """Where the clause of a date looks. `EITHER` takes what is nearer, `UNKNOWN` what is to come."""

    BACK = "back"
    AHEAD = "ahead"
    EITHER = "either"
    UNKNOWN = "unknown"


_NUMBERS: Final = {
    "a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8,
    "nine": 9, "ten": 10, "eleven": 11, "twelve": 12, "couple": 2, "few": 3, "several": 4, "fifteen": 15,
    "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50,
}  # fmt: skip
_HOLIDAYS: Final = {
    "valentines day": (2, 14), "st patricks day": (3, 17), "st georges day": (4, 23), "may day": (5, 1),
    "juneteenth": (6, 19), "canada day": (7, 1), "bastille day": (7, 14), "bonfire night": (11, 5),
    "guy fawkes night": (11, 5), "remembrance day": (11, 11), "veterans day": (11, 11), "anzac day": (4, 25),
    "australia day": (1, 26), "burns night": (1, 25), "hogmanay": (12, 31), "christmas eve": (12, 24),
    "christmas day": (12, 25), "boxing day": (12, 26),
    "new years eve": (12, 31), "new years day": (1, 1), "halloween": (10, 31),
}  # fmt: skip
_THAT_YEAR: Final = {"last": -1, "this": 0, "next": 1}
_VAGUE: Final = frozenset({"few", "couple", "several"})
_ORDINALS: Final = {word: number for number, word in enumerate(SPELLED, 1)} | {"last": -1}
_YEARLY = re.compile(r"\b(?:birthday|bday|b-day|anniversary|born)\b", re.IGNORECASE)
"""Things that come back each year at their date: "her birthday on 3 May"."""
_BY = re.compile(r"\b(?:by|before) the $", re.IGNORECASE)
"""A date that is a limit: "finish by the " 5th."""

Resolve = Callable[["DateMention"], Span | None]


@dataclass(frozen=True)
class DateMention:
    """A match, the day from which it is seen, where its clause looks, and the dates found before it."""

    match: re.Match[str]
    today: date
    looks: Looks
    before: Span | None

    def __getitem__(self, group: str) -> str:
        groups = self.match.groupdict()
        return (groups.get(group) or groups.get(f"{group}_") or "").lower()

    @property
    def text(self) -> str:
        return self.match.string

    def count(self, group: str = "n") -> int:
        word = self[group] or "a"
        return int(word) if word.isdigit() else _NUMBERS[word]


def month_number(name: str) -> int:
    return next(i for i, month in enumerate(MONTHS, 1) if month.lower().startswith(name.lower()[:3]))


def _chosen(back: date, ahead: date, mention: DateMention) -> date:
    if mention.looks is Looks.BACK:
        return back
    if mention.looks is Looks.EITHER:
        return back if mention.today - back < ahead - mention.today else ahead
    return ahead


def _yearly(month: int, day: int, mention: DateMention) -> date | None:
    """Return the day of the year that is meant: the one behind or the one ahead; None where no year near has it."""
    days = []
    for year in range(mention.today.year - 4, mention.today.year + 5):
        try:
            days.append(date(year, month, day))
        except ValueError:
            continue
    back = [candidate for candidate in days if candidate <= mention.today]
    ahead = [candidate for candidate in days if candidate >= mention.today]
    if not back or not ahead:
        return None
    return _chosen(back[-1], ahead[0], mention)


def _iso(mention: DateMention) -> Span | None:
    return of_day(date(int(mention["y"]), int(mention["mn"]), int(mention["d"])))


def _digits(mention: DateMention) -> Span | None:
    """Read "14/7" and "4.1." by which of the numbers can be a month; a slash between two that both can is left."""
    first, second, dotted = int(mention["a"]), int(mention["b"]), mention["sep"] == "."
    if not dotted and first <= 12 and second <= 12:
        return None
    day, month = (first, second) if dotted or first > 12 else (second, first)
    if not 1 <= month <= 12:
        return None
    if mention["y"]:
        year = int(mention["y"])
        return of_day(date(year + 2000 if year < 100 else year, month, day))
    meant = _yearly(month, day, mention)
    return of_day(meant) if meant else None


def _day_of_month_named(mention: DateMention) -> Span | None:
    """Read "June 5", "the 5th of June", "7th to 11th November": the first day, written with the last."""
    if _YEARLY.search(mention.text) and not (mention["y"] or mention["that"]):
        return None
    day = _day_number(mention)
    if mention["y"] or mention["that"]:
        year = int(mention["y"] or mention.today.year + _THAT_YEAR[mention["that"]])
        meant: date | None = date(year, month_number(mention["m"]), day)
    else:
        meant = _yearly(month_number(mention["m"]), day, mention)
    return _to_the_last(meant, mention) if meant else None


def _day_number(mention: DateMention) -> int:
    number = mention["d"]
    digits = number.rstrip("stndrh")
    return int(digits) if digits.isdigit() else _ORDINALS[number.replace(" ", "-")]


def _to_the_last(first: date, mention: DateMention) -> Span:
    """Return the day, written with the last where there are several: "7-11 November 2026"."""
    if not mention["d2"]:
        return of_day(first)
    return replace(of_day(first), text=f"{first.day}-{written_day(first.replace(day=int(mention['d2'])))}")


def _day_of_month(mention: DateMention) -> Span:
    """Read "the 19th of next month", "14 to 16 this month"."""
    month = shifted(mention.today, {"next": 1, "last": -1}.get(mention["which"], 0))
    return _to_the_last(date(*month, _day_number(mention)), mention)


def _holiday(mention: DateMention) -> Span | None:
    meant = _yearly(*_HOLIDAYS[re.sub("['’.]", "", mention["holiday"])], mention)
    return of_day(meant) if meant else None


def _month_and_year(mention: DateMention) -> Span | None:
    century = 0 if len(mention["y"]) > 2 else 2000 if int(mention["y"]) <= mention.today.year % 100 + 9 else 1900
    return of_month(century + int(mention["y"]), month_number(mention["m"]))


def _month(mention: DateMention) -> Span | None:
    month, which = month_number(mention["m"]), mention["which"].strip()
    this = date(mention.today.year, month, 1)
    here = (mention.today.year, mention.today.month)
    ahead = this if (this.year, this.month) >= here else this.replace(year=this.year + 1)
    back = this if (this.year, this.month) <= here else this.replace(year=this.year - 1)
    if which == "last":
        back = back if back.month != mention.today.month else back.replace(year=back.year - 1)
        meant = back
    elif which in ("next", "coming", "this coming"):
        meant = ahead if ahead.month != mention.today.month else ahead.replace(year=ahead.year + 1)
    else:
        meant = _chosen(back, ahead, mention)
    if mention["edge"] == "end":
        return _end(of_month(meant.year, meant.month), date(*shifted(meant, 1), 1))
    span = of_month(meant.year, meant.month)
    return replace(span, text=f"{mention['edge']} {span.text}") if mention["edge"] else span


def _end(whole: Span, after: date) -> Span:
    return Span(after - timedelta(days=1), f"the end of {whole.text}", "at", whole.granularity)


def _deictic(mention: DateMention) -> Span:
    word, part, today = mention["word"], mention["part"], mention.today
    if word in ("tonight", "last night", "this morning", "this afternoon", "this evening"):
        day = today - timedelta(days=word == "last night")
        name = "evening" if word == "tonight" else word.rsplit(" ", 1)[1]
        return Span(day, f"the {name} of {written_day(day)}", "on", "day")
    offset = {"today": 0, "yesterday": -1, "tomorrow": 1}.get(word, -2 if "yesterday" in word else 2)
    day = today + timedelta(days=offset)
    return Span(day, f"the {part} of {written_day(day)}", "on", "day") if part else of_day(day)


def _weekday(mention: DateMention) -> Span | None:
    which, today = mention["which"], mention.today
    ahead = mention.looks in (Looks.AHEAD, Looks.UNKNOWN)
    if not which and comes_weekly(mention.text, mention.match.start("wd"), mention.match.end("wd"), ahead=ahead):
        return None
    target = weekday_number(mention["wd"])
    back = today - timedelta(days=(today.weekday() - target) % 7 or 7)
    to_come = today + timedelta(days=(target - today.weekday()) % 7 or 7)
    if which in ("last", "past", "this past"):
        day = back
    elif which in ("coming", "this coming"):
        day = to_come
    elif which == "next":
        day = today + timedelta(days=7 - today.weekday() + target)
    else:
        day = back if mention.looks is Looks.BACK else to_come
    if mention["dom"]:
        days = (day + timedelta(weeks=n) for n in (0, -1, 1, 2, 3, 4))
        day = next((candidate for candidate in days if candidate.day == int(mention["dom"])), day)
    return Span(day, f"the {mention['part']} of {written_day(day)}", "on", "day") if mention["part"] else of_day(day)


def _unit(mention: DateMention) -> Span:
    which, unit, today = mention["which"], mention["unit"], mention.today
    step = {"next": 1, "coming": 1, "the coming": 1, "this coming": 1, "this": 0}.get(which, -1)
    if unit == "week":
        return of_week(today + timedelta(weeks=step))
    if unit == "weekend":
        saturday = today + timedelta(days=5 - today.weekday())
        if step == -1 or (step == 0 and mention.looks is Looks.BACK and today.weekday() < 5):
            saturday -= timedelta(weeks=1)
        elif which == "next":
            saturday += timedelta(weeks=1)
        return of_weekend(saturday)
    if unit == "month":
        return of_month(*shifted(today, step))
    return of_year(today.year + step) if unit == "year" else season_of(unit, today, step)


def _beyond(mention: DateMention) -> Span:
    """Return the weekend before last, the week after next."""
    unit, step = mention["unit"], -2 if mention["which"] == "before last" else 2
    if unit == "week":
        return of_week(mention.today + timedelta(weeks=step))
    if unit == "weekend":
        return of_weekend(mention.today + timedelta(days=5 - min(mention.today.weekday(), 6), weeks=step))
    return of_month(*shifted(mention.today, step)) if unit == "month" else of_year(mention.today.year + step)


def _counted(mention: DateMention, sign: int, start: date | None = None) -> Span | None:
    today = start or mention.today
    count, unit, word = sign * mention.count(), mention["unit"].rstrip("s"), mention["n"]
    if unit in ("minute", "hour", "min", "hr"):
        return of_day(today)
    if unit in ("day", "week", "fortnight"):
        days = {"day": 1, "week": 7, "fortnight": 14}[unit] * count
        span = of_day(today + timedelta(days=days))
        loose = word in _VAGUE or (unit != "day" and start is None)
    elif start is not None and unit in ("month", "year"):
        year, month = shifted(today, count * (12 if unit == "year" else 1))
        span, loose = of_day(date(year, month, min(today.day, 28))), False
    elif unit == "month":
        span, loose = of_month(*shifted(today, count)), word in _VAGUE
    elif mention["anchor"]:
        return _year_ago_at(mention)
    else:
        span = of_year(max(1, today.year + count * (10 if unit == "decade" else 1)))
        loose = word in _VAGUE
    return replace(span, text=f"around {span.text}", preposition="") if loose else span


def _year_ago_at(mention: DateMention) -> Span:
    """Read "five years ago today", "three years ago yesterday", "two years ago this May"."""
    year, anchor = mention.today.year - mention.count(), mention["anchor"]
    if anchor in ("today", "yesterday", "tomorrow"):
        near = mention.today + timedelta(days={"today": 0, "yesterday": -1, "tomorrow": 1}[anchor])
        return of_day(near.replace(year=year, day=min(near.day, 28) if near.month == 2 else near.day))
    if anchor == "week":
        return of_month(year, mention.today.month)
    return of_month(year, mention.today.month if anchor == "month" else month_number(anchor))


def _ago(mention: DateMention) -> Span | None:
    return _counted(mention, -1)


_HAS_LASTED = re.compile(r"(?:\b(?:have|has|had|been|for)|'ve)\b[^.;!?]*\Z", re.IGNORECASE)
"""A clause that says how long something has been so: "I've been sober"."""
_ONCE = re.compile(r"\b(?:first|only|once|time|done|finished)\b", re.IGNORECASE)
"""A deed that is done, or that was done once: "my first marathon"."""


def _within(mention: DateMention) -> Span | None:
    """Read "in three days" ahead; in the past it is how long a thing took."""
    if mention.looks is Looks.BACK or _ONCE.search(mention.text, 0, mention.match.start()):
        return None
    return _counted(mention, 1)


def _from_day(mention: DateMention) -> Span | None:
    """Read "a week from today", "Saturday week", "three weeks today", when what has been so for three weeks began."""
    if mention["short"]:
        days = 14 if mention["unit2"].startswith("fortnight") else 7
        return of_day(_day_to_come(mention["short"], mention.today) + timedelta(days))
    if mention["anchor_"] == "today" and _HAS_LASTED.search(mention.text, 0, mention.match.start()):
        return None
    return _counted(mention, 1, _day_to_come(mention["anchor"], mention.today))


def _day_to_come(name: str, today: date) -> date:
    if name in ("today", "now", "tomorrow"):
        return today + timedelta(days=name == "tomorrow")
    return today + timedelta(days=(weekday_number(name) - today.weekday()) % 7 or 7)


def _off_before(mention: DateMention) -> Span | None:
    """Read "two days earlier", "the day after", "the weekend before": seen from the day named just before."""
    if mention.before is None or mention.before.granularity != "day":
        return None
    sign = -1 if mention["side"] in ("before", "earlier") else 1
    if mention["unit"] == "weekend":
        saturday = mention.before.first + timedelta(days=5 - mention.before.first.weekday())
        if sign * (saturday - mention.before.first).days <= 0:
            saturday += timedelta(weeks=sign)
        return of_weekend(saturday)
    return _counted(mention, sign, mention.before.first)


def _ends(mention: DateMention) -> Span:
    today = mention.today
    if mention["unit"] == "month":
        return _end(of_month(today.year, today.month), date(*shifted(today, 1), 1))
    if mention["unit"] == "week":
        return of_day(today + timedelta(days=4 - today.weekday() if today.weekday() < 5 else 6 - today.weekday()))
    return _end(of_year(today.year), date(today.year + 1, 1, 1))


def _nth_of_month(mention: DateMention) -> Span | None:
    """Read "the last weekend in October", "the first Monday of next month", "the last week of July": from its Monday
    on."""
    if mention["m"]:
        month = month_number(mention["m"])
        anchor = _yearly(month, 28, mention)
        if anchor is None:
            return None
    else:
        year, month = shifted(mention.today, {"next": 1, "last": -1}.get(mention["which"], 0))
        anchor = date(year, month, 1)
    unit = mention["unit"]
    wanted = {"weekend": 5, "week": 0}[unit] if unit in ("weekend", "week") else weekday_number(unit)
    days = [date(anchor.year, month, d) for d in range(1, 29) if date(anchor.year, month, d).weekday() == wanted]
    if (later := days[-1] + timedelta(weeks=1)).month == month:
        days.append(later)
    nth = _ORDINALS[mention["nth"]]
    day = days[nth if nth < 0 else nth - 1]
    return {"weekend": of_weekend, "week": of_week}.get(unit, of_day)(day)


def _day_alone(mention: DateMention) -> Span | None:
    """Read "the 20th": of the month named just before, else the next one after the day named, else the nearest."""
    number = int(mention["d"])
    begin, back = mention.today, mention.looks is Looks.BACK
    limit = _BY.search(mention.text, 0, mention.match.start())
    if mention.before is not None and mention.before.granularity in ("day", "month") and not limit:
        begin, back = mention.before.first, False
    for months in range(3):
        try:
            day = date(*shifted(begin, -months if back else months), number)
        except ValueError:
            continue
        if day == begin or (day < begin) is back:
            return of_day(day)
    return None


RESOLVED: Final[Mapping[str, Resolve]] = {
    "iso": _iso,
    "digits": _digits,
    "nth_of_month": _nth_of_month,
    "day_month": _day_of_month_named,
    "day_of_month": _day_of_month,
    "month_day": _day_of_month_named,
    "month_year": _month_and_year,
    "beyond": _beyond,
    "holiday": _holiday,
    "from_day": _from_day,
    "deictic": _deictic,
    "ago": _ago,
    "off_before": _off_before,
    "within": _within,
    "weekday": _weekday,
    "ends": _ends,
    "unit": _unit,
    "month": _month,
    "day_alone": _day_alone,
}
