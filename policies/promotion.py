"""What came up again and again: a candidate for a lasting memory, and how sure it is."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from memory.schema import Candidate, Fact, Kind, Memory, MemoryType, Policy, Status

_WORDS = re.compile(r"[^\W_]+")
_SUREST = 0.95
_A_TAG = 0.7
"""How sure a repeated tag can be: that something comes up is not yet what it means."""


@dataclass(frozen=True)
class Pattern:
    """A fact or a tag that several episodes share, oldest first. `fact` is None where it is a tag."""

    name: str
    fact: Fact | None
    episodes: tuple[Memory, ...]


def patterns(episodes: Iterable[Memory], now: datetime, policy: Policy) -> list[Pattern]:
    """The facts and tags that enough trusted episodes of the last days share, each told at another time.

    "Memory System - Mechanics", section 7: more than N times within P days (3 in 60), trust above 0.7. Two episodes of
    the same turns count once: a turn that was told twice is no pattern. A tag of episodes that share a fact is left
    out: the fact says more.
    """
    since = now - timedelta(days=policy.promote_days)
    fit = [
        memory
        for memory in episodes
        if memory.type is MemoryType.EPISODIC
        and memory.status is not Status.DELETED
        and not memory.private
        and memory.trust_score > policy.promote_trust
        and since <= memory.said_at <= now
    ]
    by_fact: dict[tuple[str, ...], list[Memory]] = defaultdict(list)
    facts: dict[tuple[str, ...], Fact] = {}
    by_tag: dict[str, list[Memory]] = defaultdict(list)
    for memory in fit:
        for fact in memory.facts:
            key = _key(fact)
            facts.setdefault(key, fact)
            by_fact[key].append(memory)
        for tag in memory.tags:
            by_tag[tag].append(memory)
    found = [
        Pattern(" ".join(key), facts[key], told) for key, some in by_fact.items() if (told := _enough(some, policy))
    ]
    explained = {memory.id for pattern in found for memory in pattern.episodes}
    for tag, some in by_tag.items():
        told = _enough([memory for memory in some if memory.id not in explained], policy)
        if told:
            found.append(Pattern(f"tag {tag}", None, told))
    return sorted(found, key=lambda pattern: pattern.name)


def conflicts(pattern: Pattern, known: Iterable[Memory]) -> bool:
    """Whether a fact contradicts what is known for good: another value of an attribute that has one at a time."""
    fact = pattern.fact
    if fact is None or fact.attribute is None:
        return False
    return any(
        other.attribute == fact.attribute
        and other.entity.casefold() == fact.entity.casefold()
        and other.object.casefold() != fact.object.casefold()
        for memory in known
        if memory.type is MemoryType.SEMANTIC and memory.status is Status.ACTIVE
        for other in memory.facts
    )


def confidence(pattern: Pattern, policy: Policy) -> float:
    """How sure a pattern is, 0 to 1: the mean confidence of its episodes, moved halfway to certainty by each one beyond
    those that make a pattern; a mere tag never reaches what needs no review. The shape is ours: section 7 names only
    the 0.9 below which a person must agree.
    """
    episodes = pattern.episodes
    mean = sum(memory.confidence * memory.trust_score for memory in episodes) / len(episodes)
    more = len(episodes) - policy.promote_times
    sure = _SUREST - (_SUREST - min(mean, _SUREST)) * 0.5 ** max(0, more)
    return sure if pattern.fact else min(sure, _A_TAG)


def candidate(pattern: Pattern, policy: Policy) -> Candidate:
    """The lasting memory that a pattern proposes, in the words of its latest episode's fact."""
    last = pattern.episodes[-1]
    turns = tuple(dict.fromkeys(turn for memory in pattern.episodes for turn in memory.source_turn_ids))
    return Candidate(
        turn_id=turns[-1],
        ordinal=_ordinal(pattern.name),
        context_turn_ids=turns[:-1],
        type=MemoryType.SEMANTIC,
        kind=Kind.USER_FACT if pattern.fact else Kind.EVENT_PATTERN,
        category=last.category,
        summary=_summary(pattern),
        tags=tuple(dict.fromkeys(tag for memory in pattern.episodes for tag in memory.tags)),
        entities=tuple(dict.fromkeys(entity for memory in pattern.episodes for entity in memory.entities)),
        facts=(pattern.fact,) if pattern.fact else (),
        source=last.source,
        valence=last.valence,
        intensity=last.intensity,
        confidence=confidence(pattern, policy),
        occurred_at=last.said_at,
        said_at=last.said_at,
    )


def _summary(pattern: Pattern) -> str:
    first, last, times = pattern.episodes[0], pattern.episodes[-1], len(pattern.episodes)
    if pattern.fact:
        fact = pattern.fact
        return f"{fact.entity} {fact.verb} {fact.object}.".replace("..", ".")
    between = f"between {first.said_at.day} {first.said_at:%B %Y} and {last.said_at.day} {last.said_at:%B %Y}"
    return f"{_who(pattern)} spoke of {pattern.name.removeprefix('tag ')} {times} times {between}."


def _who(pattern: Pattern) -> str:
    """Whom the episodes begin with, if all with the same; "The user" otherwise."""
    starts = {words[0] for memory in pattern.episodes if (words := _WORDS.findall(memory.summary))}
    only = next(iter(starts)) if len(starts) == 1 else ""
    return only if only[:1].isupper() and only not in ("On", "The") else "The user"


def _enough(episodes: Sequence[Memory], policy: Policy) -> tuple[Memory, ...]:
    """The episodes, oldest first, one for each of their turns; none if they are too few."""
    told: dict[str, Memory] = {}
    for memory in sorted(episodes, key=lambda memory: (memory.said_at, memory.id)):
        turn = memory.source_turn_ids[-1] if memory.source_turn_ids else str(memory.id)
        told.setdefault(turn, memory)
    return tuple(told.values()) if len(told) >= policy.promote_times else ()


def _key(fact: Fact) -> tuple[str, ...]:
    return tuple(part.casefold() for part in (fact.entity, fact.verb, fact.object))


def _ordinal(name: str) -> int:
    """A place among what came of a turn, far behind what was extracted from it, the same for the same pattern."""
    return 1_000_000 + sum(ord(letter) * (place + 1) for place, letter in enumerate(name)) % 1_000_000
