"""Are two statements the same fact? By words and facts, beside the cosine, which cannot tell."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Final, Self

from memory.schema import Candidate, Entity, Fact, Memory, MemoryType, Policy, SameFact
from policies import lexicon
from policies.wording import Quantity, Wording, content, read

_NEAR_EQUAL: Final = 0.8
_SAME_FRAME: Final = 0.6
_UNRELATED: Final = 0.25


@dataclass(frozen=True, slots=True)
class Statement:
    """What candidates and memories have in common when they are compared."""

    summary: str
    entities: tuple[Entity, ...]
    facts: tuple[Fact, ...]
    category: str
    type: MemoryType
    occurred_at: datetime

    @classmethod
    def of(cls, said: Candidate | Memory) -> Self:
        return cls(said.summary, said.entities, said.facts, said.category, said.type, said.occurred_at)


def compare(a: Statement, b: Statement, policy: Policy) -> SameFact:
    """Whether two statements say the same; the order of the two does not matter.

    SAME: one may be merged into the other. CHANGED: they speak of the same thing and cannot both hold now.
    DIFFERENT: both may stand. UNSURE: the words do not tell.

    Source: DESIGN, section 6, and "S3 Vectors Memory Implementation Plan (V1)", "Create vs Update decision policy":
    shared names bias to the same, another category away from it.
    """
    by_facts = compare_facts(a.facts, b.facts)
    if a.summary == b.summary:
        said = SameFact.SAME
    elif by_facts is SameFact.CHANGED:
        return by_facts
    else:
        said = conflict(a.summary, b.summary) or _agreement(a, b, by_facts, policy)
    return _another_episode(a, b, said, policy)


def _agreement(a: Statement, b: Statement, by_facts: SameFact, policy: Policy) -> SameFact:
    if by_facts is SameFact.SAME:
        return by_facts
    said = likeness(a.summary, b.summary)
    if said is SameFact.UNSURE and policy.memory_enable_entity_heuristics:
        return _biased(a, b, policy)
    return said


def compare_facts(a: tuple[Fact, ...], b: tuple[Fact, ...]) -> SameFact:
    """What the triples alone say: CHANGED, SAME or UNSURE."""
    found = SameFact.UNSURE
    for one in a:
        for other in b:
            if one.entity.casefold() != other.entity.casefold():
                continue
            same_object = _same_object(one.object, other.object)
            opposed = _opposed_verbs(one.verb, other.verb)
            if same_object and opposed:
                return SameFact.CHANGED
            if one.attribute and other.attribute and one.attribute.casefold() == other.attribute.casefold():
                if not same_object:
                    return SameFact.CHANGED
                found = SameFact.SAME
    return found


def _same_object(a: str, b: str) -> bool:
    if a.casefold() == b.casefold():
        return True
    one, other = read(a), read(b)
    return (
        one.quantities == other.quantities
        and bool(one.words and other.words)
        and (one.words <= other.words or other.words <= one.words)
    )


def _opposed_verbs(a: str, b: str) -> bool:
    one, other = read(a), read(b)
    return bool(
        (one.negations + other.negations) % 2
        or one.ended != other.ended
        or _oppose(one.words - other.words, other.words - one.words)
    )


def compare_texts(a: str, b: str) -> SameFact:
    """What the words alone say."""
    return SameFact.SAME if a == b else conflict(a, b) or likeness(a, b)


@lru_cache(maxsize=16_384)
def conflict(a: str, b: str) -> SameFact | None:
    """CHANGED or DIFFERENT where numbers, polarity, names or rival words stand against each other; else None."""
    one, other = read(a), read(b)
    only_one, only_other = one.words - other.words, other.words - one.words
    frame = _frame(one, other)
    if (one.negations + other.negations) % 2 or one.ended != other.ended or _oppose(only_one, only_other):
        return SameFact.CHANGED if frame >= _SAME_FRAME else SameFact.DIFFERENT
    if _numbers_conflict(one.quantities, other.quantities):
        return SameFact.CHANGED if frame >= _SAME_FRAME else SameFact.DIFFERENT
    shared_cue = bool(one.cues & other.cues)
    if one.names & only_one and other.names & only_other:
        return SameFact.CHANGED if shared_cue else SameFact.DIFFERENT
    if _rival(only_one, only_other):
        return SameFact.CHANGED if shared_cue and frame >= _SAME_FRAME else SameFact.DIFFERENT
    return None


@lru_cache(maxsize=16_384)
def likeness(a: str, b: str) -> SameFact:
    """SAME, UNSURE or DIFFERENT by how many content words are shared."""
    one, other = read(a).words, read(b).words
    if not one or not other:
        return SameFact.UNSURE
    common = len(one & other)
    if common == min(len(one), len(other)) or common / len(one | other) >= _NEAR_EQUAL:
        return SameFact.SAME
    return SameFact.UNSURE if common / min(len(one), len(other)) >= _UNRELATED else SameFact.DIFFERENT


def _frame(one: Wording, other: Wording) -> float:
    """How much of what is not a value the shorter one shares with the other, from 0 to 1."""
    a, b = one.words - one.names, other.words - other.names
    smaller = min(len(a), len(b))
    return len(a & b) / smaller if smaller else 1.0


def _numbers_conflict(a: frozenset[Quantity], b: frozenset[Quantity]) -> bool:
    return any(
        one.unit == other.unit or not one.unit or not other.unit
        for one in a - b
        for other in b - a
        if one.value != other.value
    )


_OPPOSITES: Final = tuple(
    (frozenset(content(w) for w in left.split()), frozenset(content(w) for w in right.split()))
    for left, right in lexicon.OPPOSITES
)
_CLASSES: Final = {content(word): name for name, words in lexicon.RIVALS.items() for word in words.split()}


def _oppose(a: frozenset[str], b: frozenset[str]) -> bool:
    return any((a & left and b & right) or (a & right and b & left) for left, right in _OPPOSITES)


def _rival(a: frozenset[str], b: frozenset[str]) -> bool:
    return bool({_CLASSES[w] for w in a if w in _CLASSES} & {_CLASSES[w] for w in b if w in _CLASSES})


def _biased(a: Statement, b: Statement, policy: Policy) -> SameFact:
    if a.category != b.category:
        return SameFact.DIFFERENT
    one = {content(e.text.casefold()) for e in a.entities}
    other = {content(e.text.casefold()) for e in b.entities}
    if one and other and len(one & other) / len(one | other) >= policy.entity_overlap_same:
        return SameFact.SAME if _frame(read(a.summary), read(b.summary)) >= _SAME_FRAME else SameFact.UNSURE
    return SameFact.UNSURE


def _another_episode(a: Statement, b: Statement, said: SameFact, policy: Policy) -> SameFact:
    """Alike episodes further apart than the window are two episodes."""
    if MemoryType.EPISODIC not in (a.type, b.type) or said is SameFact.CHANGED:
        return said
    window = timedelta(hours=policy.episodic_merge_window_hours)
    return said if abs(a.occurred_at - b.occurred_at) <= window else SameFact.DIFFERENT
