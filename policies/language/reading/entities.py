"""The named things in a sentence, off its parse."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Final

from policies.language.annotation import Note
from policies.language.parse import Parsed
from policies.language.people import people_in
from policies.language.sentences import words
from schema import Entity, EntityType

_TYPES: Final[dict[str, EntityType]] = {
    "PERSON": "PERSON",
    "ORG": "ORG",
    "GPE": "LOCATION",
    "LOC": "LOCATION",
    "FAC": "LOCATION",
    "PRODUCT": "PRODUCT",
    "WORK_OF_ART": "PRODUCT",
    "MONEY": "MONEY",
}
_PRODUCTS: Final = words(
    "iphone ipad macbook imac airpods pixel galaxy kindle playstation ps4 ps5 xbox nintendo tesla toyota honda ford "
    "bmw audi volvo prius mustang civic corolla netflix spotify youtube instagram tiktok facebook twitter fitbit "
    "garmin duolingo photoshop excel notion slack minecraft fortnite zelda python javascript rust linux windows "
    "android chatgpt bitcoin ethereum"
)
_MONEY = re.compile(
    r"[$€£]\s?\d[\d,.]{0,15}\d?(?:\s?(?:k|m|million|thousand|billion))?\b|"
    r"\b\d[\d,.]{0,15}\s?(?:k\s)?(?:dollars|bucks|euros|pounds|USD|EUR|GBP)\b"
)
"""An amount of money: "$3,000", "40 euros"."""
_JUNK: Final = words(
    "i lol haha wow yeah yes thanks ok okay hey hi omg congrats christmas mom dad mum tv diy monday easter sorry btw"
)
_AT_WORK: Final = words(
    "work works worked working job position intern interned internship started interview joined join"
)
_AT_A_PLACE: Final = words(
    "live lives lived living moved moving move based relocated grew born fly flying flew travel traveled travelled "
    "trip been going went back"
)
_MOST: Final = 12


def entities_of(parsed: Parsed, notes: Sequence[Note] = ()) -> tuple[Entity, ...]:
    """Return people, organisations, places, products, sums of money and dates of a sentence, first come first.

    What the words around a name say of it goes before spaCy's recogniser, which is weak in chat (measured on WNUT17).
    """
    entities: dict[str, EntityType] = {}

    def add(name: str, kind: EntityType) -> None:
        name = name.strip(" ,.'\"!?").removesuffix("'s").removeprefix("the ")
        if 1 < len(name) <= 200 and name.lower() not in _JUNK:
            entities.setdefault(name, kind)

    for index, token in enumerate(parsed.tokens):
        if token.dep == "pobj" and token.text[:1].isupper() and token.tag.startswith("NNP"):
            _placed(parsed, index, add)
    for person in people_in(parsed):
        if person.name is not None:
            add(person.name, "PRODUCT" if _is_attribute(parsed, person.index) else "PERSON")
    text = parsed.text_of(range(len(parsed.tokens)))
    for match in _MONEY.finditer(text):
        add(match.group(), "MONEY")
    for token in parsed.tokens:
        if token.lower in _PRODUCTS and token.text != token.lower:
            add(token.text, "PRODUCT")
    for name in parsed.names:
        kind = _TYPES.get(name.label)
        is_named = any(name.text in earlier or earlier in name.text for earlier in entities)
        if kind is not None and not is_named and any(char.isupper() or char.isdigit() for char in name.text):
            add(name.text, kind)
    for note in notes:
        if note.when is not None:
            add(note.when.span.text, "DATE")
    return tuple(Entity(text=name, type=kind) for name, kind in list(entities.items())[:_MOST])


def _is_attribute(parsed: Parsed, index: int) -> bool:
    """Return whether a name only says of what kind a thing is: "a Harry Potter party"."""
    token = parsed.tokens[index]
    return token.dep in ("compound", "amod", "nmod") and token.head > index


def _placed(parsed: Parsed, index: int, add: Callable[[str, EntityType], None]) -> None:
    """Add what one works at as an organisation, what one lives in as a place."""
    tokens = parsed.tokens
    preposition = tokens[index].head
    verb = tokens[tokens[preposition].head].lower
    begin = index
    while begin and tokens[begin - 1].head == index and tokens[begin - 1].tag == "NNP":
        begin -= 1
    name = parsed.text_of(range(begin, index + 1))
    if verb in _AT_WORK and tokens[preposition].lower in ("at", "for", "with"):
        add(name, "ORG")
    elif verb in _AT_A_PLACE and tokens[preposition].lower in ("in", "to", "from"):
        add(name, "LOCATION")
