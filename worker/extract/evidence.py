"""Whether a user said what a model says they said."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

from policies.language.sentences import words
from worker.extract.shown import ShownTurn

_ELISION: Final = re.compile(r"\[?(?:\.{3,}|…)\]?")
_MARKS: Final = " \t\n.,;:!?\"'()[]*_-–—"
_QUOTES: Final = str.maketrans("’‘“”`´", "''\"\"''")
_WORD: Final = re.compile(r"[^\W_]+(?:[.,]\d+)*")
_STEM_CHARS: Final = 5
_SMALL_WORDS: Final = words(
    "the and for with that this from have has had was were are his her their they them she him you your our its who "
    "which will would can could should about into than then there here when what where user wants want said says told "
    "been being not but also very just likes like"
)


def plain(text: str) -> str:
    """A text in the one form in which quotations are compared: letter case, quotation marks and spaces are alike."""
    return " ".join(unicodedata.normalize("NFKC", text).translate(_QUOTES).casefold().split())


def is_quoted(evidence: str, said: str) -> bool:
    """Whether every part of a quotation stands in what was said; parts are what an ellipsis leaves."""
    parts = [part for cut in _ELISION.split(plain(evidence)) if (part := cut.strip(_MARKS))]
    heard = plain(said)
    return bool(parts) and all(part in heard for part in parts)


def stems(text: str) -> set[str]:
    """The words of a text that say something, by their first letters."""
    return {
        word[:_STEM_CHARS] for word in _WORD.findall(plain(text)) if len(word) > 2 and word not in _SMALL_WORDS
    } | set(re.findall(r"\d+(?:[.,]\d+)*", text))


def names_in(text: str) -> set[str]:
    """The names and numbers of a text, in lower case: what a summary cannot have of itself."""
    found = {match.group().casefold() for match in re.finditer(r"\d+(?:[.,:]\d+)*", text)}
    later = (word for word in _WORD.finditer(text) if word.start() > 0)
    return found | {word.group().casefold() for word in later if word.group()[:1].isupper()}


def is_supported(summary: str, evidence: str, turn: ShownTurn, known: str) -> bool:
    """Whether a summary can come of its evidence.

    Evidence and summary share a word, unless the evidence answers a question or is in another language. A name or a
    number that the assistant said, and nobody else, is not the user's: neither is a summary that has it. `known` is
    what else may be spoken of: what the user said around the turn, open topics, names.
    """
    if turn.question is None and turn.is_english and not stems(summary) & stems(evidence):
        return False
    ours = set(_WORD.findall(plain(f"{known} {turn.question or ''}")))
    theirs = set(_WORD.findall(plain(turn.said_by("assistant")))) - ours
    return not names_in(summary) & theirs
