"""Excerpts of documents that answer a question, for whom may see them."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from memory.spending import spending
from policies.access import may_see
from policies.topics import is_about
from recall.audience import Audience, audiences
from recall.search_stages import search_stage
from schema import Chunk, KeptDocument, Policy, Preferences, Principal, Seen, Subject, Visibility
from stores.catalog.documents import ChunkPlace
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

    @property
    def subject_id(self) -> str:
        return self.subject.subject_id


@dataclass(frozen=True)
class _Found:
    """A chunk that may be told, before it is read."""

    id: uuid.UUID
    place: ChunkPlace
    audience: Audience
    similarity: float
    words: float
    covered: float


_Readable = tuple[_Found, Chunk, float]
"""A chunk with its score, read."""


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
    if len({subject.tenant_id for subject in subjects}) > 1:
        raise ValueError("the subjects are of several tenants; ask for those of one")
    asked = with_textbooks(audiences(principal, subjects, stores), stores)
    return excerpts_for(asked, question, stores, limit=limit, relevant_only=relevant_only)


def excerpts_for(
    asked: Sequence[Audience], question: str, stores: Stores, *, limit: int | None = None, relevant_only: bool = True
) -> list[Excerpt]:
    """Return as `find_excerpts` what may be told to somebody of whom it is known what they see.

    Raises:
        ValueError: the question is empty.
    """
    if not question.strip():
        raise ValueError("the question is empty; ask for something")
    policy = stores.policy
    most = policy.document_top_k if limit is None else limit
    held = [
        (audience, words, visible)
        for audience in asked
        for words, visible in [stores.chunk_words.of_documents(audience.subject, audience.seen)]
        if not words.is_empty
    ]
    if not held or most <= 0:
        return []
    with search_stage("embed"), spending("question"):
        [vector] = stores.embedder.embed([question])
    proposed = [
        candidate
        for audience, words, visible in held
        for candidate in _look(audience, question, vector, words, visible, stores)
    ]
    with search_stage("rerank"):
        scored = sorted(_scored(proposed, policy), key=lambda pair: (-pair[1], pair[0].id))
    likely = [
        (candidate, score)
        for candidate, score in scored
        if not relevant_only or _evidence(candidate, policy) >= policy.retrieval_excerpt_relevant
    ]
    return _joined(_read_of(likely, most, stores), policy, stores)


def with_textbooks(asked: Sequence[Audience], stores: Stores) -> list[Audience]:
    """Return who is told of subjects, and of the textbook collections of their tenant: what is public there is for all
    who ask."""
    subjects = [audience.subject for audience in asked]
    tenants = dict.fromkeys(subject.tenant_id for subject in subjects)
    books = (Subject(tenant_id=tenant, subject_id=name) for tenant in tenants for name in stores.settings.textbooks)
    return [*asked, *(everybody(book) for book in books if book not in subjects)]


def everybody(subject: Subject) -> Audience:
    """Return who is told of a subject what is public there: all of its tenant."""
    return Audience(subject, (Seen((Visibility.PUBLIC,)),), Preferences())


def _look(
    audience: Audience, question: str, vector: Vector, words: Words, visible: frozenset[str], stores: Stores
) -> list[_Found]:
    where = Where(audience.subject, seen_by=audience.seen or ())
    with search_stage("dense"):
        near = {hit.memory_id: hit.similarity for hit in stores.chunks.query(vector, where, _POOL)}
    with search_stage("lexical"):
        found = words.compare(question, _POOL, stores.policy, also=near)
    compared = {chunk.summary.memory_id: chunk for chunk in found}
    places = {
        id_: chunk_place
        for id_, chunk_place in stores.catalog.documents.places(audience.subject, list(compared)).items()
        # Once more: the words may not have heard of a new label.
        if chunk_place.document_id in visible
    }
    farthest = min((near[id_] for id_ in places if id_ in near), default=0.0)
    return [
        _Found(id_, chunk_place, audience, near.get(id_, farthest), compared[id_].score, compared[id_].covered)
        for id_, chunk_place in places.items()
    ]


def _read_of(likely: Sequence[tuple[_Found, float]], most: int, stores: Stores) -> list[_Readable]:
    """Return the first that may be told, read: by what their documents and their words say now."""
    readable: list[_Readable] = []
    for start in range(0, len(likely), most):
        page = likely[start : start + most]
        chunks: dict[uuid.UUID, Chunk] = {}
        with search_stage("read"):
            for subject in dict.fromkeys(candidate.audience.subject for candidate, _ in page):
                ids = [candidate.id for candidate, _ in page if candidate.audience.subject == subject]
                chunks |= stores.catalog.documents.chunks(subject, ids)
        readable += [
            (candidate, chunks[candidate.id], score)
            for candidate, score in page
            if candidate.id in chunks and _may_be_told(candidate.audience, chunks[candidate.id])
        ]
        if len(readable) >= most:
            break
    return readable[:most]


def _may_be_told(audience: Audience, chunk: Chunk) -> bool:
    is_seen = audience.seen is None or may_see(audience.seen, chunk.labels)
    return is_seen and not is_about(chunk.content, audience.wanted.left_alone)


def _scored(proposed: Sequence[_Found], policy: Policy) -> Iterator[tuple[_Found, float]]:
    """Yield each with its score beside the others, 0 to 1: cosine and BM25, each as a share of the best, weighed as for
    memories. A document has no importance and does not fade."""
    nearest = max((candidate.similarity for candidate in proposed), default=0.0)
    most_words = max((candidate.words for candidate in proposed), default=0.0)
    for candidate in proposed:
        near = max(0.0, candidate.similarity) / nearest if nearest > 0 else 0.0
        worded = candidate.words / most_words if most_words > 0 else 0.0
        yield candidate, (1.0 - policy.retrieval_words_weight) * near + policy.retrieval_words_weight * worded


def _evidence(candidate: _Found, policy: Policy) -> float:
    return candidate.similarity + policy.retrieval_coverage_weight * candidate.covered


def _joined(readable: Sequence[_Readable], policy: Policy, stores: Stores) -> list[Excerpt]:
    heads: dict[Subject, Mapping[str, KeptDocument]] = {}
    for subject in {chunk.subject for _, chunk, _ in readable}:
        ids = {chunk.document_id for _, chunk, _ in readable if chunk.subject == subject}
        heads[subject] = stores.catalog.documents.heads(subject, ids)
    excerpts: list[Excerpt] = []
    number = -1
    for candidate, chunk, score in sorted(
        readable, key=lambda of: (of[1].subject.key, of[1].document_id, of[1].number)
    ):
        head = heads[chunk.subject].get(chunk.document_id)
        if head is None:
            continue
        excerpt = _excerpt(candidate, chunk, score, head, policy, stores)
        last = excerpts[-1] if excerpts else None
        is_same = last is not None and (last.subject, last.document_id) == (chunk.subject, chunk.document_id)
        if last is not None and is_same and chunk.number == number + 1:
            excerpts[-1] = _with(last, excerpt)
        else:
            excerpts.append(excerpt)
        number = chunk.number
    return sorted(
        excerpts, key=lambda excerpt: (-excerpt.score, excerpt.subject.key, excerpt.document_id, excerpt.start)
    )


def _excerpt(
    candidate: _Found, chunk: Chunk, score: float, head: KeptDocument, policy: Policy, stores: Stores
) -> Excerpt:
    return Excerpt(
        document_id=chunk.document_id,
        subject=chunk.subject,
        title=head.title,
        source_ref=head.source_ref,
        number=chunk.number + 1,
        page=chunk.page,
        content=chunk.content,
        chunk_ids=(chunk.id,),
        start=chunk.start,
        end=chunk.end,
        score=score,
        similarity=candidate.similarity,
        evidence=_evidence(candidate, policy),
        is_textbook=chunk.subject_id in stores.settings.textbooks,
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
