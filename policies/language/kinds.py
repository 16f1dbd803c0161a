"""Things of one kind that are not the same: a chemistry exam and a physics exam, car and health insurance."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from policies.language.clauses import main_clauses
from policies.language.parse import Parsed
from policies.language.wording import content

_WHICH: Final = frozenset({"compound", "poss"})
"""How a noun stands to another one that says which of a kind it is."""


def tells_of_another(known: Parsed, said: Sequence[Parsed], name: str) -> bool:
    """Return whether what is said tells of another thing of the kind of which something is known, by the subjects of
    both: "the physics exam is on the 18th" of a chemistry exam. `name` is what the user is called."""
    words = {content(token.lower) for parsed in said for token in parsed.tokens}
    spoken_of = [subject for parsed in said for subject in _subjects(parsed, name)]
    return any(
        kind == other_kind and which and other and not which & words
        for kind, which in _subjects(known, name)
        for other_kind, other in spoken_of
    )


def _subjects(parsed: Parsed, name: str) -> Iterator[tuple[str, frozenset[str]]]:
    """Yield what main clauses are of: the kind of thing, and the words that say which of the kind."""
    for clause in main_clauses(parsed):
        if clause.subject is None or not parsed.tokens[clause.subject].tag.startswith("NN"):
            continue
        which = [
            parsed.tokens[child] for child in parsed.children(clause.subject) if parsed.tokens[child].dep in _WHICH
        ]
        yield (
            content(parsed.tokens[clause.subject].lower),
            frozenset(content(token.lower) for token in which if token.tag.startswith("NN") and token.text != name),
        )
