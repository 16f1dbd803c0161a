"""Comparison of two facts: the same, that one changed, or nothing."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from policies.language.attributes import ATTRIBUTES, has_one_value
from policies.language.wording import contents, read
from policies.pairs import numbers_clash
from schema import Entity, Fact, SameFact

_TYPE_OF_VALUES: Final = {
    "place": "Location",
    "org": "Organization",
    "person": "Person",
    "money": "Money",
    "date": "Date",
}
_TYPE_OF_NAMES: Final = {
    "PERSON": "Person",
    "ORG": "Organization",
    "MONEY": "Money",
    "DATE": "Date",
    "LOCATION": "Location",
    "PRODUCT": "Product",
}
_HAVING: Final = contents(["has", "keeps", "favourite", "is", "named", "called"])


def type_of_object(attribute: str | None, value: str, named: Iterable[Entity]) -> str:
    """Return what kind of thing a fact's object is: "Location", "Hobby", "Person" ..., or "Thing" where nobody knows.

    By the fact's attribute, else by the entity of that name among those that its memory names. Source: "Vectorized
    Episodic and Vectorized Semantic memory", section 3, whose facts have ids such as "Hobby:Hiking".
    """
    if attribute is not None:
        row = ATTRIBUTES.get(attribute)
        of_values = _TYPE_OF_VALUES.get(row.value) if row else None
        return of_values or attribute.replace("_", " ").title().replace(" ", "")
    return next(
        (_TYPE_OF_NAMES[entity.type] for entity in named if entity.text.casefold() == value.casefold()), "Thing"
    )


def compare_facts(a: tuple[Fact, ...], b: tuple[Fact, ...]) -> SameFact:
    """Return what two statements' triples alone say: CHANGED, SAME, DIFFERENT or UNSURE; their order does not matter.

    CHANGED: another value of what somebody has one of at a time, or a thing that the one says has ended and the other
    has. DIFFERENT: one thing has ended, and another holds; or the one is all of people of other names than the other.
    """
    if _are_of_others(a, b):
        return SameFact.DIFFERENT
    verdict = SameFact.UNSURE
    for first in a:
        for second in b:
            if first.entity.casefold() != second.entity.casefold():
                continue
            same_object = _same_object(first.object, second.object)
            if same_object and _is_over(first) != _is_over(second):
                return SameFact.CHANGED
            if not _of_one_slot(first, second):
                continue
            if same_object:
                verdict = SameFact.SAME
            elif not (_is_over(first) or _is_over(second)):
                return SameFact.CHANGED
            elif verdict is SameFact.UNSURE:
                verdict = SameFact.DIFFERENT
    return verdict


def _are_of_others(a: tuple[Fact, ...], b: tuple[Fact, ...]) -> bool:
    """Return whether both statements are of people with names, none of whom is in both: a friend Ines, and a friend
    Jan."""
    here, there = ([read(fact.entity).names for fact in facts] for facts in (a, b))
    if not (here and there and all(here) and all(there)):
        return False
    return not frozenset().union(*here) & frozenset().union(*there)


def _of_one_slot(first: Fact, second: Fact) -> bool:
    """Return whether two facts of one entity give values of what it has one of at a time."""
    name = first.attribute
    if not name or not second.attribute or name.casefold() != second.attribute.casefold() or not has_one_value(name):
        return False
    row = ATTRIBUTES.get(name)
    return row is None or row.per == "person" or _thing(first) == _thing(second)


def _thing(fact: Fact) -> frozenset[str]:
    return read(fact.verb).words - _HAVING


def _same_object(a: str, b: str) -> bool:
    if a.casefold() == b.casefold():
        return True
    first, second = read(a), read(b)
    if numbers_clash(first.quantities, second.quantities) or not (first.words or first.quantities):
        return False
    if not first.words or not second.words:
        return first.words == second.words and first.quantities == second.quantities
    return first.words <= second.words or second.words <= first.words


def _is_over(fact: Fact) -> bool:
    wording = read(fact.verb)
    return bool(wording.negations % 2) or "ends" in wording.cues
