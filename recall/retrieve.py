"""The one retrieval: the memories that a question is about, for whom may see them."""

from __future__ import annotations

import time
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from memory.metrics import count_search
from memory.spending import spending
from memory.tracing import RECORD_COUNT, memory_span
from policies.retrieval import (
    Match,
    Standing,
    Terms,
    answering,
    evidence,
    is_about_what_is_known,
    names_in,
    relevances,
    terms_of_score,
)
from recall.audience import Audience, audiences
from recall.filters import ANYTHING, Filters
from recall.search_stages import search_stage
from recall.selectors import turns_near
from schema import Memory, Policy, Principal, Subject, Way
from stores.catalog.summaries import Weight
from stores.fulltext import Words
from stores.index.base import Vector, Where
from stores.open import Stores

_POOLS: Final = (100, 400, 1_600)
"""How many hits by vector and how many by words are looked at, and if too few of them may be told, are looked at next.
Whoever asks for more goes on in the same order: it hangs on the pools, and not on how many are asked for. S3 Vectors
gives no more than the first at a time."""
_WINDOWS: Final = 50
"""How many of the windows nearest to the question are looked at, where there are any."""
_NEAR_NAMED: Final = 25
"""How many of the memories nearest to the question as its user would be heard asking it are looked at."""
_READ_AT_ONCE: Final = 25
"""Whole memories that are read at a time at most, until enough may be told."""
_NAMELESS: Final = "The user"
"""Whom memories tell of that know no name."""
_SPARE: Final = 2
"""How many more than are wanted: nearly always all may be told."""


@dataclass(frozen=True)
class Hit:
    """A memory with its cosine to the query, at most 1, and the score by which it is ranked, 0 to 1.

    `similarity` is not measured where only words, or a window, found the memory: then it is the least that the vectors
    found. `why` explains the rank, where it was asked for.
    """

    memory: Memory
    similarity: float
    score: float
    why: Why | None = None


@dataclass(frozen=True)
class Why:
    """Why a memory was recalled, and stands where it stands."""

    vector_rank: int | None
    """From 1; None where the vectors did not propose it."""
    word_rank: int | None
    """From 1; None where it has none of the query's words."""
    terms: Terms
    """The parts of the score."""
    evidence: float
    """How surely the whole answer is about something known, on the embedder's scale; it is given from
    `RETRIEVAL_RELEVANT` on."""
    rules: str
    """The version of the policy that decided on the memory."""


def retrieve(
    principal: Principal | None,
    subjects: Sequence[Subject],
    query: str,
    stores: Stores,
    *,
    filters: Filters = ANYTHING,
    limit: int = 10,
    offset: int = 0,
    explain: bool = False,
    relevant_only: bool = True,
    way: Way | None = Way.SEARCH,
    now: datetime,
) -> list[Hit]:
    """Return the memories of several subjects of one tenant that answer a query best, best score first.

    By meaning and by words: the index and the full text each propose, and what both say is weighed on one scale for all
    subjects. Only what the principal may see is looked at (everything where it is None: an operator), only what is
    active and on no blocked topic is told, as the catalog has it now, and that is noted as a use of it by `way`; None
    is for what uses nothing. A question about nothing that is known gets nothing, and any other only what answers it,
    unless `relevant_only` is False.
    `offset` hits are left out of the same order, so that a next page begins where one ended.

    Raises:
        ValueError: the query is empty, or the subjects are of several tenants.
        NotAMember, NotAllowed: the principal may see nothing of one of the subjects.
    """
    asked = audiences(principal, subjects, stores)
    page = retrieve_for(
        asked,
        query,
        stores,
        filters=filters,
        limit=limit,
        offset=offset,
        explain=explain,
        relevant_only=relevant_only,
        now=now,
    )
    if way is not None:
        agent = principal.agent_id if principal else None
        for audience in asked:
            used = [hit.memory.id for hit in page if hit.memory.subject == audience.subject]
            stores.accesses.note(audience.subject, used, now, way, agent)
    return page


def retrieve_for(
    asked: Sequence[Audience],
    query: str,
    stores: Stores,
    *,
    filters: Filters = ANYTHING,
    limit: int = 10,
    offset: int = 0,
    explain: bool = False,
    relevant_only: bool = True,
    now: datetime,
) -> list[Hit]:
    """Return as `retrieve` what may be told to somebody of whom it is known what they see, and note no use of it.

    Raises:
        ValueError: the query is empty, or the subjects are of several tenants.
    """
    if not query.strip():
        raise ValueError("the query is empty; ask for something")
    if len({audience.subject.tenant_id for audience in asked}) > 1:
        raise ValueError("the subjects are of several tenants; ask for those of one")
    began = time.monotonic()
    with memory_span("search_memory") as current:
        with search_stage("words"):
            words = stores.fulltext.read([(audience.subject, audience.seen) for audience in asked])
        page: list[Hit] = []
        if not words.is_empty:
            question = _read(query, words, stores)
            page = _best(asked, question, filters, offset + limit, explain, relevant_only, now, stores)[offset:]
        current.set_attribute(RECORD_COUNT, len(page))
    count_search(time.monotonic() - began, len(page))
    return page


def _best(
    asked: Sequence[Audience],
    question: _Question,
    filters: Filters,
    wanted: int,
    explain: bool,
    relevant_only: bool,
    now: datetime,
    stores: Stores,
) -> list[Hit]:
    """Return so many of the memories that answer a question best, best first, or as many as there are and, if
    `relevant_only`, answer it."""
    hits: list[Hit] = []
    ranked_ids: set[uuid.UUID] = set()
    sureness: float | None = None
    for pool in _POOLS:
        proposed = _propose(asked, question, filters, pool, stores)
        if sureness is None:
            sureness = _evidence(question, proposed, asked, stores)
            if relevant_only and not is_about_what_is_known(sureness, stores.policy):
                return []
        with search_stage("rerank"):
            ranked = _ranked(proposed, sureness if relevant_only else None, stores.policy, now)
        fresh = {found.candidate.memory_id: found for found in ranked if found.candidate.memory_id not in ranked_ids}
        for memory in _readable(list(fresh), wanted - len(hits), asked, filters, stores):
            found = fresh[memory.id]
            terms = found.terms(stores.policy, now)
            why = _why(memory, proposed, found, terms, sureness) if explain else None
            hits.append(Hit(memory, found.candidate.match.cosine, terms.total, why))
            if len(hits) == wanted:
                break
        ranked_ids |= fresh.keys()
        # What a larger pool has more is farther than what does not answer any more.
        if len(hits) == wanted or proposed.is_everything or len(ranked) < len(proposed.candidates):
            break
    return hits


@dataclass(frozen=True)
class _Question:
    """A query as it is compared: its vector, and that of the query as its user would be heard asking it."""

    text: str
    words: Words
    vector: Vector
    named_vector: Vector


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A memory that vectors, words or windows propose, of what the asker may see."""

    memory_id: uuid.UUID
    match: Match
    weight: Weight
    is_near: bool
    """True where the vectors propose it."""
    covered: float
    """The share of the question's words that it has."""


@dataclass(frozen=True)
class _Proposed:
    """Candidates by vectors and by words, of those that the asker may see."""

    candidates: Sequence[_Candidate]
    is_everything: bool
    """True where neither vectors nor words have more to propose."""


@dataclass(frozen=True, slots=True)
class _Ranked:
    candidate: _Candidate
    relevance: float
    answers: bool

    def terms(self, policy: Policy, now: datetime) -> Terms:
        """Return the terms of its score."""
        weight = self.candidate.weight
        standing = Standing(weight.importance, weight.trust, weight.last_accessed, weight.pinned)
        return terms_of_score(self.relevance, self.candidate.match.cosine, standing, policy, now)


def _read(query: str, words: Words, stores: Stores) -> _Question:
    named = f"{words.opening}: {query}" if words.opening else query
    with search_stage("embed"), spending("question"):
        [vector, named_vector] = stores.embedder.embed([query, named])
    return _Question(query, words, vector, named_vector)


def _propose(asked: Sequence[Audience], question: _Question, filters: Filters, pool: int, stores: Stores) -> _Proposed:
    near: dict[uuid.UUID, float] = {}
    by_window: dict[uuid.UUID, float] = {}
    for audience in asked:
        where = Where(
            audience.subject,
            types=filters.types,
            kinds=filters.kinds,
            categories=filters.categories,
            tags=filters.tags,
            agent_ids=filters.agent_ids,
            seen_by=audience.seen or (),
        )
        with search_stage("dense"):
            near |= {hit.memory_id: hit.similarity for hit in stores.index.query(question.vector, where, pool)}
        by_window |= turns_near(question.vector, audience, _WINDOWS, stores).memories
    # What is active and seen as the catalog had it when the words were read: an index may not have heard of it yet.
    with search_stage("lexical"):
        compared = question.words.compare(question.text, pool, stores.policy, also=near.keys() | by_window)
    is_everything = len(near) < pool and sum(memory.score > 0 for memory in compared) < pool
    wanted = [
        (memory, memory.summary.weight, near.get(memory.summary.memory_id))
        for memory in compared
        if memory.summary.weight is not None
        and memory.summary.weight.importance >= filters.min_importance
        and memory.summary.weight.trust >= filters.min_trust
    ]
    farthest = min((cosine for _, _, cosine in wanted if cosine is not None), default=0.0)
    candidates = [
        _Candidate(
            memory.summary.memory_id,
            Match(
                farthest if cosine is None else cosine,
                memory.score,
                memory.summary.conversation_id,
                memory.summary.said_at,
                by_window.get(memory.summary.memory_id, 0.0),
            ),
            weight,
            cosine is not None,
            memory.covered,
        )
        for memory, weight, cosine in wanted
    ]
    return _Proposed(candidates, is_everything)


def _evidence(question: _Question, proposed: _Proposed, asked: Sequence[Audience], stores: Stores) -> float:
    """Return how surely the question is about something that is known, of what the nearest and the best have."""
    covered = {candidate.memory_id: candidate.covered for candidate in proposed.candidates}
    with search_stage("dense"):
        named_near = {
            hit.memory_id: hit.similarity
            for audience in asked
            for hit in stores.index.query(
                question.named_vector, Where(audience.subject, seen_by=audience.seen or ()), _NEAR_NAMED
            )
            if hit.memory_id in covered
        }
    unknown = question.words.unknown(names_in(question.text))
    nameless = question.words.opening == _NAMELESS
    return evidence(named_near, covered, unknown, stores.policy, nameless=nameless)


def _ranked(proposed: _Proposed, sureness: float | None, policy: Policy, now: datetime) -> list[_Ranked]:
    """Return what was proposed, best score first, and behind the most relevant all others; where the evidence of the
    answer is given, only what answers."""
    matches = [candidate.match for candidate in proposed.candidates]
    answers = [True] * len(matches) if sureness is None else answering(matches, sureness, policy)
    found = list(map(_Ranked, proposed.candidates, relevances(matches, policy), answers))
    found.sort(key=lambda ranked: (-ranked.relevance, ranked.candidate.memory_id.int))
    first, others = found[: policy.retrieval_pool], found[policy.retrieval_pool :]
    first.sort(key=lambda ranked: (-ranked.terms(policy, now).total, ranked.candidate.memory_id.int))
    return [ranked for ranked in (*first, *others) if ranked.answers]


def _readable(
    ids: Sequence[uuid.UUID], wanted: int, asked: Sequence[Audience], filters: Filters, stores: Stores
) -> Iterator[Memory]:
    """Yield those of the memories that may be told, in their order: they are read whole, and judged once more, a few
    more than are wanted at a time."""
    at_once = min(_READ_AT_ONCE, wanted + _SPARE)
    for start in range(0, len(ids), at_once):
        part = ids[start : start + at_once]
        with search_stage("read"):
            memories = {
                memory.id: memory
                for audience in asked
                for memory in stores.catalog.memories(audience.subject, part).values()
                if audience.may_be_told(memory) and filters.let_through(memory)
            }
        yield from (memories[id_] for id_ in part if id_ in memories)


def _why(memory: Memory, proposed: _Proposed, found: _Ranked, terms: Terms, sureness: float) -> Why:
    candidate, others = found.candidate, proposed.candidates
    nearer = sum(other.is_near and other.match.cosine > candidate.match.cosine for other in others)
    better = sum(other.match.words > candidate.match.words for other in others)
    return Why(
        vector_rank=1 + nearer if candidate.is_near else None,
        word_rank=1 + better if candidate.match.words > 0 else None,
        terms=terms,
        evidence=sureness,
        rules=memory.policy_version,
    )
