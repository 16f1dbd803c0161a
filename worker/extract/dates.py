"""Relative dates made absolute, to the granularity in which they were said."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
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
from worker.extract.tense import is_past, past_at

_WEEKDAYS: Final = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_NUMBERS: Final = {
    "a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8,
    "nine": 9, "ten": 10, "eleven": 11, "twelve": 12, "couple": 2, "few": 3, "several": 4, "twenty": 20,
    "fifteen": 15, "thirty": 30,
}  # fmt: skip
_VAGUE: Final = frozenset({"few", "couple", "several"})
_PREPOSITIONS: Final = frozenset(
    {
        "by",
        "for",
        "since",
        "until",
        "till",
        "til",
        "before",
        "after",
        "from",
        "during",
        "of",
        "to",
        "than",
        "through",
        "in",
    }
    | {"on", "around", "about", "over", "between"}
)
_MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|"
    r"nov(?:ember)?|dec(?:ember)?)"
)
_DAY = r"(?:mon|tues|wednes|thurs|fri|satur|sun)day"
_COUNT = (
    r"(?:about |around |like |just |exactly |almost |over )?(?:a |the )?(?P<n>\d{1,3}|a|an|one|two|three|four|five|six|"
    r"seven|eight|nine|ten|eleven|twelve|fifteen|twenty|thirty|couple|few|several)(?: of)?"
)
_PART = r"(?: (?P<part>morning|afternoon|evening|night))?"


@dataclass(frozen=True)
class Moment:
    """A time that a statement is about: its first moment, and how it reads."""

    at: datetime
    text: str
    granularity: str


@dataclass(frozen=True)
class Dated:
    """A text with its relative dates resolved, and the moments in it in order."""

    text: str
    moments: tuple[Moment, ...]


def _month_number(name: str) -> int:
    return next(i for i, month in enumerate(MONTHS, 1) if month.lower().startswith(name.lower()[:3]))


def _deictic(match: re.Match[str], today: date, _past: bool) -> Span:
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


def _weekday(match: re.Match[str], today: date, past: bool) -> Span:
    which = (match.group("which") or "").lower()
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


def _unit(match: re.Match[str], today: date, past: bool) -> Span:
    which = match.group("which").lower()
    unit = match.group("unit").lower()
    step = {"next": 1, "coming": 1, "the coming": 1, "this coming": 1, "this": 0}.get(which, -1)
    if unit == "week":
        return of_week(today + timedelta(weeks=step))
    if unit == "weekend":
        saturday = today + timedelta(days=5 - min(today.weekday(), 6))
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


def _ago(match: re.Match[str], today: date, _past: bool) -> Span:
    return _counted(match, today, -1)


def _ahead(match: re.Match[str], today: date, _past: bool) -> Span:
    return _counted(match, today, 1)


def _within(match: re.Match[str], today: date, past: bool) -> Span | None:
    """What "in three days" means: how long it took, where it is told of the past."""
    return None if past else _ahead(match, today, past)


def _counted(match: re.Match[str], today: date, sign: int) -> Span:
    word = match.group("n").lower()
    count = sign * (int(word) if word.isdigit() else _NUMBERS[word])
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


def _month_only(match: re.Match[str], today: date, past: bool) -> Span | None:
    if _YEARLY.search(match.string) and _NUMBERED.search(match.string[: match.start()]):
        return None
    month = _month_number(match.group("month"))
    which = (match.group("which") or "").lower().strip()
    return of_month(_year_of(month, 1, today, which == "last" or (which != "next" and past)), month)


def _year_of(month: int, day: int, today: date, past: bool) -> int:
    if past:
        return today.year - ((month, day) > (today.month, today.day))
    return today.year + ((month, 31 if day == 1 else day) < (today.month, today.day))


def _end_of(match: re.Match[str], today: date, _past: bool) -> Span:
    """The end of the month or year that it is."""
    if match.group("unit").lower() == "month":
        whole, after = of_month(today.year, today.month), date(*shifted(today, 1), 1)
    else:
        whole, after = of_year(today.year), date(today.year + 1, 1, 1)
    return Span(after - timedelta(days=1), f"the end of {whole.text}", "at", whole.granularity)


def _day_only(match: re.Match[str], today: date, past: bool) -> Span | None:
    """The nearest day of that number, ahead or, of the past, behind."""
    if _YEARLY.search(match.string):
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


def _month_day(match: re.Match[str], today: date, past: bool) -> Span | None:
    if _YEARLY.search(match.string):
        return None
    month = _month_number(match.group("month") or match.group("month2"))
    number = int(match.group("dom") or match.group("dom2"))
    year = _year_of(month, number, today, past)
    try:
        return of_day(date(year, month, number))
    except ValueError:
        return None


_Rule = tuple[re.Pattern[str], Callable[[re.Match[str], date, bool], Span | None]]


def _rule(pattern: str, resolve: Callable[[re.Match[str], date, bool], Span | None]) -> _Rule:
    return re.compile(
        r"\b(?:just )?(?P<lead>(?:in|on|at|back in|back on) (?:the )?)?" + pattern, re.IGNORECASE
    ), resolve


_RULES: Final[tuple[_Rule, ...]] = (
    _rule(
        r"(?:the )?(?P<word>day before yesterday|day after tomorrow|yesterday|tomorrow|today|tonight|last night|"
        r"this (?:morning|afternoon|evening))" + _PART + r"\b",
        _deictic,
    ),
    _rule(
        rf"{_COUNT} (?P<unit>minutes?|mins?|hours?|hrs?|days?|weeks?|fortnights?|months?|years?|decades?) (?:ago|"
        rf"back|earlier)\b",
        _ago,
    ),
    _rule(rf"{_COUNT} (?P<unit>days?|weeks?|months?|years?)(?: from now|(?<=in)(?=$))\b", _ahead),
    _rule(
        r"(?<=in )" + _COUNT + r" (?P<unit>days?|weeks?|fortnights?|months?|years?)(?:'? time)?\b(?! of| for)", _within
    ),
    _rule(
        rf"(?P<which>this past|this last|last|past|next|this|this coming) (?P<day>{_DAY}){_PART}\b(?!s| of\b)", _weekday
    ),
    _rule(r"(?:the )?end of (?:the|this) (?P<unit>month|year)\b", _end_of),
    _rule(
        r"(?P<which>this past|this last|the coming|this coming|last|past|next|this) "
        r"(?P<unit>weekend|week|month|year|spring|summer|autumn|fall|winter)\b(?! of the)",
        _unit,
    ),
    _rule(
        rf"(?:(?P<month>{_MONTH})\.? (?:the )?(?P<dom>[0-3]?\d)(?:st|nd|rd|th)?|(?:the "
        rf")?(?P<dom2>[0-3]?\d)(?:st|nd|rd|th)?"
        rf" (?:of )?(?P<month2>{_MONTH}))\b(?!,? ?(?:19|20)\d\d|\.?\d|:)",
        _month_day,
    ),
    _rule(
        rf"(?P<which>last |next |this )?(?P<month>{_MONTH})\b(?! ?(?:[0-3]?\d\b|(?:of )?(?:19|20)\d\d)|"
        rf",? (?:19|20)\d\d|\.\w)",
        _month_only,
    ),
    _rule(r"(?<=on the )(?P<dom>[0-3]?\d)(?:st|nd|rd|th)(?=[.,;!?]|$| (?:and|at|but|so|because|with)\b)", _day_only),
    _rule(rf"(?P<which>)(?P<day>{_DAY}){_PART}\b(?!s| of\b| (?:is|are) (?:my|our|the|always|usually) )", _weekday),
)
_BEFORE_MONTH = re.compile(r"\b(?:since|until|till?|by|for|before|after|from|to|of|on|late|early|mid)[ -](?:the )?$")
_HINT = re.compile(
    rf"\b(?:yesterday|tomorrow|today|tonight|ago|back|earlier|from now|in|last|past|next|this|"
    rf"coming|end of|on the|{_DAY}|{_MONTH}|for)\b",
    re.IGNORECASE,
)
_NOT_BEFORE = re.compile(
    r"(?:\bevery(?: other| second| third| single)?|\beach|\banother|\bexcept|\bdays?(?: off)? (?:is|are)|"
    r"\bmost|\ball|\bany|\bsame|\b(?:19|20)\d\d|\bper|\bmy|\bfirst|\bthe "
    r"whole)\s+$",
    re.IGNORECASE,
)
_CLOCK = re.compile(r"\bat (\d{1,2})(?::(\d\d))? ?(am|pm|a\.m|p\.m|o'clock)?", re.IGNORECASE)
_DURATION = re.compile(rf"\bfor (?:{_COUNT}) (?P<unit>years?|months?)\b(?! from)", re.IGNORECASE)
_PERFECT = re.compile(r"\b(?:have|has|'ve|'s|been)\b", re.IGNORECASE)


def _clock(text: str, end: int) -> time:
    match = _CLOCK.match(text[end : end + 20].lstrip(" ,"))
    if not match:
        return time(12)
    hour = int(match.group(1))
    if (match.group(3) or "").lower().startswith("p") and hour < 12:
        hour += 12
    return time(hour, int(match.group(2) or 0)) if hour < 24 and int(match.group(2) or 0) < 60 else time(12)


def _written(span: Span, text: str, start: int, lead: str) -> str:
    before = text[:start].rstrip().rsplit(" ", 1)[-1].lower() if text[:start].strip() else ""
    if lead:
        return f"{span.preposition} {span.text}".strip()
    if before in _PREPOSITIONS:
        return span.text.removeprefix("around ") if before == "around" else span.text
    return f"{span.preposition} {span.text}".strip()


_SUBJECT = re.compile(r"^(?:'s\b| (?:is|was|will be|marks|has been)\b)", re.IGNORECASE)


def resolve_dates(text: str, moment: datetime) -> Dated:
    """Replace relative dates by absolute ones, seen from `moment` in its own zone.

    "next month" becomes "in December 2026", "two years ago" "in 2024", "last Friday" "on 20 November 2026". A day
    without a time of day stands for its noon, a longer span for the noon of its first day. "Last" and a weekday is
    the nearest one behind, "next" the one in the next calendar week. Recurring times ("every Friday") stay.
    """
    if not _HINT.search(text):
        return Dated(text, ())
    today = moment.date()
    past = is_past(text)
    taken: list[tuple[int, int, str, Moment]] = []
    for pattern, resolve in _RULES:
        for match in pattern.finditer(text):
            start, end = match.span()
            if any(start < e and s < end for s, e, _, _ in taken) or _NOT_BEFORE.search(text[:start]):
                continue
            if "month" in match.groupdict() and not _reads_as_month(match, text):
                continue
            span = _in_calendar(resolve, match, today, past_at(text, start, past))
            if span is None:
                continue
            written = _written(span, text, start, match.group("lead") or "")
            if start == 0 and not match.group("lead") and _SUBJECT.match(text[end:]):
                written = span.text
            if start == 0:
                written = written[:1].upper() + written[1:]
            is_now = span.first == today and span.granularity == "day" and not _CLOCK.match(text[end:].lstrip())
            at = moment if is_now else datetime.combine(span.first, _clock(text, end), moment.tzinfo)
            taken.append((start, end, written, Moment(at, span.text, span.granularity)))
    taken.sort(key=lambda item: item[0])
    pieces: list[str] = []
    place = 0
    for start, end, written, _ in taken:
        pieces += (text[place:start], written)
        place = end
    resolved = "".join((*pieces, text[place:]))
    return Dated(_with_since(resolved, today), tuple(item[3] for item in taken))


def _in_calendar(
    resolve: Callable[[re.Match[str], date, bool], Span | None], match: re.Match[str], today: date, past: bool
) -> Span | None:
    """What a date means, None where that is before the year 1 or after 9999: it stays as it was said."""
    try:
        return resolve(match, today, past)
    except (ValueError, OverflowError):
        return None


def _reads_as_month(match: re.Match[str], text: str) -> bool:
    name = match.group("month") or match.groupdict().get("month2") or ""
    groups = match.groupdict()
    placed = bool(match.group("lead") or groups.get("which") or _BEFORE_MONTH.search(text[: match.start()]))
    numbered = bool(groups.get("dom") or groups.get("dom2"))
    if name.lower() not in ("may", "march", "mar", "jan", "dec", "sep", "sept"):
        return name[0].isupper() or placed or numbered
    return (placed and (name[0].isupper() or numbered)) or (numbered and name[0].isupper())


def _with_since(text: str, today: date) -> str:
    match = _DURATION.search(text)
    if not match or not _PERFECT.search(text[: match.start()]) or "since" in text:
        return text
    word = match.group("n").lower()
    count = int(word) if word.isdigit() else _NUMBERS[word]
    if match.group("unit").lower().startswith("year"):
        since = str(max(1, today.year - count))
    else:
        year, month = shifted(today, -count)
        since = f"{MONTHS[month - 1]} {year}"
    return f"{text[: match.end()]} (since about {since}){text[match.end() :]}"
