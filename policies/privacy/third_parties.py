"""Other people of whom a candidate tells something sensitive: they never agreed to be remembered."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from policies.language.lexicon import word_set
from policies.privacy.sensitive import special_places
from schema import Candidate

PLACEHOLDER: Final = "[person]"
_USER: Final = "user"
_PET: Final = (
    r"(?:cats?|dogs?|kittens?|pupp(?:y|ies)|horses?|pon(?:y|ies)|parrots?|rabbits?|bunn(?:y|ies)|hamsters?|birds?|"
    r"fish|turtles?|pets?|guinea pigs?)(?: (?:named|called)|,)?"
)
_CAPITAL: Final = r"[^\W\d_a-zß-öø-ÿ][\w’']{1,24}"
_BEFORE: Final = rf"(?:\b{_CAPITAL}[ -]){{0,2}}"
_BEHIND: Final = rf"(?:[ -]{_CAPITAL}(?<!['’]s)|-\w{{2,24}}){{0,3}}"
_KIN: Final = (
    "aunt|uncle|sister|brother|mother|father|mum|mom|dad|wife|husband|son|daughter|cousin|niece|nephew|grandma|grandpa|"
    "friend|girlfriend|boyfriend|partner|neighbou?r|boss|colleague|co-?worker|roommate|flatmate|teacher|coach"
)
_NAMED_KIN: Final = re.compile(
    rf"\b(?i:{_KIN})\s(?:(?i:named|called)\s)?(?P<name>[^\W\d_]{{2,24}})(?=\s(?:has|had|is|was|got|suffers|tested|"
    rf"died|came|lost)\b)"
)
_SUBJECT_OF: Final = re.compile(
    rf"\b(?P<name>{_CAPITAL}(?:[ -]{_CAPITAL}){{0,3}})(?=\s(?:has|had|suffers|got|tested|was diagnosed|is hiv|came "
    rf"out)\b)",
    re.UNICODE,
)
_NO_NAMES: Final = word_set(
    """the a an he she it they we i you this that these those there who which what my our his her their its user and but
    or so if when while after before because since last next today yesterday everyone everybody someone nobody person
    mother father brother sister aunt uncle friend boss doctor dr mr mrs ms yes no now then also one also never always
    has was is had got"""
)
_SENTENCE_END: Final = re.compile(r"[.!?]\s")


def told_of(candidate: Candidate, own_names: Iterable[str]) -> tuple[str, ...]:
    """Return the names of others of whom the summary tells something sensitive, each whole ("Anna Kowalska-Nowak").

    A sensitive word is taken to be of whoever is named last before it. `own_names` are the user's; "Maya's sister
    Karin" is Karin, not Maya.
    """
    text = candidate.summary
    places = special_places(text)
    own = [name for name in (*own_names, _USER) if name]
    found = {entity.text for entity in candidate.entities if entity.type == "PERSON"} | set(_named_without_parse(text))
    others = [name for name in found if not _is_pet(name, text) and name not in own]
    if not places or not others:
        return ()
    named = {
        name: None
        for place in places
        if (name := _last_named(_clause_before(text, place), own, sorted(others, key=len)))
    }
    whole = {part: None for name in named for part in _whole_names(text, name, own)}
    return tuple(whole)


def _named_without_parse(text: str) -> Iterator[str]:
    """Yield who a parse may miss: a surname alone that has something, and the name in small letters of
    somebody's kin."""
    for match in _NAMED_KIN.finditer(text):
        if match["name"] not in _NO_NAMES:
            yield match["name"]
    for match in _SUBJECT_OF.finditer(text):
        if match["name"].split()[0].lower() not in _NO_NAMES:
            yield match["name"]


def _whole_names(text: str, name: str, own: Sequence[str]) -> Iterator[str]:
    """Yield every form of a name in a text, with what stands beside it with a capital letter: "Eva" in "Eva Novak"."""
    for match in re.finditer(rf"{_BEFORE}(?<!\w){re.escape(name)}{_BEHIND}", text):
        whole = match[0]
        first, _, rest = whole.partition(" ")
        if rest and name in rest and (first.lower() in _NO_NAMES or first in own):
            whole = rest
        yield whole
    yield name


def _is_pet(name: str, text: str) -> bool:
    return re.search(rf"\b{_PET} {re.escape(name)}(?!\w)", text, re.IGNORECASE) is not None


def without_names(text: str, names: Sequence[str]) -> str:
    """Return the text with these names replaced by a placeholder, longest first."""
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
