"""Readings of statements that are kept as they stand: facts and named things, off the parse as of what is said."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

import memory.parser.english as english
from policies.language.annotation import notes_of
from policies.language.languages import ENGLISH, language_of
from policies.language.parse import Parsed
from policies.language.reading.entities import entities_of
from policies.language.reading.facts import facts_of
from policies.language.reading.of_user import as_told_by_user
from policies.language.sentences import split_sentences
from schema import Entity, Fact

_MOST: Final = 12
"""How many named things one memory has at most."""


@dataclass(frozen=True)
class Reading:
    """A statement as parsed: what it says of whom, and which things it names."""

    facts: tuple[Fact, ...] = ()
    entities: tuple[Entity, ...] = ()


def read_statement(text: str, names: Sequence[str], at: datetime) -> Reading:
    """Return the facts and the named things of what was stated at a moment, by the user or about them; `names` are the
    user's own. Nothing is read in another language than English. The parser loads with the first call."""
    if language_of(text) != ENGLISH:
        return Reading()
    parses = [_parsed(sentence.text) for sentence in split_sentences(text)]
    own = {name.casefold() for name in names}
    entities = {
        entity.text: entity
        for parsed in parses
        for entity in entities_of(parsed, notes_of(parsed, parsed.text_of(range(len(parsed.tokens))), at))
        if entity.text.casefold() not in own
    }
    return Reading(facts_of(as_told_by_user(parses, names)), tuple(entities.values())[:_MOST])


def _parsed(sentence: str) -> Parsed:
    """Return the parse of a sentence; of one that begins with what somebody does, as the user's: "Likes tea"."""
    if sentence.partition(" ")[0].endswith("s"):
        [parsed] = english.parse([f"User {sentence[0].lower()}{sentence[1:]}"])
        [who, does] = parsed.tokens[:2]
        if who.dep == "nsubj" and does.tag == "VBZ" and does.dep == "ROOT":
            return parsed
    [parsed] = english.parse([sentence])
    return parsed
