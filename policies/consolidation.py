"""Choose which episodes become one memory, and what it says."""

from __future__ import annotations

import re
import uuid
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from functools import lru_cache
from itertools import groupby
from typing import TypeVar

from policies.authority import speaker_of
from policies.importance import importance
from policies.language.sentences import split_sentences
from policies.language.wording import DENIED, in_turn, read
from schema import MAX_SUMMARY_CHARS, Memory, MemoryType, Policy, Status, Subject, Valence

T = TypeVar("T")
WINDOW = 128
"""Memories that are compared with each other at a time, and as many more that are left of the time before."""
Pair = tuple[float, int, int]
"""The cosine of two memories, and their places."""


def may_join(memory: Memory, now: datetime, policy: Policy, *, at_once: bool = False) -> bool:
    """Return whether an episode may become a part of a consolidated memory.

    Not what a person pinned, asked to be remembered, wants never told, holds or took out of one before; not what is
    yet to happen; and, unless there are too many `at_once`, not what is so fresh that it may still be told again, which
    dedup would want to merge. "Memory System - Mechanics", section 10: those of the last 90 days.
    """
    settled = timedelta(0) if at_once else timedelta(hours=policy.episodic_merge_window_hours)
    return (
        memory.type is MemoryType.EPISODIC
        and memory.status is Status.ACTIVE
        and not (memory.pinned or memory.legal_hold or memory.explicit or memory.apart or memory.consolidated_from)
        and not memory.suppressed
        and memory.occurred_at <= now
        and now - memory.created_at <= timedelta(days=policy.consolidate_days)
        and now - memory.created_at >= settled
    )


def company(memory: Memory) -> tuple[object, ...]:
    """Return what two memories must have in common to be told as one: who may see them, and whose words they are."""
    return memory.visibility, memory.private, memory.agent_id, memory.author_id


def clusters(
    memories: Sequence[Memory], near: Iterable[Pair], fits: Callable[[Sequence[Memory]], bool], policy: Policy
) -> list[list[Memory]]:
    """Return the memories in groups of which all members are near each other, in cosine and in time; singles too.

    `near` are the pairs whose cosine is at least the policy's; `fits` says whether a group can be told as one. The
    nearest pairs are joined first, and two groups only if every member of one is near every member of the other:
    chains of neighbours do not become one story. In each group the earliest comes first.
    """
    pairs = sorted((-cosine, min(first, second), max(first, second)) for cosine, first, second in near)
    near_pairs = {(first, second) for _, first, second in pairs}
    companies = [company(memory) for memory in memories]
    span = timedelta(days=policy.consolidate_span_days)
    members = {index: [index] for index in range(len(memories))}
    group_of = {index: index for index in members}
    for _, first, second in pairs:
        kept_group, merged_group = group_of[first], group_of[second]
        if kept_group == merged_group or companies[first] != companies[second]:
            continue
        both = members[kept_group] + members[merged_group]
        if len(both) > policy.consolidate_members or not all(
            (min(a, b), max(a, b)) in near_pairs for a in members[kept_group] for b in members[merged_group]
        ):
            continue
        together = in_order(memories[index] for index in both)
        if together[-1].occurred_at - together[0].occurred_at > span or not fits(together):
            continue
        members[kept_group] = both
        for index in members.pop(merged_group):
            group_of[index] = kept_group
    return [in_order(memories[index] for index in places) for places in members.values()]


def clusters_over_time(
    memories: Iterable[Memory],
    near: Callable[[Sequence[Memory]], Iterable[Pair]],
    fits: Callable[[Sequence[Memory]], bool],
    policy: Policy,
) -> Iterator[list[Memory]]:
    """Yield the groups of `clusters`, found in windows of `WINDOW` memories in the order of time: so the cost grows
    with the number of memories and not with its square.

    Up to as many that stay alone go on into the next window. `near` finds the pairs of one window.
    """
    ordered, alone = in_order(memories), list[Memory]()
    for begin in range(0, len(ordered), WINDOW):
        window = [*alone, *ordered[begin : begin + WINDOW]]
        groups = clusters(window, near(window), fits, policy)
        yield from (group for group in groups if len(group) > 1)
        singles = [group[0] for group in groups if len(group) == 1]
        yield from ([memory] for memory in singles[:-WINDOW])
        alone = singles[-WINDOW:]
    yield from ([memory] for memory in alone)


def unneeded(memory: Memory, now: datetime, policy: Policy) -> bool:
    """Return whether an episode that belongs to no other is unimportant and old enough to be archived ("Memory System -
    Mechanics", section 4: dropped after a grace period)."""
    grace = timedelta(days=policy.consolidate_grace_days)
    unused = now - max(memory.created_at, memory.last_accessed)
    return memory.importance < policy.consolidate_low_importance and unused > grace


def retell(memories: Sequence[Memory], policy: Policy) -> str | None:
    """Return what a group says, in its members' own sentences, each day named once; None if that is too much.

    What another one of the same day says with all its words is left out; on another day it happened again. Nothing is
    put into other words, so nothing is made up.
    """
    kept = _distinct(memories)
    if sum(sentences_in(memory.summary) for memory in kept) > policy.consolidate_sentences:
        return None
    all_sentences = []
    for day, same_day in groupby(kept, key=lambda memory: memory.occurred_at.date()):
        sentences = [_sentence(memory.summary) for memory in same_day]
        date = f"{day.day} {day:%B %Y}"
        # The 2nd is not named by a sentence that names the 12th.
        named = re.compile(rf"(?<!\d)0?{date}(?!\d)")
        if not all(named.search(sentence) for sentence in sentences):
            sentences[0] = f"On {date}: {sentences[0]}"
        all_sentences += sentences
    text = " ".join(all_sentences)
    return text if len(text) <= MAX_SUMMARY_CHARS else None


def consolidated(
    memories: Sequence[Memory], summary: str, now: datetime, policy: Policy, *, embedding_model: str
) -> Memory:
    """Return one memory that says what several say, with all that they were made of.

    It is as important as the most important of them, or more where their use together makes it so ("Memory System -
    Mechanics", section 3). Made again of the same memories, it has the same id.
    """
    first, last = memories[0], memories[-1]
    loudest = max(memories, key=lambda memory: memory.intensity)
    used = sum(memory.access_count for memory in memories)
    trust = min(memory.trust_score for memory in memories)
    kind = _most(memory.kind for memory in memories)
    weighed = importance(
        pinned=False,
        trust=trust,
        access_count=used,
        valence=loudest.valence,
        intensity=loudest.intensity,
        explicit=False,
        kind=kind,
        type_=MemoryType.EPISODIC,
        policy=policy,
    )
    conversations = {memory.conversation_id for memory in memories}
    return Memory(
        id=consolidated_id(first.subject, [memory.id for memory in memories]),
        **first.subject.model_dump(),
        type=MemoryType.EPISODIC,
        kind=kind,
        category=_most(memory.category for memory in memories),
        summary=summary,
        tags=_union(memory.tags for memory in memories),
        entities=_union(memory.entities for memory in memories),
        facts=_union(memory.facts for memory in memories),
        attachments=_union(memory.attachments for memory in memories),
        source=speaker_of(memory.source for memory in memories),
        # The turns that state it come before those by which they are understood.
        source_turn_ids=_union((*(m.source_turn_ids[-1:] for m in memories), *(m.source_turn_ids for m in memories))),
        conversation_id=first.conversation_id if len(conversations) == 1 else None,
        agent_id=first.agent_id,
        author_id=first.author_id,
        visibility=first.visibility,
        importance=max(weighed, *(memory.importance for memory in memories)),
        trust_score=trust,
        confidence=min(memory.confidence for memory in memories),
        valence=loudest.valence if loudest.intensity else Valence.NEUTRAL,
        intensity=loudest.intensity,
        proactivity_weight=max(memory.proactivity_weight for memory in memories),
        private=first.private,
        occurred_at=last.occurred_at,
        said_at=max(memory.said_at for memory in memories),
        created_at=now,
        updated_at=now,
        last_accessed=now,
        access_count=used,
        consolidated_from=tuple(memory.id for memory in memories),
        related_ids=(),
        embedding_model=embedding_model,
        policy_version=policy.version,
    )


def consolidated_id(subject: Subject, ids: Iterable[uuid.UUID]) -> uuid.UUID:
    """Return the id of a memory that is made of these."""
    made_of = ",".join(sorted(map(str, ids)))
    return uuid.uuid5(uuid.NAMESPACE_URL, f"afterturn:{subject.key}:consolidated:{made_of}")


@lru_cache(maxsize=4_096)
def sentences_in(text: str) -> int:
    """Return how many sentences a summary has."""
    return len(split_sentences(text))


def _distinct(memories: Sequence[Memory]) -> list[Memory]:
    kept: list[Memory] = []
    for index, memory in enumerate(memories):
        repeated = any(
            _says_all_of(memories[second].summary, memory.summary)
            and (second < index or not _says_all_of(memory.summary, memories[second].summary))
            for second in range(len(memories))
            if second != index and memories[second].occurred_at.date() == memory.occurred_at.date()
        )
        if not repeated:
            kept.append(memory)
    return kept


def _says_all_of(text: str, other: str) -> bool:
    """Return whether a text begins with what another says, and then tells more of it: what is put before or between
    ("wants to", "never") makes it something else, and so may a later denial."""
    words, other_words = in_turn(text), in_turn(other)
    return (
        words[: len(other_words)] == other_words
        and read(text).quantities >= read(other).quantities
        and not any(word.startswith(DENIED) for word in words[len(other_words) :])
    )


def _sentence(text: str) -> str:
    stripped = text.strip()
    return stripped if stripped.endswith((".", "!", "?")) else f"{stripped}."


def in_order(memories: Iterable[Memory]) -> list[Memory]:
    """Return episodes in the order in which they happened."""
    return sorted(memories, key=lambda memory: (memory.occurred_at, memory.said_at, memory.id))


def _most(values: Iterable[T]) -> T:
    return Counter(values).most_common(1)[0][0]


def _union(values: Iterable[tuple[T, ...]]) -> tuple[T, ...]:
    return tuple(dict.fromkeys(element for several in values for element in several))
