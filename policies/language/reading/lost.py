"""Who died, off a sentence's parse."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from policies.language.clauses import Clause, Tense, is_of_speaker
from policies.language.date_grammar import HINT
from policies.language.parse import Parsed
from policies.language.people import Person
from policies.language.sentences import words

_DIED: Final = words("died passed killed drowned")
_AWAY: Final = frozenset({"away", "on"})
"""Beside "passed", of somebody who died; "he passed out"."""
_DONE: Final = frozenset({Tense.PAST, Tense.PERFECT})


def lost(parsed: Parsed, asserted: Sequence[Clause], people: Sequence[Person]) -> list[Person]:
    """Return the people of whom clauses tell that they died: "my husband Len passed away", "we lost our dog Rex"."""
    gone: set[int] = set()
    for clause in asserted:
        verb, below = parsed.tokens[clause.head].lower, parsed.children(clause.head)
        objects = {child for child in below if parsed.tokens[child].dep == "dobj"}
        if clause.subject is None or clause.negated or clause.tense not in _DONE:
            continue
        if verb in _DIED and not objects and (verb != "passed" or _is_away(parsed, below)):
            gone.add(clause.subject)
        elif verb == "lost" and is_of_speaker(parsed, clause.subject):
            gone |= objects
    return [person for person in people if not gone.isdisjoint((person.index, *range(person.begin, person.end)))]


def _is_away(parsed: Parsed, below: Sequence[int]) -> bool:
    """Return whether what hangs on "passed" lets it mean a death: "passed on the 14th", not "passed on the offer"."""
    particles = {parsed.tokens[child].lower for child in below if parsed.tokens[child].dep == "prt"}
    places = [child for child in below if parsed.tokens[child].dep == "prep" and parsed.tokens[child].lower == "on"]
    return particles <= _AWAY and all(HINT.search(parsed.text_of(parsed.subtree(place))) for place in places)
