"""Candidates on their way to a decision: how important they are, their vectors, and the memories that they would be."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass

from memory.context import MemoryContext
from memory.draft import Draft
from policies.authority import USER
from policies.importance import importance, proactivity_weight, source_trust
from schema import Candidate, ForgetRequest, Memory, Visibility, memory_id
from schema.turn import TurnSource
from stores.index.base import Vector


@dataclass(frozen=True)
class Scored:
    """A candidate with its importance, 0 to 1."""

    candidate: Candidate
    importance: float
    is_guess: bool = False
    """True where it leaves alone what is known: what would take the place of something is dropped."""
    approved: bool = False
    """True where a person let it in: it has the user's authority then, whoever said it."""

    @property
    def speaker(self) -> TurnSource:
        """Return by whose authority it stands."""
        return USER if self.approved else self.candidate.source

    @property
    def attributes(self) -> set[tuple[str, str]]:
        """Return the (entity, attribute) pairs of its facts, entities in lower case."""
        return {(fact.entity.casefold(), fact.attribute) for fact in self.candidate.facts if fact.attribute}


@dataclass(frozen=True)
class Origin:
    """Source of a candidate: where and by whom it was said, and the memories it was made of, if of any."""

    conversation_id: str | None
    agent_id: str | None
    author_id: str
    links: tuple[uuid.UUID, ...] = ()
    visibility: Visibility = Visibility.PRIVATE


Item = Scored | ForgetRequest


def score(candidate: Candidate, context: MemoryContext, *, is_guess: bool = False, approved: bool = False) -> Scored:
    """Return a candidate with the importance that it has by itself."""
    own = importance(
        pinned=candidate.pinned,
        trust=source_trust(candidate.source),
        access_count=0,
        valence=candidate.valence,
        intensity=candidate.intensity,
        explicit=candidate.explicit,
        kind=candidate.kind,
        type_=candidate.type,
        policy=context.policy,
    )
    return Scored(candidate, own, is_guess, approved)


def embed(items: Sequence[Item], unindexed: Sequence[Memory], draft: Draft, context: MemoryContext) -> list[Vector]:
    """Return the vectors of the items' texts, in their order.

    The draft is given those of the memories that the index does not have yet, from the same call of the embedder.
    """
    summaries = [item.candidate.summary if isinstance(item, Scored) else item.what for item in items]
    summaries += [memory.summary for memory in unindexed]
    texts = list(dict.fromkeys(summaries))
    by_text = dict(zip(texts, context.embedder.embed(texts), strict=True))
    vectors = [by_text[text] for text in summaries]
    # What the index was not told yet it cannot find: these are compared by their vectors here.
    draft.load(unindexed)
    draft.vectors.update(zip((memory.id for memory in unindexed), vectors[len(items) :], strict=True))
    return vectors[: len(items)]


def new_memory(scored: Scored, origin: Origin, draft: Draft, context: MemoryContext) -> Memory:
    """Return the memory that a candidate becomes where nothing known says it already."""
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
        attachments=candidate.attachments,
        source=candidate.source,
        source_turn_ids=tuple(dict.fromkeys((*candidate.context_turn_ids, candidate.turn_id))),
        conversation_id=origin.conversation_id,
        agent_id=origin.agent_id,
        author_id=origin.author_id,
        visibility=origin.visibility,
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
