"""Decide on the candidates of a batch, beside what is known: nothing is done."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Final

from memory.attributes import prototypes_of, with_attributes
from memory.context import MemoryContext
from memory.draft import Draft
from memory.endings import COMPARABLE, Message, messages_of, with_endings
from memory.forget import FORGETTABLE
from memory.same_fact import Check
from memory.scoring import Item, Origin, Scored, new_memory
from memory.superseding import is_for_the_same, tolerance_of
from policies.access import shared_labels
from policies.dedup import Neighbour, decide, may_end, tells_news
from policies.language.languages import ENGLISH
from policies.language.wording import READ_AS, called
from policies.replaced import as_told
from schema import Candidate, Decision, DecisionAction, ForgetRequest, Memory, MemoryType
from stores.index.base import Vector, Where

_READ_BESIDE: Final = 4
"""How many near memories what may be a change is read beside."""


@dataclass(frozen=True)
class Comparison:
    """An item with the vector of its text, and the cosines of known memories to it."""

    item: Item
    vector: Vector
    similarities: dict[uuid.UUID, float]
    vectors: dict[uuid.UUID, Vector]
    """Those of the known memories, where the item may be news of one of them."""
    origin: Origin | None
    """Whose the item would be: it is compared with what the same may see alone. None of a wish to forget."""
    message: Message | None = None
    """The message that the item came of, where it is read beside what is known."""


@dataclass(frozen=True)
class _Grounds:
    """Memories that the decision on a candidate rests on: it stands for as long as they do."""

    near: Sequence[Neighbour]
    same_attribute: Sequence[Memory]
    named: Sequence[Memory]
    """Those that the candidate says that it takes the place of."""

    @property
    def memories(self) -> dict[uuid.UUID, Memory]:
        """Return all of them, by id."""
        near = (neighbour.memory for neighbour in self.near)
        return {memory.id: memory for memory in (*near, *self.same_attribute, *self.named)}


@dataclass(frozen=True)
class Decided:
    """The decision on a candidate, with what it rests on."""

    grounds: _Grounds
    neighbours: Sequence[Neighbour]
    """Those near, with what the cross-encoder read of them."""
    decision: Decision

    @property
    def endings(self) -> dict[str, float]:
        """Return how likely the candidate ends what was read beside it, by summary."""
        return {n.memory.summary: n.ending for n in self.neighbours if n.ending is not None}

    def check_of(self, candidate: Candidate) -> Check:
        """Return what a decision to check is in doubt about."""
        return Check(candidate, self.grounds.memories[self.decision.targets[0]])


def compare(
    items: Sequence[Item],
    vectors: Sequence[Vector],
    origins: Mapping[str, Origin],
    draft: Draft,
    context: MemoryContext,
) -> list[Comparison]:
    """Return items with what is near them, in their order; the draft gets to know it. See `memory.resolve.resolve`."""
    sources = [None if isinstance(item, ForgetRequest) else origins[item.candidate.turn_id] for item in items]
    searched = [
        _search(item, vector, origin, draft, context)
        for item, vector, origin in zip(items, vectors, sources, strict=True)
    ]
    messages = messages_of(items, origins, draft, context)
    near_ids = {id_ for similarities in searched for id_ in similarities}
    near_ids |= {id_ for message in messages.values() for id_ in message.similarities}
    near_ids |= {id_ for item in items if isinstance(item, Scored) for id_ in item.candidate.replaces}
    draft.load(context.catalog.memories(draft.subject, near_ids - draft.read.keys()).values())
    pairs = {pair for item in items if isinstance(item, Scored) for pair in item.attributes}
    draft.load(context.catalog.facts.with_attributes(draft.subject, pairs))
    return [
        Comparison(
            item,
            vector,
            similarities,
            _vectors_of(item, similarities, draft, context),
            origin,
            messages.get(item.candidate.turn_id) if isinstance(item, Scored) else None,
        )
        for item, vector, similarities, origin in zip(items, vectors, searched, sources, strict=True)
    ]


def decide_ahead(
    comparisons: Sequence[Comparison], origins: Mapping[str, Origin], draft: Draft, context: MemoryContext
) -> list[Decided | None]:
    """Decide the candidates as far as can be before any is done: each beside what is known, and what those before it
    in the batch would become. Return None for an item that is no candidate of its own."""
    ahead: list[Decided | None] = []
    earlier: list[tuple[Memory, Vector]] = []
    for comparison in comparisons:
        item = comparison.item
        if isinstance(item, ForgetRequest) or item.candidate.only_as_news:
            ahead.append(None)
            continue
        decided = decide_on(item, comparison, None, draft, context, earlier)
        ahead.append(decided)
        if decided.decision.action not in (DecisionAction.UPDATE, DecisionAction.SKIP):
            new = new_memory(item, origins[item.candidate.turn_id], draft, context)
            earlier.append((new, comparison.vector))
    return ahead


def decide_on(
    scored: Scored,
    comparison: Comparison,
    ahead: Decided | None,
    draft: Draft,
    context: MemoryContext,
    earlier: Sequence[tuple[Memory, Vector]] = (),
) -> Decided:
    """Return the decision on a candidate: the one that was made `ahead`, if what it rests on is as it was."""
    grounds = _grounds(scored, comparison, draft, context, earlier)
    if ahead is not None and ahead.grounds == grounds:
        return ahead
    candidate, tolerance = scored.candidate, tolerance_of(context)
    neighbours: Sequence[Neighbour] = grounds.near
    if candidate.language != ENGLISH:
        neighbours = _with_endings(candidate, neighbours, ahead.endings if ahead else {}, draft.name or "", context)
    elif comparison.message is not None and not candidate.by_model:
        neighbours = with_endings(candidate, neighbours, comparison.message, comparison.origin, draft, context, earlier)
    decision = decide(candidate, neighbours, grounds.same_attribute, context.policy, draft.now, draft.name, tolerance)
    if candidate.by_model:
        decision = as_told(candidate, decision, grounds.memories, draft.read, tolerance)
    return Decided(grounds, neighbours, decision)


def doubts_of(comparisons: Sequence[Comparison], ahead: Sequence[Decided | None]) -> list[Check]:
    """Return what words do not settle: candidates, each with the memory that it may tell again."""
    return [
        decided.check_of(comparison.item.candidate)
        for comparison, decided in zip(comparisons, ahead, strict=True)
        if decided and decided.decision.action is DecisionAction.CHECK and isinstance(comparison.item, Scored)
    ]


def _search(
    item: Item, vector: Vector, origin: Origin | None, draft: Draft, context: MemoryContext
) -> dict[uuid.UUID, float]:
    if isinstance(item, ForgetRequest) or origin is None:
        where = Where(draft.subject, statuses=FORGETTABLE)
    else:
        shared = shared_labels(origin.visibility, origin.author_id, origin.agent_id)
        where = Where(draft.subject, types=_comparable(item.candidate.type), seen_by=shared)
    hits = context.index.query(vector, where, context.policy.memory_neighbors_k)
    return {hit.memory_id: hit.similarity for hit in hits}


def _comparable(type_: MemoryType) -> tuple[MemoryType, ...]:
    """Return the types of memories whose place a candidate may take: an event can end a fact, and a fact an event."""
    return (type_,) if type_ is MemoryType.PROCEDURAL else COMPARABLE


def _vectors_of(item: Item, ids: Iterable[uuid.UUID], draft: Draft, context: MemoryContext) -> dict[uuid.UUID, Vector]:
    if isinstance(item, ForgetRequest) or not tells_news(item.candidate):
        return {}
    keys = [memory.index_key for id_ in ids if (memory := draft.current.get(id_))]
    return {entry.memory_id: entry.vector for entry in context.index.fetch(draft.subject, keys)} if keys else {}


def _grounds(
    scored: Scored,
    comparison: Comparison,
    draft: Draft,
    context: MemoryContext,
    earlier: Sequence[tuple[Memory, Vector]],
) -> _Grounds:
    candidate, vector, origin = scored.candidate, comparison.vector, comparison.origin
    of_batch = {memory.id: memory for memory, _ in earlier}
    neighbours = draft.neighbours(_comparable(candidate.type), comparison.similarities, vector, earlier)
    near = [neighbour for neighbour in neighbours if is_for_the_same(neighbour.memory, origin)]
    if near and tells_news(candidate):
        vectors = {**comparison.vectors, **draft.vectors, **{memory.id: of_memory for memory, of_memory in earlier}}
        near = with_attributes(near, vector, vectors, prototypes_of(context.embedder))
    same_attribute = [
        memory
        for memory in draft.with_attributes(scored.attributes, of_batch.values())
        if is_for_the_same(memory, origin)
    ]
    known = draft.current | of_batch
    named = [known[id_] for id_ in candidate.replaces if id_ in known and is_for_the_same(known[id_], origin)]
    return _Grounds(near, same_attribute, named)


def _with_endings(
    candidate: Candidate,
    near: Sequence[Neighbour],
    endings: Mapping[str, float],
    name: str,
    context: MemoryContext,
) -> list[Neighbour]:
    """Return the neighbours of a candidate in another language than English with how likely it ends what each tells, of
    which `endings` were read already, by summary; a language model says itself what ends. All users are read under one
    name: with another name the same words would get other chances."""
    if context.pair_reader is None or candidate.by_model:
        return list(near)
    tolerance = tolerance_of(context)
    may_be = (n for n in near if may_end(candidate, n, tolerance))
    beside = {n.memory.id: n.memory.summary for n in islice(may_be, _READ_BESIDE)}
    unread = [summary for summary in beside.values() if summary not in endings]
    said = called(candidate.summary, name, READ_AS)
    read = context.pair_reader.chances([(called(summary, name, READ_AS), said) for summary in unread])
    known = {**endings, **dict(zip(unread, read, strict=True))}
    return [replace(n, ending=known[beside[n.memory.id]]) if n.memory.id in beside else n for n in near]
