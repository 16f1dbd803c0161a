"""Excerpts of documents that answer a question, for whom may see them."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from policies.access import may_see
from policies.topics import is_about
from recall.audience import Audience, audiences
from schema import Chunk, KeptDocument, Policy, Principal, Seen, Subject, Visibility
from stores.fulltext import Words
from stores.index.base import Vector, Where
from stores.open import Stores

_POOL: Final = 50
"""How many chunks by vector and how many by words are looked at, of each that is seen (S3 Vectors gives 100)."""


@dataclass(frozen=True)
class Excerpt:
    """A part of a document, or several that follow each other, with how well it answers, 0 to 1.

    `number` is that of its first part in the document, `page` that on which it begins, both from 1. `similarity` is the
    best cosine of its parts, and `evidence` what decided that it is told.
    """

    document_id: str
    subject: Subject
    title: str | None
    source_ref: str | None
    number: int
    page: int | None
    content: str
    chunk_ids: tuple[uuid.UUID, ...]
    start: int
    end: int
    score: float
    similarity: float
    evidence: float
    is_textbook: bool


@dataclass(frozen=True)
class _Found:
    chunk: Chunk
    audience: Audience
    similarity: float
    words: float
    covered: float


def find_excerpts(
    principal: Principal | None,
    subjects: Sequence[Subject],
    question: str,
    stores: Stores,
    *,
    limit: int | None = None,
    relevant_only: bool = True,
) -> list[Excerpt]:
    """Return the excerpts of documents of several subjects of one tenant, and of its textbooks, that answer a question
    best, best first; `limit` chunks at most (`DOCUMENT_TOP_K` unless it is given), those that follow each other joined.

    By meaning and by words, of what the principal may see alone (all of it where it is None: an operator), as the
    catalog has it now. What does not answer is not told, unless `relevant_only` is False.

    Raises:
        ValueError: the question is empty, or the subjects are of several tenants.
        NotAMember, NotAllowed: the principal may see nothing of one of the subjects.
    """
    if not question.strip():
        raise ValueError("the question is empty; ask for something")
    if len({subject.tenant_id for subject in subjects}) > 1:
        raise ValueError("the subjects are of several tenants; ask for those of one")
    policy = stores.policy
    most = policy.document_top_k if limit is None else limit
    asked = [*audiences(principal, subjects, stores), *_textbooks(subjects, stores)]
    words = {audience.subject: stores.chunk_words.read([audience.subject]) for audience in asked}
    held = [audience for audience in asked if not words[audience.subject].is_empty]
    if not held or most <= 0:
        return []
    [vector] = stores.embedder.embed([question])
    found = [one for audience in held for one in _look(audience, question, vector, words[audience.subject], stores)]
    scored = sorted(_scored(found, policy), key=lambda pair: (-pair[1], pair[0].chunk.id))
    told = [
        (one, score)
        for one, score in scored
        if not relevant_only or _evidence(one, policy) >= policy.retrieval_excerpt_relevant
    ]
    return _joined(told[:most], policy, stores)


def _textbooks(subjects: Sequence[Subject], stores: Stores) -> Iterator[Audience]:
    """Yield the tenant's textbook collections: what is public there is for all who ask."""
    for name in stores.settings.textbooks:
        textbook = Subject(tenant_id=subjects[0].tenant_id, subject_id=name) if subjects else None
        if textbook is not None and textbook not in subjects:
            yield Audience(textbook, (Seen((Visibility.PUBLIC,)),), ())


def _look(audience: Audience, question: str, vector: Vector, words: Words, stores: Stores) -> list[_Found]:
    near: dict[uuid.UUID, float] = {}
    for where in _wheres(audience):
        near |= {hit.memory_id: hit.similarity for hit in stores.chunks.query(vector, where, _POOL)}
    worded = words.best(question, _POOL, stores.policy)
    chunks = {
        id_: chunk
        for id_, chunk in stores.catalog.documents.chunks(audience.subject, [*near, *worded]).items()
        # Once more, and by what the document says now: the index may not have heard of a new label.
        if (audience.seen is None or may_see(audience.seen, chunk.labels))
        and not is_about(chunk.content, audience.blocked)
    }
    covered = words.coverage(question, chunks)
    farthest = min((near[id_] for id_ in chunks if id_ in near), default=0.0)
    return [
        _Found(chunk, audience, near.get(id_, farthest), worded.get(id_, 0.0), covered.get(id_, 0.0))
        for id_, chunk in chunks.items()
    ]


def _wheres(audience: Audience) -> Iterator[Where]:
    """Yield what the index is asked for: each kind of label that is seen. No document is an agent's own."""
    if audience.seen is None:
        yield Where(audience.subject)
        return
    for seen in audience.seen:
        if seen.agent_id is None:
            authors = () if seen.author_id is None else (seen.author_id,)
            yield Where(audience.subject, visibilities=seen.visibilities, author_ids=authors)


def _scored(found: Sequence[_Found], policy: Policy) -> Iterator[tuple[_Found, float]]:
    """Yield each with its score beside the others, 0 to 1: cosine and BM25, each as a share of the best, weighed as for
    memories. A document has no importance and does not fade."""
    nearest = max((one.similarity for one in found), default=0.0)
    most_words = max((one.words for one in found), default=0.0)
    for one in found:
        near = max(0.0, one.similarity) / nearest if nearest > 0 else 0.0
        worded = one.words / most_words if most_words > 0 else 0.0
        yield one, (1.0 - policy.retrieval_words_weight) * near + policy.retrieval_words_weight * worded


def _evidence(one: _Found, policy: Policy) -> float:
    return one.similarity + policy.retrieval_coverage_weight * one.covered


def _joined(told: Sequence[tuple[_Found, float]], policy: Policy, stores: Stores) -> list[Excerpt]:
    heads: dict[Subject, Mapping[str, KeptDocument]] = {}
    for subject in {one.chunk.subject for one, _ in told}:
        ids = {one.chunk.document_id for one, _ in told if one.chunk.subject == subject}
        heads[subject] = stores.catalog.documents.heads(subject, ids)
    excerpts: list[Excerpt] = []
    for one, score in sorted(
        told, key=lambda pair: (pair[0].chunk.subject.key, pair[0].chunk.document_id, pair[0].chunk.number)
    ):
        head = heads[one.chunk.subject].get(one.chunk.document_id)
        if head is None:
            continue
        excerpt = _excerpt(one, score, head, policy, stores)
        last = excerpts[-1] if excerpts else None
        if last is not None and _follows(last, one, told):
            excerpts[-1] = _with(last, excerpt)
        else:
            excerpts.append(excerpt)
    return sorted(
        excerpts, key=lambda excerpt: (-excerpt.score, excerpt.subject.key, excerpt.document_id, excerpt.start)
    )


def _follows(last: Excerpt, one: _Found, told: Sequence[tuple[_Found, float]]) -> bool:
    same = last.subject == one.chunk.subject and last.document_id == one.chunk.document_id
    before = [other.chunk for other, _ in told if other.chunk.id == last.chunk_ids[-1]]
    return same and before[0].number + 1 == one.chunk.number


def _excerpt(one: _Found, score: float, head: KeptDocument, policy: Policy, stores: Stores) -> Excerpt:
    return Excerpt(
        document_id=one.chunk.document_id,
        subject=one.chunk.subject,
        title=head.title,
        source_ref=head.source_ref,
        number=one.chunk.number + 1,
        page=one.chunk.page,
        content=one.chunk.content,
        chunk_ids=(one.chunk.id,),
        start=one.chunk.start,
        end=one.chunk.end,
        score=score,
        similarity=one.similarity,
        evidence=_evidence(one, policy),
        is_textbook=one.chunk.subject_id in stores.settings.textbooks,
    )


def _with(first: Excerpt, second: Excerpt) -> Excerpt:
    """Return two that follow each other as one: what both have of a split paragraph stands once."""
    common = max(0, first.end - second.start)
    between = "" if common else "\n\n"
    return replace(
        first,
        content=first.content + between + second.content[common:],
        chunk_ids=(*first.chunk_ids, *second.chunk_ids),
        end=second.end,
        score=max(first.score, second.score),
        similarity=max(first.similarity, second.similarity),
        evidence=max(first.evidence, second.evidence),
    )
