"""Merging: make what a memory becomes when a candidate says it again, or another memory takes its place."""

from __future__ import annotations

import uuid
from collections.abc import Iterable
from datetime import datetime, time
from typing import Final

from policies.authority import speaker_of
from policies.language.wording import read
from schema import MAX_SUMMARY_CHARS, Candidate, Entity, Fact, Memory, MemoryType, Status

SUPERSEDED_TAG: Final = "superseded"
_IMPLIED: Final = frozenset({"marital_status", "relationship_status"})
"""Attributes that another one of the same sentence says: who has a wife is married."""


def merge(existing: Memory, candidate: Candidate, importance: float, now: datetime, policy_version: str) -> Memory:
    """Return the memory with what the candidate adds: all labels and turns of both, the greater importance and
    confidence.

    It counts as said by whoever of both has more authority. The summary stays unless the candidate's says all of it and
    more, and under legal hold it always does. A fact tells
    of the latest moment at which it was said; an episode keeps its moment unless the candidate knows the hour where the
    memory knew only the day. A provisional memory becomes active. Merging the same candidate again changes nothing but
    `last_accessed`, `updated_at`, `access_count` and `version`.
    Source: "S3 Vectors Memory Implementation Plan (V1)", "Update/merge policy".
    """
    louder = candidate.intensity > existing.intensity
    in_its_words = not existing.legal_hold and says_more(existing.summary, candidate.summary)
    return existing.model_copy(
        update={
            "summary": candidate.summary if in_its_words else existing.summary,
            "source": speaker_of((existing.source, candidate.source)),
            "tags": tuple(dict.fromkeys(existing.tags + candidate.tags)),
            "entities": _union_of_entities(existing.entities, candidate.entities),
            "facts": _union_of_facts(existing.facts, candidate.facts),
            "attachments": tuple(dict.fromkeys(existing.attachments + candidate.attachments)),
            "source_turn_ids": tuple(
                dict.fromkeys((*existing.source_turn_ids, *candidate.context_turn_ids, candidate.turn_id))
            ),
            "importance": max(existing.importance, min(1.0, max(0.0, importance))),
            "confidence": max(existing.confidence, candidate.confidence),
            "valence": candidate.valence if louder else existing.valence,
            "intensity": candidate.intensity if louder else existing.intensity,
            "explicit": existing.explicit or candidate.explicit,
            "pinned": existing.pinned or candidate.pinned,
            "private": existing.private or candidate.private,
            "status": Status.ACTIVE if existing.status is Status.PROVISIONAL else existing.status,
            "occurred_at": _moment(existing, candidate),
            "said_at": max(existing.said_at, candidate.said_at),
            "last_accessed": now,
            "updated_at": now,
            "access_count": existing.access_count + 1,
            "policy_version": policy_version,
            "version": existing.version + 1,
        }
    )


def says_more(old: str, new: str) -> bool:
    """Return whether the new text says all that the old one says, and more, in at most what a summary may hold."""
    if len(new) > MAX_SUMMARY_CHARS:
        return False
    was, is_ = read(old), read(new)
    keeps_all = was.words <= is_.words and was.quantities <= is_.quantities
    return keeps_all and (was.words, was.quantities) != (is_.words, is_.quantities)


def would_lose(candidate: Candidate, memory: Memory) -> bool:
    """Return whether a memory that the candidate is merged into would not say a value that the candidate states: the
    memory's own words stay, unless the candidate has all of them."""
    if candidate.summary == memory.summary or says_more(memory.summary, candidate.summary):
        return False
    stated = {(fact.entity.casefold(), fact.attribute) for fact in memory.facts}
    words = read(memory.summary)
    for fact in candidate.facts:
        if not fact.attribute or fact.attribute in _IMPLIED or (fact.entity.casefold(), fact.attribute) in stated:
            continue
        value = read(fact.object)
        if not (value.words <= words.words and value.quantities <= words.quantities):
            return True
    return False


def supersede(old: Memory, by: uuid.UUID, now: datetime) -> Memory:
    """Return the memory as it is once another one has taken its place; a memory that already is so stays as it is."""
    if old.status is Status.SUPERSEDED and old.superseded_by == by:
        return old
    return old.model_copy(
        update={
            "status": Status.SUPERSEDED,
            "superseded_by": by,
            "tags": tuple(dict.fromkeys((*old.tags, SUPERSEDED_TAG))),
            "updated_at": now,
            "version": old.version + 1,
        }
    )


def _union_of_entities(old: Iterable[Entity], new: Iterable[Entity]) -> tuple[Entity, ...]:
    by_name = {(e.text.casefold(), e.type): e for e in (*new, *old)}
    return tuple(dict.fromkeys(by_name[e.text.casefold(), e.type] for e in (*old, *new)))


def _union_of_facts(old: Iterable[Fact], new: Iterable[Fact]) -> tuple[Fact, ...]:
    both = (*old, *new)
    first: dict[tuple[str, ...], Fact] = {}
    for fact in both:
        key = (fact.entity, fact.verb, fact.object, fact.attribute or "")
        first.setdefault(tuple(part.casefold() for part in key), fact)
    return tuple(first.values())


def _moment(existing: Memory, candidate: Candidate) -> datetime:
    if existing.type is not MemoryType.EPISODIC:
        return max(existing.occurred_at, candidate.occurred_at)
    only_a_day = existing.occurred_at.time() == time.min
    same_day = existing.occurred_at.date() == candidate.occurred_at.astimezone(existing.occurred_at.tzinfo).date()
    return candidate.occurred_at if only_a_day and same_day else existing.occurred_at
