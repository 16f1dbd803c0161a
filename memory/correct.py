"""Corrections: tell again, with the right value, what was told last in the same conversation."""

from __future__ import annotations

from calendar import monthrange
from collections.abc import Collection, Iterable
from datetime import datetime, timedelta
from typing import Final

from memory.context import MemoryContext
from memory.draft import Draft
from memory.scoring import Origin
from policies.access import scope_of
from policies.dedup import is_earlier
from policies.language.corrections import corrected, denies, is_plain
from policies.language.days_named import days_named
from policies.language.wording import without_quotation
from schema import MAX_SUMMARY_CHARS, Candidate, Fact, Memory, Status

_WITHIN: Final = timedelta(hours=1)
"""How long after a statement somebody puts it right."""
_NAMED_WITHIN: Final = timedelta(days=7)
"""The same where they say what was wrong: "not December, January"."""
_NEWEST: Final = 8
"""How many memories are looked at."""


def correction(candidate: Candidate, origin: Origin, draft: Draft, context: MemoryContext) -> tuple[Candidate, Memory]:
    """Return the candidate with the whole statement as it should have been, and the memory whose place it takes.

    Raises:
        LookupError: nothing that was told shortly before in the same conversation has a value that it may stand for.
    """
    draft.load(context.catalog.list_memories(draft.subject, limit=_NEWEST))
    tolerance = timedelta(seconds=context.settings.clock_tolerance_seconds)
    mine = scope_of(origin.visibility, origin.author_id, origin.agent_id)
    words = without_quotation(candidate.summary)
    recent = [
        memory
        for memory in draft.current.values()
        if memory.status is Status.ACTIVE
        and memory.conversation_id == origin.conversation_id is not None
        and scope_of(memory.visibility, memory.author_id, memory.agent_id) == mine
        and candidate.turn_id not in memory.source_turn_ids
        and not is_earlier(candidate, memory, tolerance)
        and candidate.said_at - memory.said_at <= (_NAMED_WITHIN if denies(memory.summary, words) else _WITHIN)
    ]
    recent.sort(key=lambda memory: (memory.said_at, memory.created_at), reverse=True)
    for memory in recent:
        summary = corrected(memory.summary, words)
        if summary and len(summary) <= MAX_SUMMARY_CHARS and _are_days(days_named(summary)):
            return _as_told(candidate, memory, summary), memory
    if recent and is_plain(words):
        beside = f'{recent[0].summary.rstrip(".")} (put right: "{words.rstrip(".")}").'
        if len(beside) > MAX_SUMMARY_CHARS:
            raise LookupError("what was told is too long to be put right beside it")
        return _as_told(candidate, recent[0], beside), recent[0]
    raise LookupError("nothing that was told has such a value")


def _as_told(candidate: Candidate, memory: Memory, summary: str) -> Candidate:
    moved = candidate.occurred_at != candidate.said_at
    return candidate.model_copy(
        update={
            "summary": summary,
            "type": memory.type,
            "kind": memory.kind,
            "category": memory.category,
            "tags": memory.tags,
            "entities": memory.entities,
            "facts": tuple(_facts(memory.facts, without_quotation(candidate.summary))),
            "occurred_at": _on(days_named(summary), candidate.occurred_at if moved else memory.occurred_at),
            "explicit": memory.explicit,
            "private": memory.private,
            "pinned": memory.pinned,
            "quoted": memory.summary.endswith('"'),
        }
    )


def _are_days(days: Collection[tuple[int, int, int]]) -> bool:
    """Return whether a calendar has all of some days: 14 June cannot be put right to "the 31st"."""
    return all(day <= monthrange(year, month)[1] for year, month, day in days)


def _on(days: Collection[tuple[int, int, int]], moment: datetime) -> datetime:
    """Return the moment on the day that is told, where one is: "the 21st" may be of another month than it seems."""
    if len(days) != 1:
        return moment
    (year, month, day), *_ = days
    return moment.replace(year=year, month=month, day=day)


def _facts(facts: Iterable[Fact], words: str) -> Iterable[Fact]:
    for fact in facts:
        yield fact.model_copy(update={"object": corrected(fact.object, words) or fact.object})
