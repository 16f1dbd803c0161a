"""Other people of whom a candidate tells something sensitive: they never agreed to be remembered."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

from policies.privacy.sensitive import special_places
from schema import Candidate

PLACEHOLDER: Final = "[person]"
_USER: Final = "user"
_PET: Final = (
    r"(?:cats?|dogs?|kittens?|pupp(?:y|ies)|horses?|pon(?:y|ies)|parrots?|rabbits?|bunn(?:y|ies)|hamsters?|birds?|"
    r"fish|turtles?|pets?|guinea pigs?)(?: (?:named|called)|,)?"
)
_SENTENCE_END: Final = re.compile(r"[.!?]\s")


def told_of(candidate: Candidate, own_names: Iterable[str]) -> tuple[str, ...]:
    """The names of others of whom the summary tells something sensitive.

    A sensitive word is taken to be of whoever is named last before it. `own_names` are the user's; "Maya's sister
    Karin" is Karin, not Maya.
    """
    others = [
        entity.text
        for entity in candidate.entities
        if entity.type == "PERSON" and not _is_pet(entity.text, candidate.summary)
    ]
    if not others:
        return ()
    own = [name for name in (*own_names, _USER) if name]
    found = {
        name: None
        for place in special_places(candidate.summary)
        if (name := _last_named(_clause_before(candidate.summary, place), own, others))
    }
    return tuple(found)


def _is_pet(name: str, text: str) -> bool:
    return re.search(rf"\b{_PET} {re.escape(name)}(?!\w)", text, re.IGNORECASE) is not None


def without_names(text: str, names: Sequence[str]) -> str:
    """The text with these names replaced by a placeholder, longest first."""
    for name in sorted(names, key=len, reverse=True):
        text = re.sub(rf"(?<!\w){re.escape(name)}(?!\w)", PLACEHOLDER, text)
    return text


def _clause_before(text: str, place: int) -> str:
    start = max((match.end() for match in _SENTENCE_END.finditer(text, 0, place)), default=0)
    return text[start:place]


def _last_named(clause: str, own: Sequence[str], others: Sequence[str]) -> str | None:
    places = {name: _last_place(clause, name, possessive=True) for name in others}
    nearest = max(places, key=lambda name: places[name])
    user = max(_last_place(clause, name, possessive=False) for name in own)
    return nearest if places[nearest] > user else None


def _last_place(clause: str, name: str, *, possessive: bool) -> int:
    tail = "" if possessive else r"(?!['’]s)"
    return max((match.start() for match in re.finditer(rf"(?<!\w){re.escape(name)}(?!\w){tail}", clause)), default=-1)
