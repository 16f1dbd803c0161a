"""Search: the memories of a subject that a question is about."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from memory.index.base import Where
from memory.schema import Memory, Status, Subject
from memory.stores import Stores
from policies.retrieval import recency, score

_POOL = 50
"""How many of the nearest memories are ranked ("Memory System - Mechanics", section 5, reranking)."""


@dataclass(frozen=True)
class Found:
    """A memory with its cosine to the query and the score by which it is ranked, both at most 1."""

    memory: Memory
    similarity: float
    score: float


def search(subject: Subject, query: str, stores: Stores, *, limit: int = 10, now: datetime) -> list[Found]:
    """The subject's active memories that are nearest to a query, best score first.

    The index only proposes: what is returned is as the catalog has it now. What is returned counts as used, which
    keeps it from being forgotten.

    Raises:
        ValueError: the query is empty.
    """
    if not query.strip():
        raise ValueError("the query is empty; ask for something")
    [vector] = stores.embedder.embed([query])
    hits = stores.index.query(vector, Where(subject), max(_POOL, limit))
    memories = stores.catalog.memories(subject, [hit.memory_id for hit in hits])
    found = [
        Found(memory, hit.similarity, _score(memory, hit.similarity, stores, now))
        for hit in hits
        if (memory := memories.get(hit.memory_id)) and memory.status is Status.ACTIVE
    ]
    best = sorted(found, key=lambda one: (-one.score, one.memory.id))[:limit]
    stores.accesses.note(subject, [one.memory.id for one in best], now)
    return best


def _score(memory: Memory, similarity: float, stores: Stores, now: datetime) -> float:
    return score(
        similarity=similarity,
        importance=memory.importance,
        recency=recency(memory.last_accessed, now),
        scope_match=1.0,
        trust=memory.trust_score,
        policy=stores.policy,
    )
