"""Resolve: what each candidate does to what is already known."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from memory.context import MemoryContext
from memory.draft import Draft
from memory.erasure.memories import family, remove
from memory.metrics import DECISIONS
from memory.same_fact import PROMPT as SAME_FACT_PROMPT
from memory.same_fact import Check, Verdicts
from policies.consolidation import apart
from policies.dedup import Neighbour, contradicts, decide
from policies.forgetting import is_meant
from policies.importance import importance, proactivity_weight, source_trust
from policies.language.remains import remains
from policies.merge import merge, supersede
from schema import (
    AuditAction,
    Candidate,
    Decision,
    DecisionAction,
    ForgetRequest,
    Memory,
    MemoryType,
    SameFact,
    Status,
    memory_id,
)
from stores.index.base import Vector, Where

_FORGETTABLE = (Status.ACTIVE, Status.PROVISIONAL, Status.SUPERSEDED, Status.ARCHIVED)
_ASKED = "the user asked for it to be forgotten"
_HELD = "it is under legal hold: nothing was forgotten of what the user asked for"
_STILL = "it still holds of a memory that said several things, of which one changed"
_RELATED = 3
"""How many near memories a new one is linked to."""


@dataclass(frozen=True)
class Scored:
    """A candidate with its importance, 0 to 1."""

    candidate: Candidate
    importance: float


@dataclass(frozen=True)
class Origin:
    """Where a candidate was said, who said it, and which memories it was made of, if of any."""

    conversation_id: str | None
    agent_id: str | None
    author_id: str
    links: tuple[uuid.UUID, ...] = ()


Item = Scored | ForgetRequest


def text_of(item: Item) -> str:
    """What is embedded of an item."""
    return item.candidate.summary if isinstance(item, Scored) else item.what


def resolve(
    items: Sequence[Item],
    vectors: Sequence[Vector],
    origins: Mapping[str, Origin],
    draft: Draft,
    context: MemoryContext,
) -> set[str]:
    """Decide every item in order, on the draft. Answers the ids of turns of which something was kept or forgotten.

    `vectors` are those of the items' texts, in their order; `origins` are those of the batch's turns by their ids.
    """
    similarities = [_search(item, vector, draft, context) for item, vector in zip(items, vectors, strict=True)]
    found = {id_ for near in similarities for id_ in near}
    draft.learn(context.catalog.memories(draft.subject, found - draft.read.keys()).values())
    draft.learn(context.catalog.with_attributes(draft.subject, {pair for item in items for pair in _attributes(item)}))
    if context.judge is None:
        return _settle_all(items, similarities, vectors, origins, draft, context, {})
    # Tried on a copy first: so all that words cannot settle is asked in one call, and the decisions are made once.
    unsettled: list[Check] = []
    _settle_all(items, similarities, vectors, origins, draft.trial(), context, {}, unsettled)
    verdicts = context.judge.judge(unsettled)
    if verdicts:
        draft.made_by = draft.made_by | {"check_model": context.judge.name, "check_prompt_version": SAME_FACT_PROMPT}
    return _settle_all(items, similarities, vectors, origins, draft, context, verdicts)


def _settle_all(
    items: Sequence[Item],
    similarities: Sequence[dict[uuid.UUID, float]],
    vectors: Sequence[Vector],
    origins: Mapping[str, Origin],
    draft: Draft,
    context: MemoryContext,
    verdicts: Verdicts,
    unsettled: list[Check] | None = None,
) -> set[str]:
    """As `resolve`, by verdicts that are there. With `unsettled` it is a trial: what no verdict is for goes in there,
    and nothing is counted."""
    effective = set()
    for item, near, vector in zip(items, similarities, vectors, strict=True):
        if isinstance(item, ForgetRequest):
            touched = _forget(item, near, draft, context)
            turn_id = item.turn_id
        else:
            turn_id = item.candidate.turn_id
            neighbours = draft.neighbours(item.candidate.type, near, vector)
            decision = decide(
                item.candidate, neighbours, draft.with_attributes(_attributes(item)), context.policy, draft.now
            )
            if unsettled is None:
                DECISIONS.labels(decision.action).inc()
            if decision.action is DecisionAction.CHECK:
                check = Check(item.candidate, draft.current[decision.targets[0]])
                if unsettled is not None:
                    unsettled.append(check)
                decision = _checked(decision, check, verdicts.get(check.key))
            touched = _settle(item, decision, neighbours, vector, origins[turn_id], draft, context)
        if touched:
            effective.add(turn_id)
    return effective


def _checked(decision: Decision, check: Check, verdict: SameFact | None) -> Decision:
    """The decision that a model's verdict makes of a check; a check stays one where there is none."""
    if verdict is None:
        return decision
    if verdict is SameFact.SAME:
        action, reason = DecisionAction.UPDATE, "the language model says that it is the same fact"
    elif verdict is not SameFact.CHANGED:
        return Decision(action=DecisionAction.CREATE, reason="the language model says that it is another fact")
    elif check.candidate.said_at < check.memory.said_at:
        return Decision(action=DecisionAction.SKIP, reason="an earlier statement does not replace a later one")
    else:
        action, reason = DecisionAction.SUPERSEDE, "the language model says that the fact changed"
    return decision.model_copy(update={"action": action, "reason": reason})


def _search(item: Item, vector: Vector, draft: Draft, context: MemoryContext) -> dict[uuid.UUID, float]:
    if isinstance(item, ForgetRequest):
        where = Where(draft.subject, statuses=_FORGETTABLE)
    else:
        where = Where(draft.subject, types=(item.candidate.type,))
    hits = context.index.query(vector, where, context.policy.memory_neighbors_k)
    return {hit.memory_id: hit.similarity for hit in hits}


def _attributes(item: Item) -> set[tuple[str, str]]:
    if isinstance(item, ForgetRequest):
        return set()
    return {(fact.entity.casefold(), fact.attribute) for fact in item.candidate.facts if fact.attribute}


def _settle(
    scored: Scored,
    decision: Decision,
    neighbours: Sequence[Neighbour],
    vector: Vector,
    origin: Origin,
    draft: Draft,
    context: MemoryContext,
) -> bool:
    candidate = scored.candidate
    if decision.action is DecisionAction.SKIP:
        return False
    if decision.action is DecisionAction.UPDATE:
        existing = draft.current[decision.targets[0]]
        merged = merge(existing, candidate, scored.importance, draft.now, draft.policy_version)
        outdated = _outdated(decision.outdated, candidate, draft, context)
        merged = merged.model_copy(update={"supersedes": (*merged.supersedes, *(one.id for one in outdated))})
        draft.update(merged, vector if merged.summary == candidate.summary else None, decision.reason)
        _supersede(outdated, merged, "another memory that contradicts it was said again", draft, context)
        return True
    created = _new_memory(scored, origin, draft, context)
    targets = decision.targets if decision.action is DecisionAction.SUPERSEDE else ()
    outdated = _outdated(targets, candidate, draft, context)
    created = created.model_copy(update={"supersedes": tuple(one.id for one in outdated)})
    draft.create(_linked(created, neighbours, context), vector, decision.reason)
    _supersede(outdated, created, decision.reason, draft, context)
    return True


def _outdated(ids: Iterable[uuid.UUID], said: Candidate, draft: Draft, context: MemoryContext) -> list[Memory]:
    """What a candidate outdates of these memories.

    Of a consolidated one that are the originals that it contradicts: it is taken apart, and the others stand by
    themselves again. Under legal hold it is archived as it is.
    """
    outdated: list[Memory] = []
    for memory in [draft.current[id_] for id_ in ids]:
        draft.learn(family(context.catalog, draft.subject, [memory.id]).values() if memory.consolidated_from else ())
        originals = [draft.current[id_] for id_ in memory.consolidated_from if id_ in draft.current]
        changed = {one.id for one in originals if contradicts(said, one, context.policy)}
        if not 0 < len(changed) < len(originals):
            outdated.append(memory)
            continue
        if memory.legal_hold:
            draft.archive(memory, "a part of it changed: its parts stand by themselves, and it is under legal hold")
        else:
            draft.delete(memory, "a part of it changed: taken apart")
        for alone in [apart(original, draft.now) for original in originals]:
            if alone.id in changed:
                outdated.append(alone)
            else:
                draft.update(alone, None, "taken out of a consolidated memory", AuditAction.RESTORED)
    return outdated


def _supersede(replaced: Sequence[Memory], by: Memory, reason: str, draft: Draft, context: MemoryContext) -> None:
    for old in replaced:
        draft.supersede(supersede(old, by.id, draft.now), by, reason)
    for old in replaced:
        pairs = {(fact.entity.casefold(), fact.attribute) for fact in old.facts if fact.attribute}
        draft.learn(context.catalog.with_attributes(draft.subject, pairs))
        left = remains(old, by, draft.with_attributes(pairs), draft.name, draft.now, draft.policy_version)
        if left:
            vectors = context.embedder.embed([memory.summary for memory in left])
            for memory, vector in zip(left, vectors, strict=True):
                draft.create(memory, vector, _STILL)


def _linked(memory: Memory, neighbours: Sequence[Neighbour], context: MemoryContext) -> Memory:
    low = context.policy.episodic_check_low if memory.type is MemoryType.EPISODIC else context.policy.semantic_check_low
    related = tuple(n.memory.id for n in neighbours if n.similarity >= low and n.memory.id not in memory.supersedes)
    return memory.model_copy(update={"related_ids": tuple(dict.fromkeys((*memory.related_ids, *related[:_RELATED])))})


def _new_memory(scored: Scored, origin: Origin, draft: Draft, context: MemoryContext) -> Memory:
    candidate = scored.candidate
    trust = source_trust(candidate.source)
    return Memory(
        id=memory_id(draft.subject, candidate.type, candidate.turn_id, candidate.ordinal),
        **draft.subject.model_dump(),
        type=candidate.type,
        kind=candidate.kind,
        category=candidate.category,
        summary=candidate.summary,
        tags=candidate.tags,
        entities=candidate.entities,
        facts=candidate.facts,
        source=candidate.source,
        source_turn_ids=tuple(dict.fromkeys((*candidate.context_turn_ids, candidate.turn_id))),
        conversation_id=origin.conversation_id,
        agent_id=origin.agent_id,
        author_id=origin.author_id,
        related_ids=origin.links,
        importance=scored.importance,
        trust_score=trust,
        confidence=candidate.confidence,
        valence=candidate.valence,
        intensity=candidate.intensity,
        proactivity_weight=proactivity_weight(
            kind=candidate.kind, importance=scored.importance, trust=trust, private=candidate.private
        ),
        explicit=candidate.explicit,
        pinned=candidate.pinned,
        private=candidate.private,
        occurred_at=candidate.occurred_at,
        said_at=candidate.said_at,
        created_at=draft.now,
        updated_at=draft.now,
        last_accessed=draft.now,
        embedding_model=context.embedder.name,
        policy_version=draft.policy_version,
    )


def _forget(request: ForgetRequest, near: dict[uuid.UUID, float], draft: Draft, context: MemoryContext) -> bool:
    meant = [
        memory
        for id_, memory in list(draft.current.items())
        if memory.status in _FORGETTABLE and is_meant(request.what, memory, near.get(id_), context.policy)
    ]
    if meant:
        draft.learn(family(context.catalog, draft.subject, [memory.id for memory in meant]).values())
        ids = _narrowed(meant, request, draft, context)
        aftermath = remove(ids, draft, context, _ASKED)
        if aftermath.held:
            for id_ in aftermath.held:
                draft.refuse(AuditAction.REFUSED, request.turn_id, _HELD, memory_id=id_)
            return False
    waiting = [
        review
        for review in (*draft.reviews, *context.catalog.reviews.page(draft.subject))
        if review.candidate and is_meant(request.what, review.candidate, None, context.policy)
    ]
    for review in waiting:
        draft.withdraw(review, _ASKED)
    return bool(meant or waiting)


def _narrowed(meant: Sequence[Memory], request: ForgetRequest, draft: Draft, context: MemoryContext) -> set[uuid.UUID]:
    """The memories that are meant; of a consolidated one only the originals that are, if any is by itself."""
    ids = set()
    for memory in meant:
        originals = [draft.current[id_] for id_ in memory.consolidated_from if id_ in draft.current]
        alone = {one.id for one in originals if is_meant(request.what, one, None, context.policy)}
        ids |= alone or {memory.id}
    return ids


def scored(candidate: Candidate, context: MemoryContext) -> Scored:
    """A candidate with the importance that it has by itself."""
    return Scored(
        candidate,
        importance(
            pinned=candidate.pinned,
            trust=source_trust(candidate.source),
            access_count=0,
            valence=candidate.valence,
            intensity=candidate.intensity,
            explicit=candidate.explicit,
            policy=context.policy,
        ),
    )


def embed(items: Sequence[Item], unindexed: Sequence[Memory], draft: Draft, context: MemoryContext) -> list[Vector]:
    """Return the vectors of the items' texts, in their order. The draft learns those of what the index does not have
    yet, in the same call of the embedder."""
    wanted = [*map(text_of, items), *(memory.summary for memory in unindexed)]
    texts = list(dict.fromkeys(wanted))
    by_text = dict(zip(texts, context.embedder.embed(texts), strict=True))
    vectors = [by_text[text] for text in wanted]
    # What the index was not told yet it cannot find: these are compared by their vectors here.
    draft.learn(unindexed)
    draft.vectors.update(zip((memory.id for memory in unindexed), vectors[len(items) :], strict=True))
    return vectors[: len(items)]
