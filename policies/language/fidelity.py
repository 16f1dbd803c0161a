"""Fidelity: check that a summary says what its speaker said and nothing else."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from policies.language.sentences import words

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
"""A word or a number of a summary: "don't", "42"."""
FRAME: Final = words(
    "a an the and is are was were has have does do did had will would can not they them their theirs themself s "
    "who to be in on at of by around since about end week weekend morning afternoon evening night early late mid "
    "wants assistant reminded called asked said sent shared user"
)
"""Words in which memories are told; they are nobody's."""
_DATES: Final = words(
    "january february march april may june july august september october november december monday tuesday wednesday "
    "thursday friday saturday sunday spring summer autumn fall winter"
)
_NEGATIONS: Final = words("not no never n't cannot none nobody nothing neither nor without")
_ENDS: Final = ("ies", "es", "s", "ied", "ed", "d", "ing", "n't", "'s")


def words_of(text: str) -> list[str]:
    return [word.lower().replace("’", "'") for word in _WORD.findall(text)]


def base(word: str) -> str:
    """Return a word without its ending: equal for inflections of one word, as far as spelling shows."""
    word = word.split("'", maxsplit=1)[0] if not word.endswith("n't") else word[:-3]
    for end in _ENDS:
        if word.endswith(end) and len(word) - len(end) >= 3:
            stem = word[: -len(end)]
            return (
                stem + "y" if end in ("ies", "ied") else stem.rstrip("e") if end in ("es", "ed", "ing", "d") else stem
            )
    return word


def strange_words(summary: str, text: str, names: Iterable[str] = ()) -> list[str]:
    """Return the words of a summary that its speaker did not say: no inflection of theirs, no name, date or part of the
    frame."""
    heard = words_of(text)
    allowed = {*heard, *map(base, heard), *(word.split("'")[0] for word in heard)}
    allowed |= {part for name in names for part in words_of(name)}
    strange = []
    for word in words_of(summary):
        plain = word.removesuffix("'s").removesuffix("'")
        if word in FRAME or plain in allowed or plain in _DATES or base(word) in allowed or word.isdigit():
            continue
        if not any(base(heard_word).rstrip("e") == base(word).rstrip("e") for heard_word in heard):
            strange.append(word)
    return strange


def is_faithful(summary: str, text: str, names: Iterable[str] = ()) -> bool:
    """Return whether every word of a summary is its speaker's, an inflection, a name, a date, or of the frame, its
    negations are theirs, and it says no sentence twice."""
    sentences = [sentence.strip().lower() for sentence in re.split(r"(?<=[.!?]) ", summary)]
    if len(set(sentences)) < len(sentences):
        return False
    denies = bool(_NEGATIONS & set(words_of(summary))) or "n't" in summary
    denied = bool(_NEGATIONS & set(words_of(text))) or "n't" in text or "nt" in text.lower()
    return (not denies or denied) and not strange_words(summary, text, names)
