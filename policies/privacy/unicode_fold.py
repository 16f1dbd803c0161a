"""A text as its reader sees it: what disguises a number or a word is undone, and each character's place is known."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

_DASHES: Final = frozenset("‐‑‒–−")
_LOOK_ALIKE: Final = str.maketrans(
    "аеорсухіјѕԁһոАВЕКМНОРСТУХІЈЅαεινορυχΑΒΕΖΗΙΚΜΝΟΡΤΥΧ",
    "aeopcyxijsdhnABEKMHOPCTYXIJSaeivopuxABEZHIKMNOPTYX",
)
"""Letters of the Cyrillic, Greek and Armenian alphabets that are drawn like Latin ones (Unicode Technical Standard 39,
"confusables", in part)."""
_FOREIGN: Final = re.compile("[" + "".join(map(chr, _LOOK_ALIKE)) + "]")
"""A letter that looks like a Latin one and is none: "а" of Cyrillic."""
_WORD: Final = re.compile(r"[^\W\d_]{2,64}")
"""A word: "pаypal"."""
_LATIN: Final = re.compile(r"[A-Za-z]")
"""A Latin letter: "a"."""


@dataclass(frozen=True, slots=True)
class Folded:
    """A text as a reader sees it, and for each of its characters the place in the text that was written."""

    text: str
    places: Sequence[int]

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Return where what is seen from `start` to `end`, which is not empty, was written."""
        return self.places[start], self.places[end - 1] + 1


def folded(text: str) -> Folded:
    """Return the text without invisible characters, with every digit, space, hyphen and wide letter as ASCII has it,
    and words of two alphabets in one. Linear in the length of the text."""
    if text.isascii():
        return Folded(text, range(len(text)))
    seen: list[str] = []
    places: list[int] = []
    for index, char in enumerate(text):
        if read := char if char.isascii() else _read(char):
            seen.append(read)
            places.append(index)
    read = "".join(seen)
    return Folded(_WORD.sub(_in_one_alphabet, read) if _FOREIGN.search(read) else read, places)


@lru_cache(maxsize=4_096)
def _read(char: str) -> str:
    """Return what one character that is not ASCII is read as; empty where nothing is seen."""
    category = unicodedata.category(char)
    if category == "Cf" or "\ufe00" <= char <= "\ufe0f":
        return ""
    if category == "Zs":
        return " "
    if category == "Nd":
        return str(unicodedata.digit(char))
    if char in _DASHES:
        return "-"
    alike = unicodedata.normalize("NFKC", char)
    return alike if len(alike) == 1 else char


def _in_one_alphabet(word: re.Match[str]) -> str:
    return word[0].translate(_LOOK_ALIKE) if _LATIN.search(word[0]) else word[0]
