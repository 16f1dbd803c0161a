"""Single-valued facts about the user, by the ways in which people state them."""

from __future__ import annotations

import re
from typing import Final

from schema import Fact
from worker.extract.possessions import possessions
from worker.extract.slots import SLOTS
from worker.extract.special_slots import BUDGET, ENDED, FAVORITE, FAVORITE_BACK, FAVORITE_BEST, MARITAL, PET

USER: Final = "user"
"""The entity of facts about the user, whatever their name."""

_HYPOTHETICAL = re.compile(
    r"\b(?:if|would|'d|could|might|wish|want to|used to|hope|hoping|dream|plan|planning|going to|"
    r"will|'ll|never|before|when I was|as a (?:kid|child)|should|(?-i:may)|thinking)\b",
    re.IGNORECASE,
)


_TOLD_BEFORE: Final = re.compile(r"\bI (?:told|said|thought|mentioned|assumed)\b")
"""What somebody takes back: "I told you I work at Initech but I left"."""


_OVER: Final = re.compile(r" but |\. I (?:left|quit|moved|no longer)\b")


def _clean(text: str) -> str:
    return text.strip(" ,.'\"").removesuffix(" now").strip()


def _one_spelling(noun: str) -> str:
    """ "colours", "colour" and "color" are one attribute, and so are "movie" and "film"."""
    noun = noun.replace("colour", "color").replace("flavour", "flavor").replace("movie", "film")
    return noun[:-1] if noun in ("colors", "flavors") else noun


def _taken_back(text: str, place: int) -> bool:
    told = _TOLD_BEFORE.search(text)
    if told is None or told.start() > place:
        return False
    over = _OVER.search(text, place)
    return over is not None


def _marital(text: str) -> Fact | None:
    for pattern, value in MARITAL:
        if pattern.search(text) and not re.search(
            r"\b(?:not|n't|never|no longer|isn't|used to|ex|hope|hopefully|if|someday|one day|future|"
            r"would|when I get|want to) ",
            text,
            re.IGNORECASE,
        ):
            return Fact(entity=USER, verb="is", object=value, attribute="marital_status")
    return None


def attribute_facts(text: str) -> tuple[Fact, ...]:
    """Return what a first-person sentence says about the user that can have only one value at a time.

    "I moved to Berlin", "I live in Berlin" and "we're based in Berlin now" all give `home_city` Berlin. What is
    wished, planned or long past gives none. What has ended gives a verb that says so ("no longer works at").
    """
    facts: dict[str, Fact] = {}

    def add(attribute: str, verb: str, value: str) -> None:
        value = _clean(value)
        if value and attribute not in facts:
            facts[attribute] = Fact(entity=USER, verb=verb[:100], object=value[:300], attribute=attribute[:60])

    for slot in SLOTS:
        match = slot.pattern.search(text)
        if match and not _HYPOTHETICAL.search(text[: match.start("o")]) and not _taken_back(text, match.start()):
            add(slot.attribute, slot.verb, match.group("o"))
    for pattern, attribute, verb in ENDED:
        if attribute == "employer" and not facts.keys().isdisjoint(("home_city", "school")):
            continue  # a place or a school was left
        if (match := pattern.search(text)) and not re.search(r"\b(?:if|would|when) ", text[: match.start()]):
            add(attribute, verb, match.group("o"))
    for pattern in (FAVORITE, FAVORITE_BACK, FAVORITE_BEST):
        if match := pattern.search(text):
            noun = _one_spelling(match.group("n"))
            add(f"favorite_{noun.replace(' ', '_')}", f"has as favorite {noun}", match.group("o"))
    for attribute, verb, value, start in possessions(text):
        if not _HYPOTHETICAL.search(text[:start]):
            add(attribute, verb, value)
    if match := BUDGET.search(text):
        noun = match.group("n") or match.group("n2")
        add(f"budget_{noun}" if noun else "budget", "has a budget of", match.group("o"))
    if match := PET.search(text):
        add(f"{match.group('n')}_name", f"has a {match.group('n')} named", match.group("o"))
    if (marital := _marital(text)) and "marital_status" not in facts:
        facts["marital_status"] = marital
    return tuple(facts.values())
