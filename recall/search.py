"""Search: the memories that a question is about."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from policies.retrieval import Match, recency, relevances, score
from policies.topics import is_about
from schema import Memory, Status, Subject
from stores.catalog.summaries import Weight
from stores.index.base import Where
from stores.open import Stores

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
    it now, and counts as used, which keeps it from being forgotten. What is on a topic that its subject has blocked is
    left out, however long it has been known.

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
    words = stores.fulltext.read(subjects)
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
    blocked = {subject: stores.catalog.preferences.of(subject).blocked_topics for subject in subjects}
    ranked = sorted(scores, key=lambda id_: (-scores[id_], id_))
    # Whole memories cost the most to read: more of them than are asked for only where some may be left out.
    read = ranked if any(blocked.values()) else ranked[:limit]
    found = {one.id: one for subject in subjects for one in _told_of(subject, read, blocked[subject], stores)}
    best = [Found(found[id_], near.get(id_, farthest), scores[id_]) for id_ in read if id_ in found][:limit]
    for subject in subjects:
        stores.accesses.note(subject, [one.memory.id for one in best if one.memory.subject == subject], now)
    return best


def told_of(subject: Subject, ids: Iterable[uuid.UUID], stores: Stores) -> list[Memory]:
    """Those of a subject's memories that may be told: active, and on no topic that the subject has blocked."""
    return _told_of(subject, ids, stores.catalog.preferences.of(subject).blocked_topics, stores)


def _told_of(subject: Subject, ids: Iterable[uuid.UUID], blocked: Sequence[str], stores: Stores) -> list[Memory]:
    return [
        one
        for one in stores.catalog.memories(subject, ids).values()
        if one.status is Status.ACTIVE and not is_about(one.summary, blocked, (*one.tags, one.category))
    ]


def _score(weight: Weight, relevance: float, stores: Stores, now: datetime) -> float:
    return score(
        relevance=relevance,
        importance=weight.importance,
        recency=recency(weight.last_accessed, now),
        scope_match=1.0,
        trust=weight.trust,
        policy=stores.policy,
    )
