"""Words said in fun: what one laughs at or takes back as a joke, and numbers that hardly anybody can mean."""

from __future__ import annotations

import re
from typing import Final

from policies.language.sentences import words
from policies.language.wording import content, read

_LAUGHTER: Final = re.compile(
    r"\W*(?:\b(?:(?:[bm]wa)?ha(?:[ -]?ha){0,6}h?|aha(?:[ -]?ha){1,6}h?|he(?:[ -]?he){1,6}h?|lo+l|lmf?ao|rofl)\b|"
    r"[😂🤣😆😅😹])\W*",
    re.IGNORECASE,
)
"""How one laughs: "ha ha", "hehe", "lol"; "he" by itself is somebody."""
_KIDDING: Final = re.compile(
    r"\W*(?:(?:no|nah|nope|ha+h?a*|lol|ok|okay),? )?(?:i'?m |i am |i was )?(?:just |only |obviously |of course )?"
    r"(?:kidding|joking|jk|april fools?)(?:,? (?:of course|obviously|ha+h?a*|lol))?\W*",
    re.IGNORECASE,
)
"""How one says that what one said was a joke: "Just kidding."."""
_FEW_HAVE_MORE: Final = (
    ("child children kid kids son sons daughter daughters baby babies", 8),
    ("wife wives husband husbands", 3),
    ("cat cats dog dogs sister sisters brother brothers job jobs", 12),
    ("kilo kilos kg kilogram kilograms", 250),
    ("pound pounds lb lbs", 550),
)
_AGE: Final = re.compile(
    r"\bI(?:'m| am|'ve turned| turned)(?: (?:now|about|already|only|just))? (?P<years>\d{2,4})"
    r"(?: (?:now|today|already|years?))?(?=\W*(?:\Z|[.,;!]))",
    re.IGNORECASE,
)
"""Statements of one's age: "I'm 97 now"."""
_OLDEST: Final = 90
_MOST: Final = {content(unit): most for units, most in _FEW_HAVE_MORE for unit in words(units)}
"""The most that anybody is likely to have, by what is counted."""


def is_kidding(text: str) -> bool:
    """Return whether a sentence says that the one before it was a joke."""
    return _KIDDING.fullmatch(text) is not None


def is_laughed_at(text: str, after: str) -> bool:
    """Return whether one laughs at what a sentence says, in it or right behind it."""
    return _LAUGHTER.search(text) is not None or _LAUGHTER.fullmatch(after) is not None


def is_hardly_true(text: str) -> bool:
    """Return whether a sentence has a number that hardly anybody can say of themself."""
    age = _AGE.search(text)
    return (age is not None and int(age["years"]) > _OLDEST) or any(
        float(quantity.value) > _MOST[quantity.unit]
        for quantity in read(text).quantities
        if quantity.unit in _MOST and quantity.value.replace(".", "").isdigit()
    )
