"""Find what came up again and again, and make it a candidate for a lasting memory."""

from __future__ import annotations

import re
import uuid
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from policies.language.lexicon import GENERAL_TAGS
from policies.language.wording import deed
from schema import MAX_SUMMARY_CHARS, Candidate, Fact, Kind, Memory, MemoryType, Policy, Status, Visibility

_WORDS = re.compile(r"[^\W_]+")
"""A run of letters and digits: "Maya"."""
_SUREST = 0.95
_SUREST_TAG = 0.7
"""How sure a repeated tag can be: what somebody keeps doing is not yet what they are."""
_STATES = re.compile(
    r"(?P<verb>adores?|avoids?|collects?|dislikes?|enjoys?|fears?|hates?|likes?|loves?|owns?|plays?|prefers?|speaks?|"
    r"supports?)[\s_-]+(?P<rest>\S.*)",
    re.IGNORECASE,
)
"""A tag that says something by itself, as those of "Memory System - Mechanics", section 8: `loves-black-coffee`."""
_USER = "user"
_NAMED_DEEDS = 3
"""How many things that somebody did are named."""


@dataclass(frozen=True)
class Pattern:
    """The thing that several episodes share, oldest first: the very `fact`, or a tag. With the tag goes what it says by
    itself (`states`: a verb and the rest), or what was done in each of them (`done`: the latest fact of each)."""

    name: str
    fact: Fact | None
    episodes: tuple[Memory, ...]
    states: tuple[str, str] | None = None
    done: tuple[Fact, ...] = ()


def patterns(episodes: Iterable[Memory], now: datetime, policy: Policy) -> list[Pattern]:
    """Return the facts and tags that enough trusted episodes of the last days share, each told at another time.

    "Memory System - Mechanics", section 7: more than N times within P days (3 in 60), trust above 0.7. Two episodes of
    the same turns count once: a turn that was told twice is no pattern.

    That somebody often speaks of their family says nothing of them. So a tag counts only if it is none of the general
    ones, and either says something by itself or is that of episodes in which the same was done. A tag of episodes that
    share a fact is left out: the fact says more.
    """
    since = now - timedelta(days=policy.promote_days)
    fit = [
        memory
        for memory in episodes
        if memory.type is MemoryType.EPISODIC
        and memory.status is not Status.DELETED
        and not memory.private
        and not memory.suppressed
        and memory.visibility in (Visibility.PUBLIC, Visibility.PRIVATE)
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
    repeated = [
        Pattern(" ".join(key), facts[key], enough)
        for key, stating in by_fact.items()
        if (enough := _enough(stating, policy))
    ]
    explained = {memory.id for pattern in repeated for memory in pattern.episodes}
    for tag, tagged in by_tag.items():
        if tag.casefold() not in GENERAL_TAGS:
            repeated += _of_tag(tag, [memory for memory in tagged if memory.id not in explained], policy)
    return sorted(repeated, key=lambda pattern: pattern.name)


def _of_tag(tag: str, episodes: Sequence[Memory], policy: Policy) -> Iterator[Pattern]:
    if statement := _STATES.fullmatch(tag.strip()):
        if enough := _enough(episodes, policy):
            verb, rest = statement["verb"].casefold(), re.sub(r"[\s_-]+", " ", statement["rest"])
            yield Pattern(f"tag {tag}", None, enough, states=(verb if verb.endswith("s") else f"{verb}s", rest))
        return
    alike: dict[tuple[str, str], list[Memory]] = defaultdict(list)
    last: dict[tuple[str, str], dict[uuid.UUID, Fact]] = defaultdict(dict)
    for memory in episodes:
        for fact in memory.facts:
            if doing := deed(fact.verb):
                key = (fact.entity.casefold(), doing)
                if memory.id not in last[key]:
                    alike[key].append(memory)
                last[key][memory.id] = fact
    for (who, doing), same in alike.items():
        if enough := _enough(same, policy):
            done = tuple(last[who, doing][memory.id] for memory in enough)
            yield Pattern(f"tag {tag}: {who} {doing}", None, enough, done=done)


def conflicts(pattern: Pattern, lasting: Iterable[Memory]) -> bool:
    """Return whether a fact contradicts what is known for good: another value of an attribute that has one at a
    time."""
    fact = pattern.fact
    if fact is None or fact.attribute is None:
        return False
    return any(
        stated.attribute == fact.attribute
        and stated.entity.casefold() == fact.entity.casefold()
        and stated.object.casefold() != fact.object.casefold()
        for memory in lasting
        if memory.type is MemoryType.SEMANTIC and memory.status is Status.ACTIVE
        for stated in memory.facts
    )


def confidence(pattern: Pattern, policy: Policy) -> float:
    """Return how sure a pattern is, 0 to 1: the mean confidence of its episodes, moved halfway to certainty by each one
    beyond those that make a pattern; a tag never reaches what needs no review. The shape is ours: section 7 names only
    the 0.9 below which a person must agree.
    """
    episodes = pattern.episodes
    mean = sum(memory.confidence * memory.trust_score for memory in episodes) / len(episodes)
    more = len(episodes) - policy.promote_times
    sure = _SUREST - (_SUREST - min(mean, _SUREST)) * 0.5 ** max(0, more)
    return sure if pattern.fact else min(sure, _SUREST_TAG)


def candidate(pattern: Pattern, policy: Policy) -> Candidate:
    """Return the lasting memory that a pattern proposes, in the words of its latest episode's fact."""
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
    if pattern.states:
        return f"{_who(pattern)} {' '.join(pattern.states)}."[:MAX_SUMMARY_CHARS]
    fact = pattern.fact or pattern.done[-1]
    who = _who(pattern) if fact.entity.casefold() == _USER else fact.entity
    if pattern.fact and (fact.attribute or _lasts(fact.verb)):
        return _sentence(f"{who} {fact.verb} {fact.object}")
    first, last = pattern.episodes[0].said_at, pattern.episodes[-1].said_at
    things = list(dict.fromkeys(deed.object.rstrip(".") for deed in pattern.done or (fact,)))
    between = f"{len(pattern.episodes)} times between {first.day} {first:%B %Y} and {last.day} {last:%B %Y}"
    return _sentence(f"{who} {fact.verb} {', '.join(things[-_NAMED_DEEDS:])}, {between}")


def _lasts(verb: str) -> bool:
    """Return whether a verb is in the present, so that it says what is and not what once was: swims, is, has."""
    first = verb.split(maxsplit=1)[0].casefold() if verb.split() else ""
    return first.endswith("s") and first != "was"


def _sentence(text: str) -> str:
    return f"{text[: MAX_SUMMARY_CHARS - 1].rstrip('. ')}."


def _who(pattern: Pattern) -> str:
    """Return whom the episodes begin with, if all with the same; "The user" otherwise."""
    starts = {words[0] for memory in pattern.episodes if (words := _WORDS.findall(memory.summary))}
    only = next(iter(starts)) if len(starts) == 1 else ""
    return only if only[:1].isupper() and only not in ("On", "The") else "The user"


def _enough(episodes: Sequence[Memory], policy: Policy) -> tuple[Memory, ...]:
    """Return the episodes, oldest first, one for each of their turns; none if they are too few."""
    by_turn: dict[str, Memory] = {}
    for memory in sorted(episodes, key=lambda memory: (memory.said_at, memory.id)):
        turn = memory.source_turn_ids[-1] if memory.source_turn_ids else str(memory.id)
        by_turn.setdefault(turn, memory)
    return tuple(by_turn.values()) if len(by_turn) >= policy.promote_times else ()


def _key(fact: Fact) -> tuple[str, ...]:
    return tuple(part.casefold() for part in (fact.entity, fact.verb, fact.object))


def _ordinal(name: str) -> int:
    """Return a place among what came of a turn, the same for the same pattern: far behind what was extracted from the
    turn, and within the integers that every reader of JSON keeps exact (2**53)."""
    return 1_000_000 + (uuid.uuid5(uuid.NAMESPACE_URL, f"afterturn:pattern:{name}").int >> 76)
