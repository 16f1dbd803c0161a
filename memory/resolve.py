"""Resolve: what each candidate does to what is already known."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta

from memory.context import MemoryContext
from memory.correct import correction
from memory.decisions import Comparison, Decided, compare, decide_ahead, decide_on, doubts_of
from memory.draft import Draft
from memory.forget import forget
from memory.metrics import DECISIONS
from memory.naming import mark_named
from memory.review_queue import queue_for_review
from memory.same_fact import PROMPT as SAME_FACT_PROMPT
from memory.same_fact import Check, Verdicts
from memory.scoring import Item, Origin, Scored, new_memory
from memory.superseding import outdated_of, put_in_place_of, tolerance_of
from policies.authority import as_heard, may_replace
from policies.dedup import LATER, Neighbour, beside_what_is_known, is_earlier
from policies.merge import merge, says_more
from schema import (
    Asker,
    AuditAction,
    Candidate,
    Change,
    Decision,
    DecisionAction,
    ForgetRequest,
    Memory,
    MemoryType,
    SameFact,
)
from stores.index.base import Vector

_GUESS = "a guess does not take the place of what is known"
_PUT_RIGHT = "put right within the hour"
_NO_NEWS = "worth a memory only if it changed something"
_CONTRADICTS = "contradicts_more_trusted"
_SAYS_MORE = "it says more than what is known, whose words its source may not change"
_RELATED = 3
"""How many near memories a new one is linked to."""


@dataclass(frozen=True)
class Resolution:
    """Outcome of resolving an item."""

    turn_id: str
    is_effective: bool
    """True where something was kept, held for a person, or forgotten."""
    memory_id: uuid.UUID | None = None
    """The memory that a candidate became or was merged into; None where what is known already says it, or where it
    waits."""
    is_held: bool = False
    """True where it waits for a person: it contradicts what its source may not replace."""


def resolve(
    items: Sequence[Item],
    vectors: Sequence[Vector],
    origins: Mapping[str, Origin],
    draft: Draft,
    context: MemoryContext,
) -> list[Resolution]:
    """Decide every item in order, on the draft, and return what became of each.

    Where there is a language model, all is decided ahead, and the model asked once about what words cannot settle. Then
    each item is done before the next one is looked at; it is decided anew where one before it changed what the decision
    rests on.

    `vectors` are those of the items' texts, in their order; `origins` are those of the batch's turns by their ids.
    """
    comparisons = compare(items, vectors, origins, draft, context)
    ahead: Sequence[Decided | None] = [None] * len(comparisons)
    verdicts: Verdicts = {}
    if context.judge is not None:
        ahead = decide_ahead(comparisons, origins, draft, context)
        verdicts = context.judge.judge(doubts_of(comparisons, ahead))
        if verdicts:
            draft.made_by |= {"check_model": context.judge.name, "check_prompt_version": SAME_FACT_PROMPT}
    return [
        _resolved(comparison, decided, verdicts, origins, draft, context)
        for comparison, decided in zip(comparisons, ahead, strict=True)
    ]


def _resolved(
    comparison: Comparison,
    ahead: Decided | None,
    verdicts: Verdicts,
    origins: Mapping[str, Origin],
    draft: Draft,
    context: MemoryContext,
) -> Resolution:
    """Do an item on the draft, as it was decided `ahead` where the items before it left that standing."""
    item = comparison.item
    if isinstance(item, ForgetRequest):
        origin = origins.get(item.turn_id)
        conversation_id = origin.conversation_id if origin else None
        return Resolution(item.turn_id, forget(item, comparison.vector, draft, context, conversation_id))
    if item.candidate.unless_forgotten and item.candidate.turn_id in draft.hid:
        return Resolution(item.candidate.turn_id, is_effective=False)
    if (marked := mark_named(item.candidate, comparison.vector, draft, context)) is not None:
        first = marked[0].id if marked else None
        return Resolution(item.candidate.turn_id, is_effective=bool(marked), memory_id=first)
    if item.candidate.only_as_news and item.candidate.change is Change.CORRECTS:
        return _corrected(item, origins, draft, context)
    return _kept(item, comparison, ahead, verdicts, origins, draft, context)


def _kept(
    item: Scored,
    comparison: Comparison,
    ahead: Decided | None,
    verdicts: Verdicts,
    origins: Mapping[str, Origin],
    draft: Draft,
    context: MemoryContext,
) -> Resolution:
    candidate = item.candidate
    decided = decide_on(item, comparison, ahead, draft, context)
    decision = beside_what_is_known(candidate, decided.decision)
    if candidate.only_as_news and decision.action is not DecisionAction.SUPERSEDE and not decision.outdated:
        decision = Decision(action=DecisionAction.SKIP, reason=_NO_NEWS)
    DECISIONS.labels(decision.action).inc()
    if decision.action is DecisionAction.CHECK:
        check = decided.check_of(candidate)
        decision = _by_verdict(decision, check, verdicts.get(check.key), tolerance_of(context))
        decision = beside_what_is_known(candidate, decision)
    if item.is_guess and (decision.action is DecisionAction.SUPERSEDE or decision.outdated):
        against = (*decision.outdated, *decision.targets)[:1]
        decision = Decision(action=DecisionAction.SKIP, reason=_GUESS, targets=against)
    decision = _within_authority(item, decision, draft)
    match decision.action:
        case DecisionAction.SUPERSEDE if not _may_replace_all(item, decision.targets, draft):
            origin = origins[candidate.turn_id]
            queue_for_review(candidate, Asker.AUTHORITY, _CONTRADICTS, draft, context, origin, decision.targets)
            return Resolution(candidate.turn_id, is_effective=True, is_held=True)
        case DecisionAction.SKIP:
            if decision.reason in (LATER, _GUESS):
                known = decision.targets[0]
                draft.audit_refusal(AuditAction.REFUSED, candidate.turn_id, decision.reason, memory_id=known)
            return Resolution(candidate.turn_id, is_effective=False)
        case DecisionAction.UPDATE:
            memory = _update(item, decision, comparison.vector, decided.neighbours, draft, context)
        case DecisionAction.CREATE | DecisionAction.CHECK if draft.is_full:
            if candidate.turn_id not in draft.over_quota:
                draft.over_quota.add(candidate.turn_id)
                draft.refuse_by_quota(candidate.turn_id, "memories", draft.room.memories_scope)
            return Resolution(candidate.turn_id, is_effective=False)
        case _:
            new = new_memory(item, origins[candidate.turn_id], draft, context)
            memory = _create(new, candidate, decision, decided.neighbours, comparison.vector, draft, context)
    return Resolution(candidate.turn_id, is_effective=True, memory_id=memory.id)


def _within_authority(item: Scored, decision: Decision, draft: Draft) -> Decision:
    """Return the decision without what the item's source may not do when it says again what is known."""
    if decision.action is not DecisionAction.UPDATE:
        return decision
    existing = draft.current[decision.targets[0]]
    if not may_replace(item.speaker, existing.source) and says_more(existing.summary, item.candidate.summary):
        return Decision(action=DecisionAction.CREATE, reason=_SAYS_MORE, similarity=decision.similarity)
    outdated = tuple(id_ for id_ in decision.outdated if _may_replace_all(item, (id_,), draft))
    return decision.model_copy(update={"outdated": outdated})


def _may_replace_all(item: Scored, ids: Iterable[uuid.UUID], draft: Draft) -> bool:
    return all(may_replace(item.speaker, draft.current[id_].source) for id_ in ids)


def _corrected(item: Scored, origins: Mapping[str, Origin], draft: Draft, context: MemoryContext) -> Resolution:
    """Tell again, with its right value, what a correction is of."""
    origin = origins[item.candidate.turn_id]
    try:
        candidate, wrong = correction(item.candidate, origin, draft, context)
    except LookupError:
        return Resolution(item.candidate.turn_id, is_effective=False)
    if not may_replace(item.speaker, wrong.source):
        return Resolution(item.candidate.turn_id, is_effective=False)
    (vector,) = context.embedder.embed([candidate.summary])
    decision = Decision(action=DecisionAction.SUPERSEDE, reason=_PUT_RIGHT, targets=(wrong.id,))
    if beside_what_is_known(candidate, decision) != decision:
        return Resolution(candidate.turn_id, is_effective=False)
    DECISIONS.labels(decision.action).inc()
    new = new_memory(replace(item, candidate=candidate), origin, draft, context)
    as_wrong = {name: getattr(wrong, name) for name in ("visibility", "author_id", "agent_id", "suppressed")}
    memory = _create(new.model_copy(update=as_wrong), candidate, decision, (), vector, draft, context)
    return Resolution(candidate.turn_id, is_effective=True, memory_id=memory.id)


def _by_verdict(decision: Decision, check: Check, verdict: SameFact | None, tolerance: timedelta) -> Decision:
    """Return the decision that a model's verdict makes of a check; a check stays one where there is none."""
    if verdict is None:
        return decision
    if verdict is SameFact.SAME:
        action, reason = DecisionAction.UPDATE, "the language model says that it is the same fact"
    elif verdict is not SameFact.CHANGED:
        return Decision(action=DecisionAction.CREATE, reason="the language model says that it is another fact")
    elif is_earlier(check.candidate, check.memory, tolerance):
        return Decision(action=DecisionAction.SKIP, reason=LATER, targets=decision.targets)
    else:
        action, reason = DecisionAction.SUPERSEDE, "the language model says that the fact changed"
    return decision.model_copy(update={"action": action, "reason": reason})


def _update(
    scored: Scored,
    decision: Decision,
    vector: Vector,
    neighbours: Sequence[Neighbour],
    draft: Draft,
    context: MemoryContext,
) -> Memory:
    """Merge a candidate into what it says again, which takes the place of what it contradicts."""
    existing = draft.current[decision.targets[0]]
    heard = scored.candidate
    if not may_replace(scored.speaker, existing.source):
        heard = as_heard(heard, existing)
    merged = merge(existing, heard, scored.importance, draft.now, draft.policy_version)
    outdated = outdated_of(decision.outdated, scored.candidate, draft, context)
    merged = merged.model_copy(update={"supersedes": (*merged.supersedes, *(memory.id for memory in outdated))})
    draft.update(merged, vector if merged.summary == scored.candidate.summary else None, decision.reason)
    left = _left(neighbours)
    put_in_place_of(outdated, merged, "another memory that contradicts it was said again", draft, context, left=left)
    return merged


def _create(
    memory: Memory,
    candidate: Candidate,
    decision: Decision,
    neighbours: Sequence[Neighbour],
    vector: Vector,
    draft: Draft,
    context: MemoryContext,
) -> Memory:
    """Add a memory, linked to what is near, which takes the place of what it supersedes."""
    targets = decision.targets if decision.action is DecisionAction.SUPERSEDE else ()
    outdated = outdated_of(targets, candidate, draft, context)
    memory = memory.model_copy(update={"supersedes": tuple(old.id for old in outdated)})
    draft.create(_linked(memory, neighbours, context), vector, decision.reason)
    # A model and a correction tell the new state whole: nothing is to be rescued of what they replace.
    keeps_all = candidate.by_model or candidate.change is Change.CORRECTS
    left = _left(neighbours)
    put_in_place_of(outdated, memory, decision.reason, draft, context, keeps_remainder=not keeps_all, left=left)
    return memory


def _left(neighbours: Sequence[Neighbour]) -> dict[uuid.UUID, str]:
    """Return what is left of the neighbours of which the rest is over."""
    return {n.memory.id: n.left for n in neighbours if n.left is not None}


def _linked(memory: Memory, neighbours: Sequence[Neighbour], context: MemoryContext) -> Memory:
    low = context.policy.episodic_check_low if memory.type is MemoryType.EPISODIC else context.policy.semantic_check_low
    related = tuple(n.memory.id for n in neighbours if n.similarity >= low and n.memory.id not in memory.supersedes)
    return memory.model_copy(update={"related_ids": tuple(dict.fromkeys((*memory.related_ids, *related[:_RELATED])))})
