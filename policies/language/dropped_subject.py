"""How people begin a sentence of themselves when they leave "I" out: "found a flat", "Own a boat"."""

from __future__ import annotations

from typing import Final

from policies.language.parse import Parsed
from policies.language.sentences import words

_FEWEST: Final = 3
_STATES: Final = words("own live commute reside rent lodge")
"""Verbs of how things are that nobody asks an assistant to do."""
_HAS: Final = words("have work drive")
"""The same with what one has, where or how much: "Have two cats", "Drive a Fiesta"."""
_THINKS: Final = words("guess reckon figure think hope feel")
"""Verbs of taking something to be so: "Guess it's the later train from now on"."""
_DONE_ONCE: Final = words(
    "look go seat think chat drink break rest breath read listen talk word try taste nap bite sip guess day night week "
    "weekend one evening fun ready your you"
)
"""Nouns that one is asked to have: "have a look"."""


def states_own(parsed: Parsed) -> bool:
    """Return whether a sentence that opens with a bare verb says how things are with its speaker: "Own a boat", "Have
    two cats"; not "Have a look", "Work it out"."""
    tokens = parsed.tokens
    if len(tokens) < _FEWEST:
        return False
    if tokens[0].lower in _THINKS:
        return any(_is_own_thought(parsed, child) for child in parsed.children(0) if tokens[child].dep == "ccomp")
    if tokens[1].lower in ("it", "this", "that", "me", "us", "them", "out", "on"):
        return False
    if tokens[0].lower in _STATES:
        return tokens[1].tag in ("DT", "IN", "CD") or tokens[1].lower == "here"
    of_one = any(token.lower in _DONE_ONCE for token in tokens[1:5])
    if tokens[0].lower not in _HAS or of_one:
        return False
    return tokens[1].tag in ("CD", "NN", "NNS") or (tokens[1].lower in ("a", "an", "for", "at", "as"))


def _is_own_thought(parsed: Parsed, verb: int) -> bool:
    """Return whether what is thought is no riddle ("Guess who called") and no wish of the assistant's ("Hope you can
    help")."""
    opening = parsed.tokens[1]
    subjects = [parsed.tokens[child].lower for child in parsed.children(verb) if "subj" in parsed.tokens[child].dep]
    return not opening.tag.startswith("W") and bool(subjects) and "you" not in subjects
