"""The remainder of a memory that said several things, when one of them changed."""

from __future__ import annotations

import re
import uuid
from collections.abc import Iterable
from datetime import datetime
from typing import Final

from policies.facts import compare_facts
from policies.language.wording import read
from policies.pairs import numbers_clash
from schema import MAX_SUMMARY_CHARS, Fact, Memory, SameFact

_OF_USER: Final = re.compile(r"^user(?='s |$)", re.IGNORECASE)
"""The user at the head of an entity: "user's sister"."""
_NAMELESS: Final = "The user"
_GOES_WITH: Final = {
    "job_title": "employer",
    "salary": "employer",
    "rent": "home_city",
    "marital_status": "partner",
    "field_of_study": "school",
}
"""Attributes told together with another that may have ended with it: who left a firm may have another job now."""
_TOLD: Final = {
    "age": "is {object}",
    "height": "is {object} tall",
    "rent": "pays {object} in rent",
    "job_title": "works as {a}{object}",
    "car": "drives {a}{object}",
}
"""How a fact is told whose verb and object are no clause by themselves."""
_AMOUNT: Final = re.compile(r"[$€£]?\d[\d.,]*[km]?(?: [^\W\d_]{1,12})?", re.IGNORECASE)
"""The object of a fact that is an amount and nothing else: "12,000 euros"."""
_DETERMINED: Final = re.compile(r"(?:an?|the|my|their|his|her|\d)\b", re.IGNORECASE)
"""An object that needs no article: "the bank", "2 cats"."""


def remainder_of(
    old: Memory, by: Memory, others: Iterable[Memory], name: str | None, now: datetime, policy_version: str
) -> tuple[Memory, ...]:
    """Return one memory for each thing that `old` said, that has one value at a time and that `by`, which supersedes
    it, leaves as it was: "Ana lives in Oslo and works at Equinor" superseded by "Ana moved to Bergen" leaves "Ana works
    at Equinor".

    `others` are the active memories with the same attributes: what one of them says, or says otherwise, is left to it.
    What may have ended with what changed does not remain either. Where no fact of `by` contradicts one of `old`, words
    did, and only facts that share none with `by` are taken to be untouched; if `by` has none, not what says all that
    `old` did. Each memory has the labels and turns of `old`, names it in `merged_from`, and is the same one whenever it
    is made again. `name` is what the user is called.
    """
    valued = [fact for fact in old.facts if fact.attribute]
    changed = {
        (fact.entity.casefold(), fact.attribute)
        for fact in valued
        if compare_facts((fact,), by.facts) is SameFact.CHANGED
    }
    by_words, says_none = not changed, not any(fact.attribute for fact in by.facts)
    spoken_of = {(fact.entity.casefold(), fact.attribute) for fact in valued if _is_spoken_of(fact, by)}
    current = [by, *others]
    whole = _said(old.summary, name)
    remaining: list[Memory] = []
    for fact in reversed(valued):  # of two values that a memory was given, the later one stands last
        is_told = any(compare_facts((fact,), memory.facts) is not SameFact.UNSURE for memory in (*current, *remaining))
        entity = fact.entity.casefold()
        ended = (entity, _GOES_WITH.get(fact.attribute or "")) in (changed or spoken_of)
        if is_told or ended or (by_words and (entity, fact.attribute) in spoken_of):
            continue
        summary = _statement_of(fact, name if name and name in old.summary else None)
        beside = whole - _said(summary, name)
        # "My phone is a Samsung, it dies by noon" and "switched to a Pixel": the only value is the one that changed.
        is_changed = len(valued) == 1 and not beside & _said(by.summary, name)
        says_all = by_words and says_none and bool(whole) and (not beside or is_changed)
        if len(summary) <= MAX_SUMMARY_CHARS and not says_all:
            remaining.append(_alone(old, by, (fact,), summary, now, policy_version))
    rest = _without_replaced(old, by, name or "")
    if rest is not None and not remaining:
        facts = tuple(fact for fact in old.facts if fact.object in rest and fact.attribute is None)
        alone = _alone(old, by, facts, rest, now, policy_version)
        moved = any(day not in rest for day in _named(old, "DATE"))
        remaining.append(alone.model_copy(update={"occurred_at": by.occurred_at}) if moved else alone)
    return tuple(remaining)


def _is_spoken_of(fact: Fact, by: Memory) -> bool:
    told, news = read(f"{fact.verb} {fact.object}"), read(by.summary)
    # "Sorry, 72" is of the age that was told as 71.
    return bool(told.words & news.words) or numbers_clash(told.quantities, news.quantities)


def left_alone(old: Memory, by: Memory, summary: str, now: datetime, policy_version: str) -> Memory:
    """Return what is left of a memory of which the rest is over: a memory of its own, which tells `summary`."""
    facts = tuple(fact for fact in old.facts if all(_is_named(one, summary) for one in (fact.entity, fact.object)))
    return _alone(old, by, facts, summary[:MAX_SUMMARY_CHARS], now, policy_version)


def _is_named(entity: str, summary: str) -> bool:
    """Return whether a summary, which is of the user, names what a fact calls so: "user's sister" by "sister"."""
    called = _OF_USER.sub("", entity).removeprefix("'s ").strip()
    return called.casefold() in summary.casefold()


def _said(summary: str, name: str | None) -> frozenset[str]:
    """Return the words and numbers that a summary says of a user with that name."""
    wording = read(summary, name or "")
    return wording.words | {quantity.value for quantity in wording.quantities}


def _without_replaced(old: Memory, by: Memory, name: str) -> str | None:
    """Return what a memory says without the amount or the date that another one replaces, if it then still names
    somebody, a place or a day of which that one says nothing: "Ana is saving 12,000 for a kitchen by June", of which
    the amount changed, leaves "Ana is saving for a kitchen by June".

    None where something ended, or where somebody or something is named in its place.
    """
    old_wording, wording = read(old.summary, name), read(by.summary, name)
    if '"' in old.summary or wording.negations or "ends" in wording.cues or wording.names - old_wording.words:
        return None
    summary = old.summary
    if "moves" in wording.cues and (days := _named(by, "DATE")):
        for day in _named(old, "DATE") - days:
            summary = re.sub(rf" (?:in|on|by|at|around|until|from) {re.escape(day)}(?=[ ,.])", "", summary, count=1)
    elif numbers_clash(old_wording.quantities, wording.quantities):
        amounts = {fact.object for fact in old.facts if _AMOUNT.fullmatch(fact.object)} - {""}
        for amount in amounts:
            summary = re.sub(
                rf"(?<!\b(?:is|at|to)) {re.escape(amount)}(?= (?:for|on|towards|by|in|with) )", "", summary
            )
    rest = {entity.text for entity in old.entities if entity.text in summary and entity.text not in by.summary}
    return summary if summary != old.summary and rest - {name} else None


def _named(memory: Memory, type_: str) -> set[str]:
    return {entity.text for entity in memory.entities if entity.type == type_}


def _statement_of(fact: Fact, name: str | None) -> str:
    who = _OF_USER.sub(name or _NAMELESS, fact.entity, count=1)
    is_so = not read(fact.verb).negations
    does = _TOLD.get(fact.attribute or "", "{verb} {object}") if is_so else "{verb} {object}"
    article = "" if _DETERMINED.match(fact.object) else "an " if fact.object[:1].lower() in "aeio" else "a "
    return f"{who} {does.format(verb=fact.verb, object=fact.object, a=article)}".rstrip(".") + "."


def _alone(
    old: Memory, by: Memory, facts: tuple[Fact, ...], summary: str, now: datetime, policy_version: str
) -> Memory:
    main_fact = next((fact for fact in facts if fact.attribute), None)
    key = f"{main_fact.entity}:{main_fact.attribute}".casefold() if main_fact else "rest"
    return old.model_copy(
        update={
            "id": uuid.uuid5(uuid.NAMESPACE_URL, f"afterturn:{old.subject.key}:remains:{old.id}:{key}"),
            "summary": summary,
            "entities": tuple(entity for entity in old.entities if entity.text.casefold() in summary.casefold()),
            "facts": facts,
            "attachments": (),
            "created_at": now,
            "updated_at": now,
            "supersedes": (),
            "superseded_by": None,
            "merged_from": (old.id,),
            "consolidated_from": (),
            "consolidated_into": None,
            "apart": False,
            "related_ids": tuple(dict.fromkeys((by.id, *old.related_ids))),
            "policy_version": policy_version,
            "version": 1,
        }
    )
