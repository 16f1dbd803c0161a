"""The dates in a text, and what each means seen from a moment.

A date is found in the words as they stand; which year or week is meant hangs on whether its clause looks back or
ahead (`Looks`).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, time

from policies.language.date_distances import offset
from policies.language.date_grammar import FORMS, HINT, LONGEST_OFFSET, OFFSET
from policies.language.date_meanings import RESOLVED
from policies.language.date_mentions import DateMention, Looks
from policies.language.spans import Span

__all__ = ["Looks", "When", "find_dates"]


@dataclass(frozen=True, slots=True)
class When:
    """A date in a text: where its words stand, what they mean, and its first moment.

    `lead` is where a preposition that belongs to it begins ("on" of "on Friday"), else the same as `start`.
    """

    start: int
    end: int
    lead: int
    span: Span
    at: datetime


_LEAD = re.compile(r"\b(?:in|on|at|come)(?: the)? \Z", re.IGNORECASE)
"""The preposition before a date, which goes with it: "we meet on the " 5th."""
_SINCE = re.compile(r"\bsince (?:the )?\Z", re.IGNORECASE)
"""Words behind which a date is over, whatever the tense: "closed since the " 3rd."""
_UP_TO = re.compile(r" ?(?:to|until|till?|through|-|–) ?", re.IGNORECASE)
"""Words between the first day and the last: " to "."""
_SHIFTED = re.compile(
    r"\b(?:(?:mov|chang|postpon|reschedul)(?:e[sd]?|ing)|(?:push|switch)(?:e[sd]|ing)?|(?:shift|delay)(?:s|ed|ing)?"
    r"|(?:swap|slip)(?:s|ped|ping)?|(?:brought|bring) forward)\b",
    re.IGNORECASE,
)
"""Verbs of which the second day is no last one: "moved from Thursday to Monday"."""
_LONGEST_LEAD = 60
"""Characters before a date in which such words are looked for: a text of many dates is read in linear time."""
_RECURS = re.compile(
    r"\b(?:every|each|another|except|most|all|any|same|per|my|first|whole|days?(?: off)? (?:is|are))"
    r"(?: other| second| third| single| last)? $",
    re.IGNORECASE,
)
"""Words that make a habit of the date behind them: "every "."""
_IS_WHEN = re.compile(r",? (?:i|we|he|she|they|my|our|his|her|their)(?:['’]\w+)?\b", re.IGNORECASE)
"""Words behind a holiday that opens a sentence, which tell what is done then: " we're at my sister's"."""
_CLOCK = re.compile(
    r"[ ,]{0,2}(?:at )?(\d{1,2})(?::(\d\d))? ?(am|pm|a\.m|p\.m|o'clock)\b|[ ,]{0,2}at (\d{1,2})(?::(\d\d))?\b", re.I
)
"""The time of day behind a date: "at 7:30 pm"."""
_SURE_MONTHS = frozenset({"january", "february", "july", "september", "october", "november", "december"})
"""Months that are nothing else in small letters either: "april" and "jun" may be somebody's name."""
_BEFORE_MONTH = re.compile(
    r"\b(?:in|since|until|till?|by|during|from|early|late|mid|around|before|after|of|last|next|this|come|end|"
    r"through)[ -]$",
    re.IGNORECASE,
)
"""Words before which "may" and "march" are months: "since " March."""
_ON_A_DAY = re.compile(
    r"\b(?:on|by|until|till?|since|before|after|from|the|am|bis|ab|seit|vom|zum|der)[ ]$", re.IGNORECASE
)
"""Words before which numbers are a day: "on " 3.5."""
_OF_A_NAME = re.compile(r" del?\b")
"""Words that make a name of what looks like a month: "Mar" in "Mar del Plata"."""
_NAMED_DAY = re.compile(
    r"\b(?:good|black|cyber|giving|easter|palm|whit|ash|holy|maundy|shrove|pancake|fat|super|spy) "
    r"(?=(?:mon|tues|wednes|thurs|fri|satur|sun)day\b)",
    re.IGNORECASE,
)
"""Words that make a holiday of a weekday: "Good Friday"."""
_LONGEST_OF_A_DAY = 10
"""Characters of the longest of them, with what stands before it: " pancake "."""


def find_dates(
    text: str,
    moment: datetime,
    looks: Callable[[int], Looks] = lambda _position: Looks.UNKNOWN,
    earlier: Span | None = None,
) -> tuple[When, ...]:
    """Return the dates in a text that have one meaning seen from `moment` in its own zone, in order.

    `looks` says where the clause looks in which a character stands, `earlier` the date named before the
    text. Recurring times ("every Friday") and dates that no calendar has are none.
    """
    if not HINT.search(text):
        return ()
    today = moment.date()
    matches: list[tuple[int, int, str, re.Match[str]]] = []
    for form in FORMS:
        for match in form.pattern.finditer(text):
            start, end = match.span()
            if any(start < e and s < end for s, e, *_ in matches) or not _is_meant(form.name, match, text):
                continue
            matches.append((start, end, form.name, match))
    matches.sort(key=lambda row: row[0])
    resolved: list[When] = []
    for number, (start, end, name, match) in enumerate(matches):
        following = matches[number + 1] if number + 1 < len(matches) else None
        if following is not None and _is_part_of(name, start, end, following, text):
            continue
        lead_from = max(0, start - _LONGEST_LEAD)
        seen_from, looking = today, Looks.BACK if _SINCE.search(text, lead_from, start) else looks(start)
        is_last = bool(resolved) and _UP_TO.fullmatch(text, resolved[-1].end, start) is not None
        if name == "weekday" and is_last and not _SHIFTED.search(text, lead_from, start):
            seen_from, looking = resolved[-1].at.date(), Looks.AHEAD
        before = next((when.span for when in reversed(resolved) if when.span.granularity in ("day", "month")), earlier)
        beside = OFFSET.search(text, max(0, start - LONGEST_OFFSET), start)
        try:
            span = RESOLVED[name](DateMention(match, seen_from, looking, before))
            if beside is not None and span is not None and span.granularity == "day":
                start, span = beside.start(), offset(beside, span.first)  # noqa: PLW2901
        except (ValueError, OverflowError):
            continue
        if span is None:
            continue
        lead = _LEAD.search(text, max(0, start - 8), start)
        at = _moment(span, text, end, moment)
        resolved.append(When(start, end, lead.start() if lead else start, span, at))
    return tuple(resolved)


def _is_part_of(name: str, start: int, end: int, following: tuple[int, int, str, object], text: str) -> bool:
    """Return whether words belong to the date behind them: "Friday, 20 March", "the Monday before Easter Sunday"."""
    if name == "weekday" and _is_of(text[end : following[0]], following[2]):
        return True
    beside = OFFSET.search(text, max(0, following[0] - LONGEST_OFFSET), following[0])
    return name in ("weekday", "off_before") and beside is not None and beside.start() <= start


def _is_of(between: str, name: str) -> bool:
    """Return whether a weekday is that of the date behind it: "Friday, 20 March"."""
    return name in ("day_month", "month_day") and between.strip(" ,") in ("", "the")


def _moment(span: Span, text: str, end: int, moment: datetime) -> datetime:
    clock = _CLOCK.match(text, end)
    if span.first == moment.date() and span.granularity == "day" and not clock:
        return moment
    hour = time(12)
    if clock:
        number, minute = int(clock[1] or clock[4]), int(clock[2] or clock[5] or 0)
        number += 12 if (clock[3] or "").lower().startswith("p") and number < 12 else 0
        hour = time(number, minute) if number < 24 and minute < 60 else hour
    return datetime.combine(span.first, hour, moment.tzinfo)


def _is_meant(name: str, match: re.Match[str], text: str) -> bool:
    """Return whether words that look like a date are one."""
    before = text[: match.start()][-40:]
    if _RECURS.search(before) and name not in ("day_month", "month_day", "iso", "digits"):
        return False
    named = _NAMED_DAY.search(text, max(0, match.start() - _LONGEST_OF_A_DAY), match.end())
    is_holiday = named is not None and named.end() == match.start()
    if is_holiday or (name == "weekday" and match["which"] == "last" and before.endswith("the ")):
        return False
    if name == "holiday":
        opens = not before.strip() and _IS_WHEN.match(text, match.end()) is not None
        placed = before.endswith(("is ", "was ")) or _ON_A_DAY.search(before) is not None
        return bool(match["which"]) or opens or placed
    if name == "digits":
        dotted = match["sep"] == "."
        return (
            bool(match["y"])
            or (dotted and match.group().endswith(".") and not _ends_sentence(match, text))
            or (not dotted and max(int(match["a"]), int(match["b"])) > 12)
        )
    if name in ("month", "month_day", "day_month"):
        return _reads_as_month(name, match, before) and not (name == "month" and _OF_A_NAME.match(text, match.end()))
    return True


def _ends_sentence(match: re.Match[str], text: str) -> bool:
    """Return whether the last full stop of "3.5." only ends a sentence that tells a number: "My grade is 3.5."."""
    after = text[match.end() :].lstrip(" )\"'")
    return not after[:1].islower() and not _ON_A_DAY.search(text[: match.start()])


def _reads_as_month(name: str, match: re.Match[str], before: str) -> bool:
    word = match["m"]
    placed = bool(_BEFORE_MONTH.search(before)) or (name == "month" and bool(match["which"] or match["edge"]))
    ambiguous = word.lower() in ("may", "march", "mar", *(("jan", "dec", "sep", "sept") if name == "month" else ()))
    if name == "month":
        return (placed and (not ambiguous or word[0].isupper() or not before.endswith("to "))) or (
            not ambiguous and (word[0].isupper() or word.lower() in _SURE_MONTHS)
        )
    return not ambiguous or word[0].isupper() or placed or name == "day_month" or match[0][-2:].isalpha()
