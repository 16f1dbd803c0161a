"""Dates in other languages than English that need no tense to be told apart: "mañana", "ab Januar", "下周三"."""

from __future__ import annotations

import re
import tomllib
from datetime import datetime
from functools import lru_cache
from importlib.resources import files
from typing import Final, NamedTuple

from policies.language.annotation import Note
from policies.language.date_mentions import Looks
from policies.language.dates import When, find_dates
from policies.language.spans import MONTHS

_DAYS: Final = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_DATA: Final = "dates_elsewhere.toml"
_UNSPACED: Final = "zh"
"""A language that puts no spaces between words."""


class _Form(NamedTuple):
    """A form of date: its pattern, what it is in English, and the English names by those of its language."""

    pattern: re.Pattern[str]
    english: str
    names: dict[str, str]


def notes_elsewhere(text: str, moment: datetime, language: str) -> tuple[Note, ...]:
    """Return notes on the dates of a text in another language than English, seen from `moment` in its own zone, in
    order; all stand in brackets behind the words."""
    found = [(match, form) for form in _forms().get(language, ()) for match in form.pattern.finditer(text)]
    notes: list[Note] = []
    for match, form in sorted(found, key=lambda one: (one[0].start(), -one[0].end())):
        start, end = match.span()
        if notes and start < notes[-1].end:
            continue  # "mañana" of "pasado mañana".
        named = next((name for name in match.groupdict().values() if name), "")
        english = re.sub(r"\{\w+\}", form.names.get(named.lower(), ""), form.english)
        notes += (
            Note(start, end, start, when.span.text, "", False, When(start, end, start, when.span, when.at))
            for when in find_dates(english, moment, lambda _position: Looks.AHEAD)
        )
    return tuple(notes)


@lru_cache(maxsize=1)
def _forms() -> dict[str, tuple[_Form, ...]]:
    tables = tomllib.loads((files("policies.language") / "data" / _DATA).read_text("utf-8"))
    return {
        language: tuple(_form(words, english, table, language) for words, english in table["forms"].items())
        for language, table in tables.items()
    }


def _form(words: str, english: str, table: dict[str, list[str]], language: str) -> _Form:
    names: dict[str, str] = {}
    for place, of, in_english in (("{day}", "days", _DAYS), ("{month}", "months", MONTHS)):
        if place in words:
            names = dict(zip(table[of], in_english, strict=True))
        # A name may stand in two alternatives of a form, and a group of a pattern only once.
        for number in range(words.count(place)):
            words = words.replace(place, f"(?P<n{number}>{'|'.join(sorted(table[of], key=len, reverse=True))})", 1)
    pattern = words if language == _UNSPACED else rf"(?<!\w)(?:{words})(?!\w)"
    return _Form(re.compile(pattern, re.IGNORECASE), english, names)
