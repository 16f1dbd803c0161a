"""The words of a text that say something, in a form in which two texts are compared."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

from policies.language.sentences import words

_QUOTES: Final = str.maketrans("’‘“”`´", "''\"\"''")
_WORD: Final = re.compile(r"[^\W_]+(?:[.,]\d+)*")
"""A word or a number: "moved", "3.5"."""
_STEM_CHARS: Final = 5
_SMALL_WORDS: Final = words(
    "the and for with that this from have has had was were are his her their they them she him you your our its who "
    "which will would can could should about into than then there here when what where user wants want said says told "
    "been being not but also very just likes like"
)


def comparable(text: str) -> str:
    """Return a text in the one form in which quotations are compared: letter case, quotation marks and spaces are
    alike."""
    return " ".join(unicodedata.normalize("NFKC", text).translate(_QUOTES).casefold().split())


def stems(text: str) -> set[str]:
    """Return the words of a text that say something, by their first letters."""
    return {
        word[:_STEM_CHARS] for word in _WORD.findall(comparable(text)) if len(word) > 2 and word not in _SMALL_WORDS
    } | set(re.findall(r"\d+(?:[.,]\d+)*", text))


def share_said(summary: str, text: str) -> float:
    """Return how much of what a summary says stands in another text, from 0 to 1."""
    wanted = stems(summary)
    return len(wanted & stems(text)) / len(wanted) if wanted else 0.0
