"""The register that a person is shown of their own memory: found again, with the words that it came from, and what it
replaced."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from policies.language.sentences import split_sentences
from recall.audience import audiences
from recall.filters import ANYTHING, Filters
from recall.listing import decode_cursor, encode_cursor, list_memories
from recall.retrieve import retrieve
from schema import Fact, Memory, Principal, Status, Subject
from stores.fulltext.terms import terms_of
from stores.graph.base import folded_name
from stores.open import Stores

_QUOTED_CHARS: Final = 200
_READ: Final = 50
"""Memories that are read at a time, of which those that the principal does not see are left out."""
_GENERATIONS: Final = 20
"""How many times over a memory may have been replaced until the rest of its history is left out."""


def find_known(
    principal: Principal | None,
    subject: Subject,
    question: str,
    stores: Stores,
    *,
    filters: Filters = ANYTHING,
    limit: int = 50,
    now: datetime,
) -> list[Memory]:
    """Return what answers a question, best first, and behind that what has all of its words, blocked and suppressed
    ones too. Looking at what is known counts as no use of it.

    Raises:
        NotAMember, NotAllowed: the principal may see nothing of the subject.
    """
    answers: dict[uuid.UUID, Memory] = {}
    if Status.ACTIVE in filters.statuses:
        hits = retrieve(principal, [subject], question, stores, filters=filters, limit=limit, way=None, now=now)
        answers |= {hit.memory.id: hit.memory for hit in hits}
    if len(answers) < limit:
        if filters == ANYTHING:
            worded = _saying(principal, subject, question, stores, limit)
        else:
            worded = list_memories(principal, subject, stores, filters=filters, words=question, limit=limit).memories
        answers |= {memory.id: memory for memory in worded if memory.id not in answers}
    return list(answers.values())[:limit]


def _saying(principal: Principal | None, subject: Subject, question: str, stores: Stores, limit: int) -> list[Memory]:
    """Return what is active and has all words of a question, latest said first. The words of what is active lie in
    memory: to look through 10,000 rows of the catalog takes ten times as long."""
    [audience] = audiences(principal, [subject], stores)
    ids = stores.fulltext.read([(subject, audience.seen)]).saying(question.split())
    holding: list[Memory] = []
    for begin in range(0, len(ids), _READ):
        memories = stores.catalog.memories(subject, ids[begin : begin + _READ])
        read = (memories[id_] for id_ in ids[begin : begin + _READ] if id_ in memories)
        holding += [memory for memory in read if memory.status is Status.ACTIVE and audience.sees(memory)]
        if len(holding) >= limit:
            break
    return holding[:limit]


def quotes_of(
    principal: Principal | None, subject: Subject, memories: Sequence[Memory], stores: Stores
) -> dict[uuid.UUID, str]:
    """Return what the user said of which each memory came last, by the memories' ids: the sentence that is likest to
    it. Those are absent of which no turn is kept, and all where the principal may not read turns.

    Raises:
        NotAMember, NotAllowed: the principal may see nothing of the subject.
    """
    [audience] = audiences(principal, [subject], stores)
    if not audience.reads_turns:
        return {}
    last = {memory.id: memory.source_turn_ids[-1] for memory in memories if memory.source_turn_ids}
    texts = {turn.turn_id: turn.text_of("user") for turn in stores.catalog.sources(subject, [*set(last.values())])}
    quotes = {
        memory.id: quote(texts[last[memory.id]], memory.summary) for memory in memories if last.get(memory.id) in texts
    }
    return {id_: words for id_, words in quotes.items() if words}


def quote(text: str, summary: str) -> str:
    """Return the sentence of what was said that shares most words with a summary, at most 200 characters of it; the
    first of them where several do."""
    wanted = frozenset(terms_of(summary))
    sentences = [sentence.text for sentence in split_sentences(text)]
    best = max(sentences, key=lambda sentence: len(wanted.intersection(terms_of(sentence))), default="")
    if len(best) <= _QUOTED_CHARS:
        return best
    return best[:_QUOTED_CHARS].rsplit(" ", 1)[0] + " …"


def history_of(principal: Principal | None, subject: Subject, memory: Memory, stores: Stores) -> list[Memory]:
    """Return a memory with all that it took the place of, and what took its place, oldest said first; it alone where
    nothing was replaced.

    Raises:
        NotAMember, NotAllowed: the principal may see nothing of the subject.
    """
    [audience] = audiences(principal, [subject], stores)
    history = {memory.id: memory}
    newest = [memory]
    for _ in range(_GENERATIONS):
        wanted = {id_ for version in newest for id_ in (*version.supersedes, *filter(None, [version.superseded_by]))}
        read = stores.catalog.memories(subject, wanted - history.keys()) if wanted - history.keys() else {}
        newest = [
            version for version in read.values() if audience.sees(version) and version.status is not Status.DELETED
        ]
        if not newest:
            break
        history |= {version.id: version for version in newest}
    return sorted(history.values(), key=lambda version: (version.said_at, version.created_at, version.id))


def near_of(principal: Principal | None, subject: Subject, memory: Memory, stores: Stores) -> list[Memory]:
    """Return what lay nearest to a memory when it was decided on, as far as it holds still.

    Raises:
        NotAMember, NotAllowed: the principal may see nothing of the subject.
    """
    [audience] = audiences(principal, [subject], stores)
    memories = stores.catalog.memories(subject, memory.related_ids)
    near = (memories[id_] for id_ in memory.related_ids if id_ in memories)
    return [neighbour for neighbour in near if neighbour.status is Status.ACTIVE and audience.sees(neighbour)]


@dataclass(frozen=True)
class Stated:
    """A fact with the memory that states it."""

    fact: Fact
    memory: Memory


def facts_of(
    principal: Principal | None, subject: Subject, stores: Stores, *, about: str = "", cursor: str = "", limit: int = 40
) -> tuple[list[Stated], str]:
    """Return what hangs together in a subject's memory: the facts of the memories created last that the principal sees,
    or of those that name `about`; and the cursor of the next ones, empty where there are none.

    Raises:
        NotAMember, NotAllowed: the principal may see nothing of the subject.
        InvalidCursor: the cursor is none.
    """
    [audience] = audiences(principal, [subject], stores)
    before = decode_cursor(cursor) if cursor else None
    read = stores.catalog.facts.latest(subject, about=about, before=before, limit=limit + 1)
    shown = read[:limit]
    name = folded_name(about)
    stated = [
        Stated(fact, memory)
        for memory in shown
        if audience.sees(memory)
        for fact in memory.facts
        if not about or name in (folded_name(fact.entity), folded_name(fact.object))
    ]
    return stated, encode_cursor(shown[-1]) if len(read) > limit else ""


@dataclass(frozen=True)
class Span:
    """A fact's value for a while; `until` is None where it holds still."""

    stated: Stated
    since: datetime
    until: datetime | None


def changes_of(
    principal: Principal | None, subject: Subject, entity: str, attribute: str, stores: Stores
) -> list[Span]:
    """Return what an attribute of an entity was, one after the other, as far as the principal sees it.

    Raises:
        NotAMember, NotAllowed: the principal may see nothing of the subject.
    """
    [audience] = audiences(principal, [subject], stores)
    memories = [
        memory for memory in stores.catalog.facts.through_time(subject, entity, attribute) if audience.sees(memory)
    ]
    by_id = {memory.id: memory for memory in memories}
    name = folded_name(entity)
    spans = []
    for memory in memories:
        successor = by_id.get(memory.superseded_by) if memory.superseded_by else None
        holds = memory.status is Status.ACTIVE
        until = None if holds else successor.said_at if successor else memory.updated_at
        spans += [
            Span(Stated(fact, memory), memory.said_at, until)
            for fact in memory.facts
            if fact.attribute == attribute and folded_name(fact.entity) == name
        ]
    return spans
