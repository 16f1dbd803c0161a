"""What a question or a task says of the user in passing: "We're off to Japan in April, what do I pack?"."""

from __future__ import annotations

import re
from typing import Final

from policies.language.relevance import relevance_of

_PIECE: Final = re.compile(r", | - |: |; |\s(?=(?:because|since|as) (?:I|we|my|our)\b)", re.IGNORECASE)
"""Between the pieces of a request: "book a table, I am vegan"."""
_BECAUSE: Final = re.compile(
    r"(?:and|but|so|because|since|as|given that|now that|seeing as|considering) ", re.IGNORECASE
)
"""What joins an aside to its request: "since I am vegan"."""
_OWN: Final = re.compile(r"(?:I|Im|Ive|we|my|our)\b", re.IGNORECASE)
"""An aside of the speaker's own: "I am vegan"."""


def asides_of_user(text: str) -> tuple[str, ...]:
    """Return the clauses of a question or a task that say something of the user and ask nothing."""
    pieces = (_BECAUSE.sub("", piece.strip(" ,"), count=1) for piece in _PIECE.split(text))
    return tuple(
        piece for piece in pieces if _OWN.match(piece) and piece[-1:] != "?" and relevance_of(piece).worth_keeping
    )
