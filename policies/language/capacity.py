"""In what capacity somebody speaks: "As a nurse I work nights" tells that they are a nurse."""

from __future__ import annotations

import re
from typing import Final

from policies.language.sentences import words
from policies.language.spelling import Spelt, spelt

_CAPACITY: Final = re.compile(
    r"as (?P<who>an? (?P<words>[^\W_][^,.;:?!()\n]{1,60}?))(?:,\s|\s(?=(?:i|i['’]?m|i['’]?ve|my|we)\s))",
    re.IGNORECASE,
)
"""A sentence that begins with what its speaker is: "As a type 1 diabetic, "."""
_SPEAKER: Final = re.compile(
    r"(?:[\w'’-]+\s){0,6}?(?P<who>i|i['’]?m|i['’]?ve|my|me|we|our|us|you|your)\b", re.IGNORECASE
)
"""Whose sentence it is, a few words into it: "how do I"."""
_ADDRESSED: Final = frozenset({"you", "your"})
_NOBODY: Final = words(
    "rule result matter consequence treat side test start whole present gift joke resort step precaution reminder "
    "bonus backup snack dessert starter breakfast lunch dinner main favour favor hobby habit surprise compromise "
    "distraction base basis thank-you thanks alternative substitute replacement example family couple team group "
    "company reward warm-up follow-up placeholder workaround sidenote note guess souvenir project business"
)
"""Capacities that are nobody's: "As a treat I"."""
_ONCE: Final = words("kid child teen teenager boy girl baby toddler youngster youth freshman")
"""Capacities of an age: "As a child I"."""


def capacity_end(sentence: str) -> int | None:
    """Return where what a sentence's speaker says that they are ends in it (characters), None where it does not begin
    with that: "As a lawyer, what would you do?" speaks of who is asked."""
    match = _CAPACITY.match(sentence)
    if match is None or match["words"].split()[-1].lower() in _NOBODY | _ONCE:
        return None
    speaker = _SPEAKER.match(sentence, match.end())
    return match.end("who") if speaker and speaker["who"].lower() not in _ADDRESSED else None


def is_capacity(text: str) -> bool:
    """Return whether a text is what a speaker says that they are, and no more: "As a nurse"."""
    return capacity_end(f"{text}, I") == len(text)


def capacity_told(capacity: str) -> Spelt:
    """Return a capacity as a sentence, with the way back to what was typed: "As a nurse" is read as "I am a nurse"."""
    typed_length, read_length = len("As "), len("I am ")
    rest = spelt(capacity[typed_length:])
    return Spelt(
        f"I am {rest.plain}", ((0, 0), *((plain + read_length, typed + typed_length) for plain, typed in rest.edges))
    )
