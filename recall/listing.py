"""List what is known of a subject, page by page, and get one memory with where it came from."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import islice
from typing import Final

from memory.rights import visible_memory
from policies.access import may_see
from recall.audience import Audience, audiences
from recall.cursors import cursor_of, place_of
from recall.filters import ANYTHING, Filters
from schema import AuditEntry, Memory, Principal, Status, Subject, Turn
from stores.open import Stores

_READ: Final = 200
"""Memories that are read at a time at most, of which those that may not be told or are not wanted are left out."""


@dataclass(frozen=True)
class Page:
    """Some memories, latest created first, and the cursor of the next page; None on the last."""

    memories: list[Memory]
    cursor: str | None


@dataclass(frozen=True)
class Origin:
    """A memory with the turns that it came from and all that was ever done to it, both oldest first."""

    memory: Memory
    sources: list[Turn]
    audit: list[AuditEntry]


def list_memories(
    principal: Principal | None,
    subject: Subject,
    stores: Stores,
    *,
    filters: Filters = ANYTHING,
    words: str = "",
    cursor: str | None = None,
    offset: int = 0,
    limit: int = 50,
) -> Page:
    """Return what is known of a subject that a principal sees, blocked and suppressed ones too: it is theirs to manage.

    `words` must all stand in the summary, in any case. Pages are complete while others write: what is there all the
    time comes exactly once. `offset` of them are skipped.

    Raises:
        NotAMember, NotAllowed: the principal may see nothing of the subject.
        InvalidCursor: the cursor is none.
    """
    [audience] = audiences(principal, [subject], stores)
    before = None if cursor is None else decode_cursor(cursor)
    # Nearly always all that are read may be told: no more than the page needs. By words and days the catalog gives more
    # than is meant, and to look for a second time costs more than the rows (measured at 10,000: 25 ms each look).
    is_exact = not words.split() and filters.since is None and filters.until is None
    end = offset + limit
    at_once = min(end + 1, _READ) if is_exact else _READ
    matching = list(islice(_matching(audience, stores, filters, words, before, at_once), end + 1))
    page = as_used(matching[offset:end], subject, stores)
    return Page(page, encode_cursor(page[-1]) if len(matching) > end else None)


def count_memories(
    principal: Principal | None, subject: Subject, stores: Stores, *, filters: Filters = ANYTHING, words: str = ""
) -> int:
    """Return how many memories all pages of a list have together.

    Raises:
        NotAMember, NotAllowed: the principal may see nothing of the subject.
    """
    [audience] = audiences(principal, [subject], stores)
    # The catalog counts by what it has columns of; for the rest each memory is read (measured: 10,000 in 0.3 s).
    counted = replace(filters, types=(), kinds=(), categories=(), statuses=(), min_importance=0.0)
    if words.split() or replace(counted, visibilities=(), agent_ids=()) != replace(ANYTHING, statuses=()):
        return sum(1 for _ in _matching(audience, stores, filters, words, None, _READ))
    counts = stores.catalog.pages.counts(
        subject,
        statuses=filters.statuses,
        types=filters.types,
        kinds=filters.kinds,
        categories=filters.categories,
        min_importance=filters.min_importance,
    )
    return sum(
        count.number
        for count in counts
        if may_see(audience.seen, count.labels) and filters.are_of(count.visibility, count.agent_id)
    )


def get_memory(principal: Principal | None, subject: Subject, memory_id: uuid.UUID, stores: Stores) -> Memory:
    """Return a memory that a principal sees, whatever its status, as used as it is.

    Raises:
        NotFound: there is none of the subject under this id, or none that the principal sees.
        NotAMember, NotAllowed: the principal may see nothing of the subject.
    """
    return as_used([visible_memory(principal, subject, memory_id, stores.catalog)], subject, stores)[0]


def as_used(memories: Sequence[Memory], subject: Subject, stores: Stores) -> list[Memory]:
    """Return memories of a subject with those uses, too, that no night has counted in them yet."""
    uses = stores.catalog.uses.uncounted(subject, [memory.id for memory in memories])
    return [
        memory.model_copy(
            update={
                "access_count": memory.access_count + use.times,
                "last_accessed": max(memory.last_accessed, use.last_at),
            }
        )
        if (use := uses.get(memory.id))
        else memory
        for memory in memories
    ]


def related_to(principal: Principal | None, memory: Memory, stores: Stores) -> list[uuid.UUID]:
    """Return the ids of those memories that a memory is related to which a principal sees.

    Raises:
        NotAMember, NotAllowed: the principal may see nothing of the subject.
    """
    [audience] = audiences(principal, [memory.subject], stores)
    there = stores.catalog.memories(memory.subject, memory.related_ids)
    return [
        id_
        for id_ in memory.related_ids
        if id_ in there and there[id_].status is not Status.DELETED and audience.sees(there[id_])
    ]


def vector_of(memory: Memory, stores: Stores) -> list[float] | None:
    """Return the vector that the index has of a memory; None where it has none yet."""
    entries = stores.index.fetch(memory.subject, [memory.index_key])
    return [float(number) for number in entries[0].vector] if entries else None


def origin_of(principal: Principal | None, subject: Subject, memory_id: uuid.UUID, stores: Stores) -> Origin:
    """Return a memory with where it came from; the turns only for the subject themself, their agents, and operators.

    Raises:
        NotFound, NotAMember, NotAllowed: see `get_memory`.
    """
    memory = get_memory(principal, subject, memory_id, stores)
    [audience] = audiences(principal, [subject], stores)
    return Origin(
        memory,
        stores.catalog.sources(subject, memory.source_turn_ids) if audience.reads_turns else [],
        stores.catalog.audit_of(subject, memory_id),
    )


def _matching(
    audience: Audience,
    stores: Stores,
    filters: Filters,
    words: str,
    before: tuple[datetime, uuid.UUID] | None,
    at_once: int,
) -> Iterator[Memory]:
    """Yield what is listed from behind a place on, `at_once` read at first."""
    wanted = words.casefold().split()
    while True:
        read = stores.catalog.pages.of(
            audience.subject,
            statuses=filters.statuses,
            types=filters.types,
            words=wanted,
            since=filters.since,
            until=filters.until,
            before=before,
            limit=at_once,
        )
        for memory in read:
            if (
                audience.sees(memory)
                and filters.let_through(memory)
                and all(word in memory.summary.casefold() for word in wanted)
            ):
                yield memory
        if len(read) < at_once:
            return
        before, at_once = (read[-1].created_at, read[-1].id), _READ


def encode_cursor(last: Memory) -> str:
    """Return the cursor of what comes behind a memory in the order of their creation, latest first."""
    return cursor_of(last.created_at, last.id)


def decode_cursor(cursor: str) -> tuple[datetime, uuid.UUID]:
    """Return when the last memory was created that came before a cursor, and its id.

    Raises:
        InvalidCursor: it is none.
    """
    created_at, id_ = place_of(cursor, datetime.fromisoformat, uuid.UUID)
    return created_at, id_
