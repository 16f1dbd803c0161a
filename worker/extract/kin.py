"""Whom "he", "she" and "they" stand for, where a relative was named just before."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from policies.language.sentences import MAX_SENTENCE_CHARS

_KIN: Final = re.compile(
    r"\b(?P<whose>[Mm]y|[Oo]ur|[Yy]our) (?:[a-z]+ )?(?P<noun>sister|mom|mum|mother|wife|girlfriend|"
    r"daughter|aunt|niece|grandmother|grandma|brother|dad|father|"
    r"husband|boyfriend|son|uncle|nephew|grandfather|grandpa|friend|boss|manager|partner|cousin|"
    r"roommate|colleague|coworker|teacher|parents|grandparents|in-laws|kids|children|twins|"
    r"doctor|therapist|dog|cat|puppy|kitten|horse|baby|neighbou?r|coach|mentor|ex)\b(?!')(?P<name> [A-Z][a-z]+)?"
)
_SHE: Final = frozenset(
    ("sister", "mom", "mum", "mother", "wife", "girlfriend", "daughter", "aunt", "niece", "grandmother", "grandma")
)
_HE: Final = frozenset(
    ("brother", "dad", "father", "husband", "boyfriend", "son", "uncle", "nephew", "grandfather", "grandpa")
)
_THEY: Final = frozenset(("parents", "grandparents", "in-laws", "kids", "children", "twins"))
_OPENING_PRONOUN: Final = re.compile(
    r"^(?P<p>he|she|his|her|they|their)\b(?P<clitic>'s|'ll|'d|'re|'ve)?", re.IGNORECASE
)
_WRITTEN_OUT: Final = {"'ll": " will", "'d": " would", "'re": " are", "'ve": " have"}


def kin_in(text: str) -> list[tuple[str, str]]:
    """The relatives, friends and pets that a text names: the noun, and the phrase as the user would say it."""
    return [
        (m["noun"], ("my" if m["whose"].lower() == "your" else m["whose"].lower()) + m.group()[len(m["whose"]) :])
        for m in _KIN.finditer(text[:MAX_SENTENCE_CHARS])
    ]


def kin_resolved(text: str, kin: Sequence[tuple[str, str]]) -> str:
    """A sentence that opens with "he", "she" or "they", with the one that was named just before in its place."""
    match = _OPENING_PRONOUN.match(text)
    if not match:
        return text
    pronoun = match["p"].lower()
    if pronoun in ("they", "their"):
        fitting = list(dict.fromkeys(phrase for noun, phrase in kin if noun in _THEY))
    else:
        wrong = _THEY | (_SHE if pronoun in ("he", "his") else _HE)
        fitting = list(dict.fromkeys(phrase for noun, phrase in kin if noun not in wrong))
    if len(fitting) != 1:
        return text
    rest = text[match.end("p") :]
    if match["clitic"] in _WRITTEN_OUT:
        rest = _WRITTEN_OUT[match["clitic"]] + text[match.end() :]
    elif match["clitic"]:
        rest = (" has" if re.match(r" (?:been|got|had)\b", text[match.end() :]) else " is") + text[match.end() :]
    phrase = fitting[0][0].upper() + fitting[0][1:]
    own = {"his": "'s", "her": "'s", "their": "'" if phrase.endswith("s") else "'s"}.get(pronoun, "")
    return phrase + own + rest
