"""Who died, off a sentence's parse."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from policies.language.clauses import Clause, Tense, is_of_speaker
from policies.language.parse import Parsed
from policies.language.people import Person
from policies.language.sentences import words

_DIED: Final = words("died passed dead")
_DONE: Final = frozenset({Tense.PAST, Tense.PERFECT})


def lost(parsed: Parsed, asserted: Sequence[Clause], people: Sequence[Person]) -> list[Person]:
    """Return the people of whom clauses tell that they died: "my husband Len passed away", "we lost our dog Rex"."""
    gone: set[int] = set()
    for clause in asserted:
        verb, below = parsed.tokens[clause.head].lower, parsed.children(clause.head)
        objects = {child for child in below if parsed.tokens[child].dep == "dobj"}
        if clause.subject is None or clause.negated or clause.tense not in _DONE:
            continue
        if verb in _DIED and not objects:
            gone.add(clause.subject)
        elif verb == "lost" and is_of_speaker(parsed, clause.subject):
            gone |= objects
    return [person for person in people if not gone.isdisjoint((person.index, *range(person.begin, person.end)))]
