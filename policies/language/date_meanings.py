"""Meanings of dates, seen from a day: each form of `date_grammar` read as a span of the calendar."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import date, timedelta
from functools import partial
from typing import Final

from policies.language import date_distances
from policies.language.date_grammar import SPELLED
from policies.language.date_mentions import DateMention, Looks, month_number
from policies.language.habits import weekday_number
from policies.language.spans import Span, edge_of, of_day, of_month, of_weekend, shifted, week_of_month, written_day

_HOLIDAYS: Final = {
    "valentines day": (2, 14), "st patricks day": (3, 17), "st georges day": (4, 23), "may day": (5, 1),
    "juneteenth": (6, 19), "canada day": (7, 1), "bastille day": (7, 14), "bonfire night": (11, 5),
    "guy fawkes night": (11, 5), "remembrance day": (11, 11), "veterans day": (11, 11), "anzac day": (4, 25),
    "australia day": (1, 26), "burns night": (1, 25), "hogmanay": (12, 31), "christmas eve": (12, 24),
    "christmas day": (12, 25), "boxing day": (12, 26),
    "new years eve": (12, 31), "new years day": (1, 1), "new year": (1, 1), "halloween": (10, 31), "epiphany": (1, 6),
}  # fmt: skip
_AFTER_EASTER: Final = {
    "ash wednesday": -46, "palm sunday": -7, "good friday": -2, "easter sunday": 0, "easter monday": 1, "pentecost": 49,
    "whit monday": 50,
}  # fmt: skip
_AFTER_THANKSGIVING: Final = {"thanksgiving": 0, "thanksgiving day": 0, "black friday": 1}
"""Days from the fourth Thursday of November, as in the United States."""
_LOOK: Final = {"last": Looks.BACK, "this past": Looks.BACK, "next": Looks.AHEAD, "this coming": Looks.AHEAD}
_THAT_YEAR: Final = {"last": -1, "this": 0, "next": 1}
_ORDINALS: Final = {word: number for number, word in enumerate(SPELLED, 1)} | {"last": -1}
_YEARLY = re.compile(r"\b(?:birthday|bday|b-day|anniversary|born)\b", re.IGNORECASE)
"""Things that come back each year at their date: "her birthday on 3 May"."""
_INSTEAD_OF = re.compile(r"\b(?:not|instead of|rather than)(?: on)? the \Z", re.IGNORECASE)
"""Words before a day in whose place another one comes: "the 15th, not the " 8th."""
_LONGEST_INSTEAD = 20
"""Characters of the longest of them."""
_BY = re.compile(r"\b(?:by|before) the $", re.IGNORECASE)
"""A date that is a limit: "finish by the " 5th."""


Resolve = Callable[[DateMention], Span | None]


def _chosen(back: date, ahead: date, mention: DateMention) -> date:
    if mention.looks is Looks.BACK:
        return back
    if mention.looks is Looks.EITHER:
        return back if mention.today - back < ahead - mention.today else ahead
    return ahead


def _yearly(month: int, day: int, mention: DateMention) -> date | None:
    """Return the day of the year that is named, else of the one that is meant: the one behind or the one ahead; None
    where no year near has it."""
    if mention["y"] or mention["that"]:
        return date(int(mention["y"] or mention.today.year + _THAT_YEAR[mention["that"]]), month, day)
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
    meant = _yearly(month_number(mention["m"]), _day_number(mention), mention)
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


def _day_of_month(mention: DateMention) -> Span | None:
    """Read "the 19th of next month", "14 to 16 this month"; "the 1st of the month" of what is over."""
    if mention["which"] == "the" and mention.looks is not Looks.BACK:
        return None
    month = shifted(mention.today, {"next": 1, "last": -1}.get(mention["which"], 0))
    return _to_the_last(date(*month, _day_number(mention)), mention)


def _holiday(mention: DateMention) -> Span | None:
    looks = _LOOK.get(mention["which"], mention.looks)
    name = re.sub("['’.]", "", mention["holiday"])
    if name in _AFTER_EASTER:
        return of_day(_feast(partial(_after_easter, _AFTER_EASTER[name]), replace(mention, looks=looks)))
    if name in _AFTER_THANKSGIVING:
        return of_day(_feast(partial(_after_thanksgiving, _AFTER_THANKSGIVING[name]), replace(mention, looks=looks)))
    meant = _yearly(*_HOLIDAYS[name], replace(mention, looks=looks))
    return of_day(meant) if meant else None


def _feast(of_year: Callable[[int], date], mention: DateMention) -> date:
    """Return a feast that moves in the year that is named, else the one that is meant."""
    year, today = mention.today.year, mention.today
    if mention["y"] or mention["that"]:
        return of_year(int(mention["y"] or year + _THAT_YEAR[mention["that"]]))
    days = [of_year(near) for near in (year - 1, year, year + 1)]
    back, ahead = [day for day in days if day <= today], [day for day in days if day >= today]
    return _chosen(back[-1], ahead[0], mention)


def _after_thanksgiving(days: int, year: int) -> date:
    first = date(year, 11, 1)
    return first + timedelta(days=(3 - first.weekday()) % 7 + days, weeks=3)


def _after_easter(days: int, year: int) -> date:
    return _easter(year) + timedelta(days)


def _easter(year: int) -> date:
    """Return Easter Sunday of the Gregorian calendar (J. Meeus, "Astronomical Algorithms", chapter 8)."""
    golden, (century, of_century) = year % 19, divmod(year, 100)
    leaps, correction = century // 4, (century + 8) // 25
    epact = (19 * golden + century - leaps - (century - correction + 1) // 3 + 15) % 30
    weekday = (32 + 2 * (century % 4) + 2 * (of_century // 4) - epact - of_century % 4) % 7
    shift = (golden + 11 * epact + 22 * weekday) // 451
    month, day = divmod(epact + weekday - 7 * shift + 114, 31)
    return date(year, month, day + 1)


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
    span = of_month(meant.year, meant.month)
    return edge_of(span, mention["edge"]) if mention["edge"] else span


def _nth_of_month(mention: DateMention) -> Span | None:
    """Read "the last weekend in October", "the first Monday of next month", "the last week of July"."""
    if mention["m"]:
        month = month_number(mention["m"])
        anchor = _yearly(month, 28, mention)
        if anchor is None:
            return None
    else:
        year, month = shifted(mention.today, {"next": 1, "last": -1}.get(mention["which"], 0))
        anchor = date(year, month, 1)
    unit = mention["unit"]
    nth = _ORDINALS[mention["nth"]]
    if unit == "week":
        return week_of_month(date(anchor.year, month, 1), nth, mention["nth"])
    wanted = 5 if unit == "weekend" else weekday_number(unit)
    days = [date(anchor.year, month, d) for d in range(1, 29) if date(anchor.year, month, d).weekday() == wanted]
    if (later := days[-1] + timedelta(weeks=1)).month == month:
        days.append(later)
    day = days[nth if nth < 0 else nth - 1]
    return of_weekend(day) if unit == "weekend" else of_day(day)


def _day_alone(mention: DateMention) -> Span | None:
    """Read "the 20th": of the month named just before, else the next one after the day named, else the nearest; "to
    20th" only behind a day, "not the 8th" the nearest to that."""
    if mention.match["d_"] and mention.before is None:
        return None
    number = _day_number(mention)
    begin, back = mention.today, mention.looks is Looks.BACK
    limit = _BY.search(mention.text, 0, mention.match.start())
    if mention.before is not None and mention.before.granularity in ("day", "month") and not limit:
        begin, back = mention.before.first, False
        if _INSTEAD_OF.search(mention.text, mention.match.start() - _LONGEST_INSTEAD, mention.match.start()):
            return _nearest(number, begin)
    for months in range(3):
        try:
            day = date(*shifted(begin, -months if back else months), number)
        except ValueError:
            continue
        if day == begin or (day < begin) is back:
            return of_day(day)
    return None


def _nearest(number: int, to: date) -> Span:
    """Return the day of this number, of this month, the last or the next, that is nearest to another day."""
    days = []
    for months in (-1, 0, 1):
        with suppress(ValueError):
            days.append(date(*shifted(to, months), number))
    return of_day(min(days, key=lambda day: abs(day - to)))


RESOLVED: Final[Mapping[str, Resolve]] = {
    "iso": _iso,
    "digits": _digits,
    "nth_of_month": _nth_of_month,
    "day_month": _day_of_month_named,
    "day_of_month": _day_of_month,
    "month_day": _day_of_month_named,
    "month_year": _month_and_year,
    "beyond": date_distances.beyond,
    "holiday": _holiday,
    "how_many_away": date_distances.how_many_away,
    "from_day": date_distances.from_day,
    "deictic": date_distances.deictic,
    "ago": date_distances.ago,
    "off_before": date_distances.off_before,
    "within": date_distances.within,
    "countdown": date_distances.countdown,
    "weekday": date_distances.weekday,
    "edge": date_distances.edge,
    "unit": date_distances.unit,
    "the_weekend": date_distances.the_weekend,
    "month": _month,
    "day_alone": _day_alone,
}
