"""Weekdays that name no day: "the Thursday league", "on a Tuesday", "I usually swim on Monday"."""

from __future__ import annotations

import re
from typing import Final

from policies.language.clauses import Tense, governor, tense_at
from policies.language.date_grammar import DAY, HOLIDAY
from policies.language.parse import Parsed
from policies.language.sentences import words

_WEEKDAYS: Final = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_ANY_DAY: Final = rf"(?:{DAY}|mon|tues?|weds?|thurs?|thu|fri|sat|sun)"
_WEEKDAY: Final = re.compile(rf"(?:{_ANY_DAY}\b(?! the )|{HOLIDAY})", re.IGNORECASE)
"""A date that begins with a weekday or a holiday: "Friday night"; with "next" before it, it is of one week."""
_AND_DAY: Final = rf"(?:(?:,?(?: and| &| or| n)?) {_ANY_DAY}\b|/{_ANY_DAY}\b)"
_WEEKLY: Final = re.compile(
    rf"\b(?:(?:every|each) {DAY}{_AND_DAY}+|{_ANY_DAY}(?:{_AND_DAY}{{2,}}|/{_ANY_DAY}\b)|"
    rf"{_ANY_DAY}{_AND_DAY}+ (?:mornings|afternoons|evenings|nights)\b)",
    re.IGNORECASE,
)
"""Weekdays that come back: "every Tuesday and Thursday"; three in a list do, too: "golf Mon, Wed and Fri", and those of
several evenings: "Tuesday and Thursday nights"."""
_TWO: Final = re.compile(
    rf"\b(?P<one>{_ANY_DAY}){_AND_DAY}(?! (?:this|next|last|after|week|the|in)\b|,? \d)", re.IGNORECASE
)
"""Two weekdays beside each other: "I swim Monday and Thursday"; of neighbours one week is meant as often as not."""
_DAY_NAMED: Final = re.compile(rf"\b{_ANY_DAY}\b", re.IGNORECASE)
"""A weekday, also in short: "thu"."""
_DAYS_OF_A_ROTA: Final = 4
"""Weekdays of one message from which on it tells of every week: "earlies mon tue, late wed, off thu"."""
_ROW_BEFORE = re.compile(rf"\b{_ANY_DAY} ?(?:to|through|thru|till|until|-|–) ?$", re.IGNORECASE)
"""The first day of a span that ends with another: "from Monday to "."""
_ROW = re.compile(rf" ?(?:to|through|thru|till|until|-|–) ?{_ANY_DAY}\b", re.IGNORECASE)
"""The second day of a span: "Monday to Friday", after its first."""
_USUALLY: Final = words("always usually normally often sometimes mostly generally typically regularly rarely never")
ON_ITS_DAY: Final = words(
    "appointment interview flight exam test wedding funeral party deadline surgery operation viewing train trip final "
    "concert hearing delivery date slot visit checkup birthday graduation game match gig ferry"
)
"""Things of which there is one on its day: "a Friday interview"; another thing that a weekday names comes back each
week."""
_CHANGED: Final = words("dropped drop cancelled canceled moved changed stopped ended scrapped axed cut replaced")
"""Verbs of what becomes of a thing that comes back each week: "they dropped the Thursday class"."""
_WHAT_IT_IS: Final = frozenset({"attr", "acomp", "advmod", "prep", "xcomp"})
"""How what a clause with "are" says stands to its verb."""
_MODIFIES: Final = frozenset({"compound", "amod", "nmod"})


def weekday_number(name: str) -> int:
    """Return the number of a weekday, from 0 for Monday."""
    return _WEEKDAYS.index(name[:3].lower())


def comes_weekly(text: str, start: int, end: int, *, ahead: bool) -> bool:
    """Return whether the weekday between two places stands in a row or a list of them, "Monday to Wednesday", and is
    not what something moved from or to. `ahead` says that its clause looks ahead."""
    lists = (*_WEEKLY.finditer(text), *(two for two in _TWO.finditer(text) if ahead and _are_apart(two)))
    if any(days.start() <= start < days.end() for days in lists):
        return True
    # Of what is told as past it takes a day more: "off thu" has no verb, and looks past.
    if len({weekday_number(day) for day in _DAY_NAMED.findall(text)}) - (not ahead) >= _DAYS_OF_A_ROTA:
        return True
    before = text[:start][-24:]
    row = _ROW.match(text, end) and not before.endswith("from ")
    return bool(row or (_ROW_BEFORE.search(before) and "from " not in before))


def _are_apart(two: re.Match[str]) -> bool:
    """Return whether two weekdays are no neighbours."""
    first, second = weekday_number(two["one"]), weekday_number(re.split(r"[ /,&]", two.group())[-1])
    return (second - first) % 7 > 1


def is_habit(parsed: Parsed, first: int, last: int) -> bool:
    """Return whether the weekday that begins at `first` and ends at `last` comes back each week."""
    tokens = parsed.tokens
    if not _WEEKDAY.match(parsed.text_of(range(first, last + 1))):
        return False
    thing = last
    while tokens[thing].dep in _MODIFIES and tokens[thing].head > thing:
        thing = tokens[thing].head
    if thing == last:
        return _is_any(parsed, first) or _is_usual(parsed, last) or _is_of_several(parsed, last)
    is_once = any(tokens[index].lower in ON_ITS_DAY for index in (thing, *parsed.children(thing)))
    verb = governor(parsed, thing)
    is_changed = verb is not None and parsed.tokens[verb].lower in _CHANGED
    return not is_once and (is_changed or tense_at(parsed, thing) is not Tense.PAST)


def _is_any(parsed: Parsed, first: int) -> bool:
    """Return whether no weekday in particular is meant: "on a Tuesday"."""
    return first > 0 and parsed.tokens[first - 1].lower == "a"


def _is_usual(parsed: Parsed, index: int) -> bool:
    """Return whether a clause says how often something is done: "I usually work from home Friday"."""
    verb = governor(parsed, index)
    if verb is None:
        return False
    verbs = {verb, parsed.tokens[verb].head} if parsed.tokens[verb].dep == "xcomp" else {verb}
    often = any(token.lower in _USUALLY and token.head in verbs for token in parsed.tokens)
    return often and tense_at(parsed, index) is Tense.PRESENT


def _is_of_several(parsed: Parsed, index: int) -> bool:
    """Return whether a clause says when several things are that come back: "My shifts are Monday and Tuesday"."""
    verb = governor(parsed, index)
    if verb is None or parsed.tokens[verb].lower != "are":
        return False
    subjects = [parsed.tokens[child] for child in parsed.children(verb) if parsed.tokens[child].dep == "nsubj"]
    are = [child for child in parsed.children(verb) if parsed.tokens[child].dep in _WHAT_IT_IS]
    says_when_alone = all(index in parsed.subtree(child) for child in are)
    return says_when_alone and any(
        token.tag == "NNS" and token.lower.removesuffix("s") not in ON_ITS_DAY for token in subjects
    )
