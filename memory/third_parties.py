"""Others of whom something sensitive is told: their names go, what they are to the user stays, or nothing is kept."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from itertools import chain
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, Generic, TypeVar

from memory.context import MemoryContext
from policies.language.languages import ENGLISH, language_of
from policies.privacy.third_parties import (
    claim_words,
    may_name_others,
    relations_in,
    relations_of,
    told_in,
    told_of,
    with_known_relations,
    with_relation,
    without_names,
)
from schema import MAX_SUMMARY_CHARS, Candidate, Fact, Memory, Policy, Status, Subject
from stores.embedding.reading import read_as

if TYPE_CHECKING:
    from stores.embedding.utterance_reader import UtteranceReader

REASON: Final = "others_sensitive_data"
_LATEST: Final = 20
"""How many memories are asked what the user is called in the turns that they came of, or what somebody is to them."""
Told = TypeVar("Told", Candidate, Memory)


@dataclass(frozen=True)
class Masked(Generic[Told]):
    """A claim as it may be kept, None where it must not be; and the words that no raw turn of it may keep."""

    kept: Told | None
    hidden: tuple[str, ...] = ()


def without_others(
    claim: Told, own: Sequence[str], context: MemoryContext, known: Mapping[str, str] = MappingProxyType({})
) -> Masked[Told]:
    """Return a claim without the names of others of whom it tells something sensitive; `own` are the user's names, and
    `known` is what people are to them, which stands for their names (`relations_known`)."""
    policy = context.policy
    if policy.others_sensitive_data == "keep":
        return Masked(claim)
    names: tuple[str, ...] = told_of(claim, own, partial(_reads_sensitive, context.utterance_reader))
    theirs = {name: relation for name, relation in known.items() if name in names}
    told = with_known_relations(claim.summary, theirs, next(iter(own), ""))
    summary: str = without_names(told, names)[:MAX_SUMMARY_CHARS]
    if may_name_others(summary, own):
        # Which word is the name nothing knows: none of the claim stays in the raw turn.
        return Masked(None, (*names, *claim_words(summary, own)))
    if names and policy.others_sensitive_data == "drop":
        return Masked(None, names)
    if not names:
        return Masked(claim)
    relations = theirs | relations_in(claim.summary, names)
    update = {
        "summary": with_relation(summary),
        "tags": tuple(tag for tag in claim.tags if tag == without_names(tag, names)),
        "entities": tuple(entity for entity in claim.entities if entity.text == without_names(entity.text, names)),
        "attachments": tuple(
            pointer
            for pointer in claim.attachments
            if (text := f"{pointer.uri} {pointer.title}") == without_names(text, names)
        ),
        "facts": tuple(kept for fact in claim.facts if (kept := _fact(fact, names, relations)) is not None),
    }
    return Masked(claim.model_copy(update=update), names)


def text_without_others(text: str, own: Sequence[str], policy: Policy) -> str:
    """Return what may be kept of a text that is no claim, such as a tag: without the names of others of whom it tells
    something sensitive, "" for nothing; `own` are the user's names."""
    if policy.others_sensitive_data == "keep":
        return text
    names = told_in(text, own)
    kept = without_names(text, names)
    if may_name_others(kept, own) or (names and policy.others_sensitive_data == "drop"):
        return ""
    return with_relation(kept) if names else text


def relations_known(
    names: Collection[str], subject: Subject, context: MemoryContext, just_told: Iterable[Fact] = ()
) -> dict[str, str]:
    """Return what people are to the user, such as "user's brother", by those of the names of which facts that are known
    say so, or facts that were `just_told`."""
    named = (memory for name in names for memory in context.catalog.facts.latest(subject, about=name, limit=_LATEST))
    facts = chain(chain.from_iterable(memory.facts for memory in named), just_told)
    return {name: relation for name, relation in relations_of(facts).items() if name in names}


def own_names(subject: Subject, context: MemoryContext) -> tuple[str, ...]:
    """Return what a user is called: by their id, as they said, and in the turns that their latest memories came of."""
    now = datetime.now(UTC)
    named = context.catalog.context(subject, (), topics_since=now, questions_since=now).name
    latest = context.catalog.list_memories(subject, statuses=tuple(Status), limit=_LATEST)
    turns = context.catalog.sources(subject, sorted({id_ for memory in latest for id_ in memory.source_turn_ids}))
    names = (subject.subject_id, named, *(turn.user_name() for turn in turns))
    return tuple(dict.fromkeys(name for name in names if name))


def _reads_sensitive(reader: UtteranceReader | None, text: str) -> float | None:
    """Return how likely a text tells something sensitive of somebody named in it; None where nothing reads it."""
    if reader is None or language_of(text) != ENGLISH:
        return None
    return reader.read([read_as(text)])[0].sensitive


def _fact(fact: Fact, names: Sequence[str], relations: dict[str, str]) -> Fact | None:
    """Return a fact without a name: of the relative where the claim says who that is, none otherwise."""
    if fact.entity in relations:
        fact = fact.model_copy(update={"entity": relations[fact.entity]})
    entity = with_relation(without_names(fact.entity, names))
    fact = fact.model_copy(update={"entity": entity})
    text = f"{fact.entity} {fact.verb} {fact.object}"
    return fact if text == without_names(text, names) and "[" not in entity else None
