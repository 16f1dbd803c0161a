"""Dates that are told by how far they are from the day from which they are seen, or from one named before: "next
month", "two weeks ago", "the weekend after"."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import date, timedelta
from typing import Final

from policies.language.date_mentions import DateMention, Looks, month_number, number_of
from policies.language.habits import comes_weekly, weekday_number
from policies.language.spans import (
    Span,
    edge_of,
    of_day,
    of_month,
    of_week,
    of_weekend,
    of_year,
    season_of,
    shifted,
    written_day,
)

_LIMIT: Final = re.compile(r"\b(?:by|before|until|till) (?:the )?\Z", re.IGNORECASE)
"""Words before a day until which something is done: "by the "."""
_VAGUE: Final = frozenset({"few", "couple", "several"})
_PLANNED: Final = re.compile(
    r"(?:\b(?:am|is|are)|['’](?:m|s|re)) (?:\w+ )?\w+ing\b|\b(?:will|shall|going to)\b|['’]ll\b", re.IGNORECASE
)
"""Words of what is to come, and of no habit: "I'm seeing my dad"."""
_DAYS: Final = {"day": 1.0, "week": 7.0, "fortnight": 14.0, "month": 365.25 / 12, "year": 365.25}
"""How long what dates are counted in lasts, on average."""


def deictic(mention: DateMention) -> Span:
    word, part, today = mention["word"], mention["part"], mention.today
    if word in ("tonight", "last night", "this morning", "this afternoon", "this evening"):
        day = today - timedelta(days=word == "last night")
        name = "evening" if word == "tonight" else word.rsplit(" ", 1)[1]
        return Span(day, f"the {name} of {written_day(day)}", "on", "day")
    if "before last" in word:
        return Span(
            today - timedelta(days=2), f"the {word.split()[0]} of {written_day(today - timedelta(days=2))}", "on", "day"
        )
    offset = {"today": 0, "yesterday": -1, "tomorrow": 1}.get(word, -2 if "yesterday" in word else 2)
    day = today + timedelta(days=offset)
    return Span(day, f"the {part} of {written_day(day)}", "on", "day") if part else of_day(day)


def weekday(mention: DateMention) -> Span | None:
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


def unit(mention: DateMention) -> Span:
    which, unit, today = mention["which"], mention["unit"], mention.today
    step = {"next": 1, "coming": 1, "the coming": 1, "this coming": 1, "this": 0, "": 0}.get(which, -1)
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


def the_weekend(mention: DateMention) -> Span | None:
    """Return the weekend that "over the weekend" means, where its clause tells of one; else it may be any."""
    is_planned = mention.looks is Looks.AHEAD and _PLANNED.search(mention.text, 0, mention.match.start())
    return unit(mention) if is_planned or mention.looks is Looks.BACK else None


def how_many_away(mention: DateMention) -> Span:
    """Read "two Sundays from now", "three Fridays ago", "two summers ago"."""
    if mention["season"]:
        today = mention.today
        return season_of(mention["season"], date(today.year - mention.count() + 1, today.month, 1), -1)
    sign = 1 if mention["which"].startswith("from") else -1
    days = (weekday_number(mention["wd"]) - mention.today.weekday()) * sign % 7 or 7
    return of_day(mention.today + sign * timedelta(days=days, weeks=mention.count() - 1))


def beyond(mention: DateMention) -> Span:
    """Return the weekend before last, the week after next, the second Monday from now."""
    unit, step = mention["unit"], -2 if mention["which"] == "before last" else 2
    if unit.endswith("day"):
        days = (weekday_number(unit) - mention.today.weekday()) % 7
        return of_day(mention.today + timedelta(days=days - 14 if step < 0 else (days or 7) + 7))
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
    if mention["half"] and unit in _DAYS:
        around = of_day(today + timedelta(days=round((count + sign / 2) * _DAYS[unit])))
        return replace(around, text=f"around {around.text}", preposition="")
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


def ago(mention: DateMention) -> Span | None:
    if mention["wd"]:
        # "Three weeks ago Tuesday" counts from the last Tuesday.
        since = (mention.today.weekday() - weekday_number(mention["wd"])) % 7 or 7
        return of_day(mention.today - timedelta(days=since, weeks=mention.count()))
    return _counted(mention, -1)


_HAS_LASTED = re.compile(r"(?:\b(?:have|has|had|been|for)|'ve)\b[^.;!?]*\Z", re.IGNORECASE)
"""A clause that says how long something has been so: "I've been sober"."""
_ONCE = re.compile(r"\b(?:first|only|once|time|done|finished)\b", re.IGNORECASE)
"""A deed that is done, or that was done once: "my first marathon"."""


def within(mention: DateMention) -> Span | None:
    """Read "in three days" ahead; in the past it is how long a thing took."""
    if mention.looks is Looks.BACK or _ONCE.search(mention.text, 0, mention.match.start()):
        return None
    return _counted(mention, 1)


def countdown(mention: DateMention) -> Span | None:
    """Read "ten days till my exam" as the day of the exam; in the past it is how long something went on."""
    return None if mention.looks is Looks.BACK else _counted(mention, 1)


def from_day(mention: DateMention) -> Span | None:
    """Read "a week from today", "Saturday week", "three weeks today", when what has been so for three weeks began."""
    if mention["short"]:
        days = 14 if mention["unit2"].startswith("fortnight") else 7
        return of_day(_day_to_come(mention["short"], mention.today) + timedelta(days))
    if mention.match["anchor_"] and mention["anchor"] not in ("today", "tomorrow") and mention.looks is Looks.BACK:
        return None
    if mention["anchor_"] == "today" and _HAS_LASTED.search(mention.text, 0, mention.match.start()):
        return None
    return _counted(mention, 1, _day_to_come(mention["anchor"], mention.today))


def _day_to_come(name: str, today: date) -> date:
    if name in ("today", "now", "tomorrow"):
        return today + timedelta(days=name == "tomorrow")
    return today + timedelta(days=(weekday_number(name) - today.weekday()) % 7 or 7)


def off_before(mention: DateMention) -> Span | None:
    """Read "two days earlier", "the day after", "the weekend before": seen from the day named just before."""
    if mention.before is None or mention.before.granularity != "day":
        return None
    sign = -1 if mention["side"] in ("before", "earlier") else 1
    if mention["unit"] == "weekend":
        return _weekend_beside(mention.before.first, sign)
    return _counted(mention, sign, mention.before.first)


def _weekend_beside(day: date, sign: int) -> Span:
    """Return the last weekend before a day, or the first after it."""
    saturday = day + timedelta(days=5 - day.weekday())
    if sign * (saturday - day).days <= 0:
        saturday += timedelta(weeks=sign)
    return of_weekend(saturday)


def offset(words: re.Match[str], anchor: date) -> Span:
    """Read "the day after", "two weeks before", "the first Monday after" a day: words that `OFFSET` finds."""
    sign = -1 if words["side"].lower() == "before" else 1
    if words["wd"]:
        weeks = {"second": 1, "third": 2}.get((words["nth"] or "").lower(), 0)
        target = weekday_number(words["wd"])
        days = (target - anchor.weekday()) * sign % 7 or 7
        return of_day(anchor + sign * timedelta(days=days, weeks=weeks))
    unit = (words["unit"] or words["unit_"]).lower().rstrip("s")
    if unit == "weekend":
        return _weekend_beside(anchor, sign)
    count = number_of(words["n"]) if words["unit"] else 1
    span = of_day(anchor + timedelta(days=sign * count * (7 if unit == "week" else 1)))
    loose = (words["n"] or "").lower() in _VAGUE
    return replace(span, text=f"around {span.text}", preposition="") if loose else span


def edge(mention: DateMention) -> Span:
    """Read "the end of the month", "the start of next year", "the last day of the month"; "by the end of the month" is
    its last day."""
    today, unit, at_end = mention.today, mention["unit"], mention["edge"] in ("end", "last day")
    step = {"next": 1, "last": -1}.get(mention["which"], 0)
    if unit == "week" and at_end and step == 0:
        return of_day(today + timedelta(days=4 - today.weekday() if today.weekday() < 5 else 6 - today.weekday()))
    if unit == "year" and not mention["which"]:
        step = (not at_end and mention.looks is Looks.AHEAD) - (at_end and mention.looks is Looks.BACK)
    whole = {
        "week": lambda: of_week(today + timedelta(weeks=step)),
        "month": lambda: of_month(*shifted(today, step)),
        "year": lambda: of_year(today.year + step),
    }[unit]()
    is_limit = mention["edge"] == "end" and _LIMIT.search(mention.text, 0, mention.match.start())
    return edge_of(whole, "last day" if is_limit else mention["edge"])
