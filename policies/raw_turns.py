"""The part of a raw turn that may stay where one of the memories that came of it is erased, and another is not."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from policies.language.lexicon import STOP_WORDS

ERASED: Final = "[erased]"
_PIECES: Final = re.compile(r"((?<=[.!?])\s+|\n+|[,;:]\s+|\s+(?=(?:and|but|because|so|while|who|which)\s))")
"""Where a raw turn may be cut to leave one part of it: "I moved, and I sold the car"."""
_WORDS: Final = re.compile(r"\w+")
"""A word: "moved"."""
_STEM_CHARS: Final = 4
"""By how many of their letters words are taken for inflections of one: "live" and "lives"."""
_REPEATED: Final = re.compile(r"\[erased\](?:[\s,;:]*\[erased\])+")
"""Erased pieces side by side, which become one: "[erased], [erased]"."""


def without_erased(text: str, gone: Iterable[str], kept: Iterable[str]) -> str:
    """Return a text with those of its clauses only that tell what memories which stay tell, and nothing that only
    erased ones did. `gone` and `kept` are summaries of memories that came of the text."""
    stays = {stem for summary in kept for stem in _stems(summary)}
    goes = {stem for summary in gone for stem in _stems(summary)} - stays
    pieces = _PIECES.split(text)
    for index in range(0, len(pieces), 2):
        piece_stems = _stems(pieces[index])
        if pieces[index].strip() and (piece_stems & goes or not piece_stems & stays):
            pieces[index] = ERASED
    return _REPEATED.sub(ERASED, "".join(pieces))


def _stems(text: str) -> set[str]:
    words = (word.casefold() for word in _WORDS.findall(text))
    return {word[:_STEM_CHARS] for word in words if word not in STOP_WORDS and (len(word) > 2 or word.isdigit())}
