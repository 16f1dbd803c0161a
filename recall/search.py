"""Search: the memories that a question is about."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from memory.catalog.summaries import Weight
from memory.index.base import Where
from memory.schema import Memory, Status, Subject
from memory.stores import Stores
from policies.retrieval import Match, recency, relevances, score

_POOL = 100
"""How many hits by vector and how many by words are looked at; S3 Vectors gives no more at a time."""
_RANKED = 50
"""How many of the most relevant are ranked ("Memory System - Mechanics", section 5, reranking)."""


@dataclass(frozen=True)
class Found:
    """A memory with its cosine to the query and the score by which it is ranked, both at most 1.

    `similarity` is not measured where only words found the memory: then it is the least that the vectors found.
    """

    memory: Memory
    similarity: float
    score: float


def search(subject: Subject, query: str, stores: Stores, *, limit: int = 10, now: datetime) -> list[Found]:
    """The subject's active memories that answer a query best, best score first: see `search_all`."""
    return search_all([subject], query, stores, limit=limit, now=now)


def search_all(
    subjects: Sequence[Subject], query: str, stores: Stores, *, limit: int = 10, now: datetime
) -> list[Found]:
    """The active memories of several subjects of one tenant that answer a query best, best score first.

    By meaning and by words: the index and the lexicon each propose, and what both say is weighed on one scale for all
    subjects. The caller answers for the asker's right to read every one of them. What is returned is as the catalog has
    it now, and counts as used, which keeps it from being forgotten.

    Raises:
        ValueError: the query is empty, or the subjects are of several tenants.
    """
    if not query.strip():
        raise ValueError("the query is empty; ask for something")
    if len({subject.tenant_id for subject in subjects}) > 1:
        raise ValueError("the subjects are of several tenants; ask for those of one")
    [vector] = stores.embedder.embed([query])
    pool = max(_POOL, limit)
    near = {
        hit.memory_id: hit.similarity
        for subject in subjects
        for hit in stores.index.query(vector, Where(subject), pool)
    }
    words = stores.lexicon.read(subjects)
    worded = words.best(query, pool, stores.policy)
    summaries = words.summaries(dict.fromkeys([*near, *worded]))
    farthest = min((near[id_] for id_ in summaries if id_ in near), default=0.0)
    matches = [
        Match(near.get(id_, farthest), worded.get(id_, 0.0), said.conversation_id, said.said_at)
        for id_, said in summaries.items()
    ]
    relevant = dict(zip(summaries, relevances(matches, stores.policy), strict=True))
    likeliest = sorted(relevant, key=lambda id_: (-relevant[id_], id_))[: max(_RANKED, limit)]
    scores = {
        id_: _score(weight, relevant[id_], stores, now)
        for subject in subjects
        for id_, weight in stores.catalog.weights(subject, likeliest).items()
    }
    ranked = sorted(scores, key=lambda id_: (-scores[id_], id_))[:limit]
    found = {memory.id: memory for memory in _read(subjects, ranked, stores)}
    best = [Found(found[id_], near.get(id_, farthest), scores[id_]) for id_ in ranked if id_ in found]
    for subject in subjects:
        stores.accesses.note(subject, [one.memory.id for one in best if one.memory.subject == subject], now)
    return best


def _read(subjects: Sequence[Subject], ids: Sequence[uuid.UUID], stores: Stores) -> list[Memory]:
    memories = [memory for subject in subjects for memory in stores.catalog.memories(subject, ids).values()]
    return [memory for memory in memories if memory.status is Status.ACTIVE]


def _score(weight: Weight, relevance: float, stores: Stores, now: datetime) -> float:
    return score(
        relevance=relevance,
        importance=weight.importance,
        recency=recency(weight.last_accessed, now),
        scope_match=1.0,
        trust=weight.trust,
        policy=stores.policy,
    )
