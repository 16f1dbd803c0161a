"""Relative dates made absolute, to the granularity in which they were said."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime, time
from typing import Final

import worker.extract.reckoning as reckoning
from policies.language.sentences import words
from worker.extract.spans import MONTHS, Span, shifted
from worker.extract.tense import is_past, past_at

_PREPOSITIONS: Final = words(
    "by for since until till til before after from during of to than through in on around about over between"
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


_Rule = tuple[re.Pattern[str], Callable[[re.Match[str], date, bool], Span | None]]


def _rule(pattern: str, resolve: Callable[[re.Match[str], date, bool], Span | None]) -> _Rule:
    return re.compile(r"\b(?:just )?(?P<lead>(?:in|on|at) (?:the )?)?" + pattern, re.IGNORECASE), resolve


_RULES: Final[tuple[_Rule, ...]] = (
    _rule(
        rf"{_COUNT} years? (?:ago|back),? (?:this |last |in |come )?(?P<month>{_MONTH})\b(?! ?\d)",
        reckoning.years_ago_in,
    ),
    _rule(
        r"(?:the )?(?P<unit>weekend|week|month|year|spring|summer|autumn|fall|winter) "
        r"(?P<which>before last|after next)\b",
        reckoning.one_further,
    ),
    _rule(
        rf"(?:{_COUNT} (?P<unit>weeks?|fortnights?) (?:from|on) (?:this |next )?(?P<day>{_DAY})|"
        rf"(?P<day2>{_DAY}) (?P<unit2>week|fortnight))\b(?!s| of\b)",
        reckoning.weeks_from_day,
    ),
    _rule(
        r"(?:the )?(?P<word>day before yesterday|day after tomorrow|yesterday|tomorrow|today|tonight|last night|"
        r"this (?:morning|afternoon|evening))" + _PART + r"\b",
        reckoning.deictic,
    ),
    _rule(
        rf"{_COUNT} (?P<unit>minutes?|mins?|hours?|hrs?|days?|weeks?|fortnights?|months?|years?|decades?) (?:ago|"
        rf"back|earlier)\b",
        reckoning.ago,
    ),
    _rule(rf"{_COUNT} (?P<unit>days?|weeks?|months?|years?)(?: from now|(?<=in)(?=$))\b", reckoning.ahead),
    _rule(
        r"(?<=in )(?<!time in )(?<!once in )"
        + _COUNT
        + r" (?P<unit>days?|weeks?|fortnights?|months?|years?)(?:'? time)?\b(?! of| for the first)",
        reckoning.within,
    ),
    _rule(
        rf"(?P<which>this past|this last|last|past|next|this|this coming) (?P<day>{_DAY}){_PART}\b(?!s| of\b)",
        reckoning.weekday,
    ),
    _rule(r"(?:the )?end of (?:the|this) (?P<unit>month|year)\b", reckoning.end_of),
    _rule(
        r"(?P<which>this past|this last|the coming|this coming|last|past|next|this) "
        rf"(?P<unit>weekend|week|month|year|spring|summer|autumn|fall|winter)\b(?! of the| (?:in|of) {_MONTH}\b)",
        reckoning.unit,
    ),
    _rule(
        rf"(?:(?P<month>{_MONTH})\.? (?:the )?(?P<dom>[0-3]?\d)(?:st|nd|rd|th)?|(?:the "
        rf")?(?P<dom2>[0-3]?\d)(?:st|nd|rd|th)?"
        rf" (?:of )?(?P<month2>{_MONTH}))\b(?!,? ?(?:19|20)\d\d|\.?\d|:)",
        reckoning.month_day,
    ),
    _rule(
        rf"(?P<which>last |next |this )?(?P<month>{_MONTH})\b"
        rf"(?! ?(?:(?:the )?[0-3]?\d(?:st|nd|rd|th)?\b|(?:of )?(?:19|20)\d\d)|,? (?:19|20)\d\d|\.\w)",
        reckoning.month_only,
    ),
    _rule(
        r"(?:(?<=on the )|(?:(?<=by )|(?<=until )|(?<=till )|(?<=to ))the )"
        r"(?P<dom>[0-3]?\d)(?:st|nd|rd|th)(?=[.,;!?]|$| (?:and|at|but|so|because|with)\b)",
        reckoning.day_only,
    ),
    _rule(
        rf"(?P<which>)(?P<day>{_DAY}){_PART}\b(?!s| of\b| (?:is|are) (?:my|our|the|always|usually) )", reckoning.weekday
    ),
)
_BEFORE_MONTH = re.compile(r"\b(?:since|until|till?|by|for|before|after|from|to|of|on|late|early|mid)[ -](?:the )?$")
_HINT = re.compile(
    rf"\b(?:yesterday|tomorrow|today|tonight|ago|back|earlier|from now|in|last|past|next|this|"
    rf"coming|end of|(?:on|by|till?|until|to) the|before last|after next|fortnight|{_DAY}|{_MONTH}|for)\b",
    re.IGNORECASE,
)
_NOT_BEFORE = re.compile(
    r"(?:\bevery(?: other| second| third| single)?|\beach|\banother|\bexcept|"
    r"(?<!last )(?<!first )\bdays?(?: off)? (?:is|are)|\bmost|\ball|\bany|\bsame|\b(?:19|20)\d\d|\bper|"
    r"\bmy|\bfirst|\bthe whole)\s+$",
    re.IGNORECASE,
)
_SURELY_MONTH = re.compile(r"\b(?:since|until|till?)[ -]$", re.IGNORECASE)
"""Before what may be a verb, too: "till march", and not "to march"."""
_ORDINAL = re.compile(r"\d(?:st|nd|rd|th)\b", re.IGNORECASE)
"""Tells "3rd may" from "march 3 miles"."""
_CLOCK = re.compile(r"\bat (\d{1,2})(?::(\d\d))? ?(am|pm|a\.m|p\.m|o'clock)?", re.IGNORECASE)
_DURATION = re.compile(rf"\bfor (?:{_COUNT}) (?P<unit>years?|months?)\b(?! from)", re.IGNORECASE)
_NO_LONGER = re.compile(r"\b(?:had|I'd|we'd)\b|\bbefore\b", re.IGNORECASE)
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
    groups = match.groupdict()
    name = (groups["month"] or groups.get("month2") or "").lower()
    upper = (groups["month"] or groups.get("month2") or "")[:1].isupper()
    placed = bool(match["lead"] or groups.get("which") or _BEFORE_MONTH.search(text[: match.start()]))
    numbered = bool(groups.get("dom") or groups.get("dom2"))
    if name not in ("may", "march", "mar", "jan", "dec", "sep", "sept"):
        return upper or placed or numbered
    told = numbered and (name not in ("may", "march", "mar") or _ORDINAL.search(match[0]) is not None)
    plain = match["lead"] or groups.get("which") or _SURELY_MONTH.search(text[: match.start()])
    return bool(told or plain) or "years" in match[0].lower() or ((placed or numbered) and upper)


def _with_since(text: str, today: date) -> str:
    match = _DURATION.search(text)
    if not match or not _PERFECT.search(text[: match.start()]) or _NO_LONGER.search(text) or "since" in text:
        return text
    word = match.group("n").lower()
    count = int(word) if word.isdigit() else reckoning.NUMBERS[word]
    if match.group("unit").lower().startswith("year"):
        since = str(max(1, today.year - count))
    else:
        year, month = shifted(today, -count)
        since = f"{MONTHS[month - 1]} {year}"
    return f"{text[: match.end()]} (since about {since}){text[match.end() :]}"
