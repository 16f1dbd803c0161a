"""Readings: what a model says that reads utterances whole."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

ASKS_TO_FORGET: Final = 0.98
"""How likely a message must be read to be a wish to forget, to be taken for one where it gives no order, and to hide
all that is known where its order for that is in doubt. Of 2,196 messages of talk and news by authors held out 14 read
so, of 413 wishes of three 351; from .9 on 19 and 372, but of 505 messages of eleven people who talk for months one more
hid what it did not mean."""
MAY_BE_ANOTHERS: Final = 0.4
"""How likely an order must be read to hold another's words, behind what stands before it, to be in doubt: "She left a
note on the fridge. Forget where I live". With the first weights, of eighteen in others' mouths sixteen were, of nine
of the user's own behind another sentence one."""
IS_ANOTHERS: Final = 0.85
"""The same of a sentence that states something, from where on it is told of nobody: "Make it rhyme. I work as a
tailor". Of an author held out .67 of others' sentences are, and .019 of the user's own; of 1,224 of talk five."""
_NOTHING: Final = "-"
_BEFORE_CHARS: Final = 300


@dataclass(frozen=True, slots=True)
class Reading:
    """How likely an utterance is worth a memory, how likely it asks for something to be forgotten, how likely it orders
    anything of an assistant's memory, how likely it tells that something is otherwise than it was, how likely it is a
    planted order, how likely it tells something sensitive of somebody else who is named in it, how likely its words are
    another's, behind what stands before it, and how likely, if it is a wish to forget, it means all that is known, 0 to
    1."""

    worth: float
    forgets: float
    orders: float
    news: float
    planted: float
    sensitive: float = 0.0
    others: float = 0.0
    whole: float = 0.0


def read_as(text: str, before: str = "") -> tuple[str, str]:
    """Return the pair as which an utterance is read: the end of what was said before it, and itself."""
    return before[-_BEFORE_CHARS:] or _NOTHING, text
