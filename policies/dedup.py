"""What becomes of a candidate: a new memory, an update of one, a changed fact, a question, or nothing."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from policies.language.wording import read
from policies.merge import says_more
from policies.sameness import Statement, compare, compare_facts, weighed
from schema import (
    Candidate,
    Decision,
    DecisionAction,
    Memory,
    MemoryType,
    Policy,
    SameFact,
    memory_id,
)

_PLAIN_ATTRIBUTE: Final = re.compile(r"[a-z][a-z_]{0,39}")
_IMPLIED: Final = frozenset({"marital_status"})
"""Attributes that another one of the same sentence says: who has a wife is married."""


@dataclass(frozen=True, slots=True)
class Neighbour:
    """An active memory near a candidate, of the same subject and type. `similarity` is their cosine."""

    memory: Memory
    similarity: float


@dataclass(frozen=True, slots=True)
class _Judged:
    memory: Memory
    similarity: float | None
    said: SameFact


def decide(
    candidate: Candidate,
    neighbours: Sequence[Neighbour],
    same_attribute: Sequence[Memory],
    policy: Policy,
    now: datetime,
) -> Decision:
    """What to do with a candidate.

    `neighbours` are active memories of the same subject and type, best first; `same_attribute` are the subject's
    active memories with a fact of the same (entity, attribute), whatever their cosine. The same fact updates, also
    when it is only probably the same (UNSURE) but the cosine is at the type's auto threshold; a changed one
    supersedes every memory that it contradicts; one that words cannot settle in the check range is asked about.
    What says one memory again and contradicts another does both: it updates the one and outdates the other, so that
    never two memories that contradict each other outlive a statement about them.
    Source: "S3 Vectors Memory Implementation Plan (V1)", "Create vs Update decision policy".

    An earlier statement never replaces a later one: when a contradicting memory was said later, the candidate is
    skipped. The same candidate again updates what it made, or is skipped once that was superseded.
    """
    judged = _judge(candidate, neighbours, same_attribute, policy, now)
    auto, low = _thresholds(candidate.type, policy)
    same = [j for j in judged if j.said is SameFact.SAME]
    changed = [j for j in judged if j.said is SameFact.CHANGED]
    if changed and (reason := _why_not(candidate, changed)):
        return Decision(action=DecisionAction.SKIP, reason=reason)
    if same:
        return _on_one(DecisionAction.UPDATE, same[0], "the same fact", outdated=changed)
    if changed:
        return _change(candidate, changed)
    unsure = [j for j in judged if j.said is SameFact.UNSURE and j.similarity is not None and j.similarity >= low]
    near = [j for j in unsure if (j.similarity or 0.0) >= auto]
    if near:
        return _on_one(
            DecisionAction.UPDATE, near[0], "nothing conflicts and the similarity is above the automatic one"
        )
    if unsure:
        return _on_one(DecisionAction.CHECK, unsure[0], "similar, and the words do not tell")
    reason = "nothing similar" if not judged else "similar memories say something else"
    return Decision(action=DecisionAction.CREATE, reason=reason)


def contradicts(candidate: Candidate, memory: Memory, policy: Policy) -> bool:
    """Whether a candidate and a memory cannot both hold now, by their words and facts."""
    return compare(Statement.of(candidate), Statement.of(memory), policy) is SameFact.CHANGED


def _judge(
    candidate: Candidate,
    neighbours: Sequence[Neighbour],
    same_attribute: Sequence[Memory],
    policy: Policy,
    now: datetime,
) -> list[_Judged]:
    """The memories that may be the candidate's, with what the test says of each, most similar first."""
    statement = Statement.of(candidate)
    auto, low = _thresholds(candidate.type, policy)
    judged = []
    for neighbour in neighbours:
        memory = neighbour.memory
        if neighbour.similarity < low and memory.summary != candidate.summary:
            continue
        if not _within_window(candidate, memory, policy, now):
            continue
        other = Statement.of(memory)
        said = compare(statement, other, policy)
        if memory.category != candidate.category and said is not SameFact.SAME:
            said = _across_categories(candidate, memory)
        said = weighed(said, statement, other, neighbour.similarity, auto)
        if said is not SameFact.CHANGED and _would_lose(candidate, memory):
            said = SameFact.DIFFERENT
        judged.append(_Judged(memory, neighbour.similarity, said))
    seen = {j.memory.id for j in judged}
    similarity = {n.memory.id: n.similarity for n in neighbours}
    for memory in same_attribute:
        if memory.id in seen:
            continue
        said = compare_facts(candidate.facts, memory.facts)
        if said is SameFact.SAME and memory.type is candidate.type:
            said = compare(statement, Statement.of(memory), policy)
            if said is not SameFact.CHANGED and _would_lose(candidate, memory):
                said = SameFact.DIFFERENT
        elif said is SameFact.SAME:
            said = SameFact.DIFFERENT
        if said is not SameFact.UNSURE:
            judged.append(_Judged(memory, similarity.get(memory.id), said))
    return judged


def _would_lose(candidate: Candidate, memory: Memory) -> bool:
    """Whether a memory that the candidate is merged into would not say a value that the candidate states: the memory's
    own words stay, unless the candidate has all of them."""
    if candidate.summary == memory.summary or says_more(memory.summary, candidate.summary):
        return False
    known = {(fact.entity.casefold(), fact.attribute) for fact in memory.facts}
    words = read(memory.summary)
    for fact in candidate.facts:
        if not fact.attribute or fact.attribute in _IMPLIED or (fact.entity.casefold(), fact.attribute) in known:
            continue
        value = read(fact.object)
        if not (value.words <= words.words and value.quantities <= words.quantities):
            return True
    return False


def _across_categories(candidate: Candidate, memory: Memory) -> SameFact:
    by_facts = compare_facts(candidate.facts, memory.facts)
    return by_facts if by_facts is SameFact.CHANGED else SameFact.DIFFERENT


def _within_window(candidate: Candidate, memory: Memory, policy: Policy, now: datetime) -> bool:
    """Episodes can be one only if the memory is fresh (the plan's `created_at`) and both tell of the same days, so
    that a replay of old turns, all created just now, does not merge what lies months apart."""
    if candidate.type is not MemoryType.EPISODIC:
        return True
    window = timedelta(hours=policy.episodic_merge_window_hours)
    return now - memory.created_at <= window and abs(candidate.occurred_at - memory.occurred_at) <= window


def _why_not(candidate: Candidate, changed: list[_Judged]) -> str | None:
    """Why what contradicts the candidate stays as it is, if it does."""
    if any(
        memory_id(j.memory.subject, candidate.type, candidate.turn_id, candidate.ordinal) in j.memory.supersedes
        for j in changed
    ):
        return "this statement was superseded before"
    if any(candidate.said_at < j.memory.said_at for j in changed):
        return "an earlier statement does not replace a later one"
    return None


def _change(candidate: Candidate, changed: list[_Judged]) -> Decision:
    similarities = [j.similarity for j in changed if j.similarity is not None]
    return Decision(
        action=DecisionAction.SUPERSEDE,
        reason=f"{_what_changed(candidate, changed)} changed",
        targets=tuple(j.memory.id for j in changed),
        similarity=max(similarities, default=None),
    )


def _what_changed(candidate: Candidate, changed: list[_Judged]) -> str:
    for fact in candidate.facts:
        if fact.attribute and _PLAIN_ATTRIBUTE.fullmatch(fact.attribute):
            for j in changed:
                if compare_facts((fact,), j.memory.facts) is SameFact.CHANGED:
                    return fact.attribute
    return "the fact"


def _on_one(action: DecisionAction, judged: _Judged, reason: str, outdated: Sequence[_Judged] = ()) -> Decision:
    return Decision(
        action=action,
        reason=reason,
        targets=(judged.memory.id,),
        outdated=tuple(j.memory.id for j in outdated),
        similarity=judged.similarity,
    )


def _thresholds(type_: MemoryType, policy: Policy) -> tuple[float, float]:
    if type_ is MemoryType.EPISODIC:
        return policy.episodic_auto_update, policy.episodic_check_low
    return policy.semantic_auto_update, policy.semantic_check_low
