"""What people take back in the middle of a sentence: "I moved to Austin, no wait, I meant Houston"."""

from __future__ import annotations

import re
from typing import Final

_NUMBER: Final = r"[$€£]?\d[\d.,:]{0,12}(?:st|nd|rd|th|k|am|pm|%)?(?!\w)"
_WEEKDAY: Final = r"(?:mon|tues|wednes|thurs|fri|satur|sun)day"
_NAME: Final = r"(?-i:(?!I\b)[A-Z])[\w'-]{1,40}"
_SURE: Final = (
    r"(?:(?:oh |oops,? |or )?(?:no|wait|sorry|scratch that|correction|my bad|i mean|i meant|make that|rather)"
    r"\b[,.!]{0,2} ?)"
)
_MAYBE: Final = r"(?:actually,? )"
_LEAD: Final = r"(?:(?:it's|its|it is|it was|was|is|on|in|at|to|the|for|with|i meant?|in fact),? ){0,3}"
_WHO_OR_WHERE: Final = re.compile(
    rf"(?P<old>\b{_NAME}),?(?: -+)? (?:but )?{_SURE}{{1,4}}{_LEAD}(?P<new>{_NAME})", re.IGNORECASE
)
_HOW_MUCH: Final = re.compile(
    rf"(?P<old>(?<![\w.,]){_NUMBER}|\b{_WEEKDAY}\b),?(?: -+)? (?:{_SURE}|{_MAYBE}){{1,4}}{_LEAD}"
    rf"(?P<new>{_NUMBER}|{_WEEKDAY}\b)",
    re.IGNORECASE,
)
_BEGINS: Final = re.compile(rf"(?:{_SURE}|{_MAYBE}){{1,4}}", re.IGNORECASE)


def corrected(text: str) -> str:
    """The text with what was taken back replaced by what was meant; only a name for a name, a number for a number."""
    for pattern in (_WHO_OR_WHERE, _HOW_MUCH):
        for _ in range(3):
            match = pattern.search(text)
            if match is None or _kind(match["old"]) != _kind(match["new"]):
                break
            text = f"{text[: match.start()]}{match['new']}{text[match.end() :]}"
    return text


def corrects(said: str, before: str) -> str | None:
    """What stood before with what a sentence of its own puts right in it ("No wait, I meant Houston."), or None."""
    if not _BEGINS.match(said) or len(said.split()) > 8:
        return None
    together = f"{before.rstrip('.!? ')} {said}"
    mended = corrected(together)
    return mended if mended != together else None


def _kind(value: str) -> str:
    return "number" if value[-1:].isdigit() or any(char.isdigit() for char in value) else "word"
