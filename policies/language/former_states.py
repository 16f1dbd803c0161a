"""States that were over long before: they leave what holds now as it is."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime
from typing import Final

from policies.language.clauses import Tense, main_clauses
from policies.language.parse import Parsed
from policies.language.sentences import words

_STATES: Final = words(
    "was were 's had lived worked owned drove used played studied taught rented weighed earned paid ate drank smoked "
    "loved liked hated stayed kept went took"
)
"""Verbs in the past of what goes on for a while: "lived". What happens once, "moved", may have ended something."""
_OF_YOUTH: Final = re.compile(
    r"\bas an? (?:small |young |little )?(?:child|kid|boy|girl|teen\w*|student|baby|toddler|youth|apprentice)\b|"
    r"\b(?:when|until|till|before) (?:i|we|he|she|they) (?:was|were|turned) (?:about |only |just )?"
    r"(?:\d{1,2}|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\w+teen|little|small|young|"
    r"at (?:school|uni)|a (?:child|kid|boy|girl|teenager|student))\b|"
    r"\bin my (?:early |late )?(?:teens|twenties|thirties|youth|childhood)\b|\bback in the\b|\bbefore that\b",
    re.IGNORECASE,
)
"""Times that are over for whoever tells of them: "as a child", "before that"."""
_YEAR: Final = re.compile(r"\b(?P<year>(?:19|20)\d\d)\b|\b(?P<last>last year)\b", re.IGNORECASE)
"""A year that is named: "until 2019", "last year"."""


def tells_of_a_former_state(said: str, parsed: Sequence[Parsed], at: datetime, known_at: datetime) -> bool:
    """Return whether a message, as it was said at a moment, tells only how something was at a time that was over when
    something was said that is known: "I lived in Oslo until 2019" of somebody who said in 2026 that they live in Rome.
    """
    clauses = [(one, clause) for one in parsed for clause in main_clauses(one)]
    are_states = all(clause.tense is Tense.PAST and one.tokens[clause.head].lower in _STATES for one, clause in clauses)
    return bool(clauses) and are_states and _was_over(said, at, known_at)


def _was_over(said: str, at: datetime, known_at: datetime) -> bool:
    years = [int(match["year"] or at.year - 1) for match in _YEAR.finditer(said)]
    return bool(_OF_YOUTH.search(said)) if not years else max(years) < known_at.year
