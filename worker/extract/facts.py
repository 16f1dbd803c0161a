"""Who does what, off the parse of a sentence: facts of the user and of the people it names."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from policies.language.clauses import Clause, Mood, is_of_speaker, main_clauses
from policies.language.inflection import inflected
from policies.language.parse import Parsed
from policies.language.people import Person, people_in
from policies.language.sentences import words
from schema import Fact
from worker.extract.attributes import USER, entity_of

_DIRECT: Final = ("dobj", "attr", "acomp", "oprd", "dative")
_FURTHER: Final = ("ccomp", "npadvmod", "advmod")
_LEFT_OUT: Final = frozenset({"relcl", "advcl", "cc", "conj", "prep", "punct", "appos", "mark", "acl"})
"""What is no part of the name of a thing."""
_OWNING: Final = frozenset({"of"})
_BASES: Final = {
    "'m": "is", "am": "is", "are": "is", "'re": "is", "'s": "is", "s": "is", "'ve": "has", "were": "was", "ca": "can",
    "wo": "will", "'ll": "will", "'d": "would",
}  # fmt: skip
_OF_SPEAKER: Final = {
    "my": "their", "our": "their", "i": "they", "we": "they", "me": "them", "us": "them", "myself": "themself",
    "ourselves": "themself", "am": "are", "'m": "are", "was": "were",
}  # fmt: skip
_EDGE: Final = re.compile(r"^[^\w$€£]+|[^\w$€£%]+$")
"""Marks around a name: "Leo," """
_EMPTY: Final = words("it that this them there so one ones what which something anything everything")
_MOST: Final = 6


def triples_of(parsed: Parsed) -> tuple[Fact, ...]:
    """Return who does what: of each clause of the user, or of somebody who is named, what its verb takes. A preposition
    belongs to the verb ("lives in", Porto), and people are named alike wherever they stand.

    Who is named with what they are to the user has a fact of that, too: (Anna, is, user's sister).
    """
    people = people_in(parsed)
    facts: dict[Fact, None] = {}
    for clause in main_clauses(parsed):
        if clause.mood in (Mood.TELLING, Mood.WISHING) and (entity := _entity(parsed, clause, people)):
            verb = _verb(parsed, clause.head)
            facts.update(dict.fromkeys(_taken(parsed, clause.head, entity, verb, people) if verb else ()))
    for person in people:
        if person.of_speaker and person.noun and person.name:
            facts[Fact(entity=person.name[:200], verb="is", object=f"user's {person.noun}")] = None
    return tuple(facts)[:_MOST]


def _entity(parsed: Parsed, clause: Clause, people: Sequence[Person]) -> str | None:
    """Return of whom a clause tells: the user, somebody named, or what is the user's."""
    subject = clause.subject
    if subject is None:
        return None
    entity = entity_of(parsed, subject, people)
    if entity is not None or is_of_speaker(parsed, subject):
        return entity or USER
    if any(parsed.tokens[child].lower in ("my", "our") for child in parsed.children(subject)):
        return f"user's {_named(parsed, subject, people).removeprefix('their ')}"[:200]
    return None


def _taken(parsed: Parsed, head: int, entity: str, verb: str, people: Sequence[Person]) -> list[Fact]:
    """Return a fact for each thing that a verb takes, and for each that a preposition of it does; where it takes none,
    of the verb or the adjective that it governs: "went hiking with" (Tom), "is scared of" (thunder)."""
    tokens = parsed.tokens
    after = [child for child in parsed.children(head) if child > head]
    facts: list[Fact] = []
    for child in after:
        token = tokens[child]
        if token.dep in ("prep", "agent"):
            for index, lead in _objects(parsed, child, token.lower):
                facts += _fact(entity, f"{verb} {lead}", _named(parsed, index, people))
        elif token.dep == "xcomp" and token.tag in ("VB", "VBG"):
            to = "to " if any(tokens[c].tag == "TO" for c in parsed.children(child)) else ""
            rest = [index for index in parsed.subtree(child) if index >= child]
            governed = _taken(parsed, child, entity, f"{verb} {to}{token.lower}", people)
            facts += governed or _fact(entity, f"{verb} {to}", _told(parsed, rest))
        elif token.dep in _DIRECT:
            governed = _taken(parsed, child, entity, f"{verb} {token.lower}", people) if token.dep == "acomp" else []
            facts += governed or _fact(entity, verb, _named(parsed, child, people))
    if not facts:
        further = (_told(parsed, parsed.subtree(child)) for child in after if tokens[child].dep in _FURTHER)
        facts = [fact for text in further if text.lower() not in _EMPTY for fact in _fact(entity, verb, text)]
    return facts


def _fact(entity: str, verb: str, thing: str) -> list[Fact]:
    """Return the fact, none where its object is nothing."""
    return [Fact(entity=entity[:200], verb=verb.strip()[:100], object=thing[:300])] if thing.strip() else []


def _objects(parsed: Parsed, preposition: int, lead: str) -> Iterator[tuple[int, str]]:
    """Yield what a preposition takes, and what one within it does: "out of Leeds"."""
    for child in parsed.children(preposition):
        if parsed.tokens[child].dep == "pobj":
            yield child, lead
        elif parsed.tokens[child].dep == "prep":
            yield from _objects(parsed, child, f"{lead} {parsed.tokens[child].lower}")


def _named(parsed: Parsed, index: int, people: Sequence[Person]) -> str:
    """Return a thing without what is said about it, somebody by the name that all facts have for them; "" for
    nothing."""
    tokens = parsed.tokens
    if tokens[index].lower in _EMPTY:
        return ""
    if is_of_speaker(parsed, index) or tokens[index].lower in ("me", "us", "myself", "ourselves"):
        return USER
    who = next((person for person in people if person.begin <= index < person.end), None)
    if who is not None and (who.name or who.of_speaker):
        return who.canonical
    kept = {index}
    for child in parsed.children(index):
        within = tokens[child].dep == "prep" and tokens[child].lower in _OWNING
        if tokens[child].dep not in _LEFT_OUT or within:
            kept.update(parsed.subtree(child))
    return _told(parsed, sorted(kept))


def _told(parsed: Parsed, places: Sequence[int]) -> str:
    """Return words told of the user: "my shop" -> "their shop"."""
    tokens = parsed.tokens
    pieces = (_OF_SPEAKER.get(tokens[i].lower, tokens[i].text) + " " * tokens[i].space for i in places)
    return _EDGE.sub("", " ".join("".join(pieces).split()))[:300]


def _verb(parsed: Parsed, root: int) -> str:
    """Return a verb with its helpers in the third person: "'ve started" -> "has started"."""
    tokens = parsed.tokens
    if not tokens[root].tag.startswith("VB") and tokens[root].lower not in _BASES:
        return ""
    verb_words: list[str] = []
    below = parsed.children(root)
    negated = any(tokens[child].dep == "neg" and child < root + 2 for child in below)
    for child in below:
        if child < root and tokens[child].dep in ("aux", "auxpass"):
            word = _BASES.get(tokens[child].lower, tokens[child].lower)
            verb_words.append(inflected(word) if word in ("have", "do") and not verb_words else word)
    main = _BASES.get(tokens[root].lower, tokens[root].lower)
    if not verb_words and tokens[root].tag in ("VBP", "VB") and main not in ("is", "has", "can", "will"):
        main = inflected(main)
    if negated:
        verb_words = [*verb_words, "not", main] if verb_words else [main, "not"] if main == "is" else ["not", main]
    else:
        verb_words.append(main)
    return " ".join([*verb_words, *(tokens[child].lower for child in below if tokens[child].dep == "prt")])[:100]
