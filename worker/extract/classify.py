"""Classification: tell what a sentence is about, and what sort of memory it makes, by the words of `topics.toml`."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import Final

from schema import Kind, MemoryType

_WORD: Final = re.compile(r"\w+(?:'(?!s\b)\w+)?|[$€£]")
"""A word, a number or the sign of a currency: "don't", "401k", "$"."""


def _forms(part: str) -> dict[str, tuple[str, ...]]:
    rows: Mapping[str, str] = _TABLE[part]
    return {
        name: tuple(f" {form} ".replace("* ", "").replace("_", " ") for form in row.split())
        for name, row in rows.items()
    }


_TABLE: Final = tomllib.loads((files("policies.language") / "data" / "topics.toml").read_text("utf-8"))
_TOPICS: Final = _forms("topics")
_SORTS: Final = _forms("sorts")
_CATEGORY_OF: Final = {"budget": "Budget", "finance": "Finance", "education": "Education", "goals": "Goals"}
"""The categories of topics; that of all others is "Personal"."""
_MOST_TOPICS: Final = 5


def topics_of(text: str) -> tuple[str, ...]:
    """Return the topics of a sentence, at most five."""
    words = _spoken(text)
    return tuple(name for name, forms in _TOPICS.items() if _has(words, forms))[:_MOST_TOPICS]


def category_of(topics: Sequence[str], categories: Sequence[str]) -> str:
    """Return the category that topics belong to; the last of `categories` where none is known."""
    by_topic = [_CATEGORY_OF.get(topic, "Personal") for topic in topics]
    wanted = next((category for category in by_topic if category != "Personal"), "Personal" if topics else "Other")
    return wanted if wanted in categories else categories[-1]


def kind_of(text: str) -> Kind:
    """Return what sort of statement a sentence is."""
    words = _spoken(text)
    if _has(words, _SORTS["routine"]):
        return Kind.EVENT_PATTERN
    return Kind.USER_PREFERENCE if _has(words, _SORTS["preference"]) else Kind.USER_FACT


def type_of(text: str, *, dated: bool, past: bool) -> MemoryType:
    """Return episodic for what happened or will happen at a time, semantic for what lasts.

    `text` is in the first person, `dated` says that it names a moment, `past` that its main verb is in the past.
    """
    words = _spoken(text)
    if _has(words, _SORTS["routine"]):
        return MemoryType.SEMANTIC
    if dated or _has(words, _SORTS["coming"]):
        return MemoryType.EPISODIC
    if _has(words, _SORTS["state"]):
        return MemoryType.SEMANTIC
    return MemoryType.EPISODIC if past or _has(words, _SORTS["fresh"]) else MemoryType.SEMANTIC


def is_hedged(text: str) -> bool:
    """Return whether the user is not sure of it themselves."""
    return _has(_spoken(text), _SORTS["hedged"])


def _spoken(text: str) -> str:
    """Return the words of a sentence in small letters with a space on either side of each."""
    return f" {' '.join(_WORD.findall(text.lower().replace('’', chr(39))))} "


def _has(words: str, forms: Sequence[str]) -> bool:
    return any(form in words for form in forms)
