"""Windows of conversations, and facts, by which memories are found: made where the settings say so."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from policies.chunking import sizes_for
from policies.facts import type_of_object
from policies.windows import BEFORE, cut
from schema import Chunk, Memory, Subject, Turn
from schema.selectors import StatedFact, Window, dialogue_of
from stores.catalog import Changes, IndexJob
from stores.embedding.base import reading_of
from stores.index.base import SELECTORS, Family, Indexed
from stores.open import Stores

_ALL = 10**9
_A_PAGE = 256


def text_of(item: Indexed) -> str:
    """Return what of it is embedded."""
    match item:
        case Memory():
            return item.summary
        case Chunk() | Window():
            return item.content
        case StatedFact(memory, _):
            fact = item.fact
            who = "The entity" if fact.entity.casefold() == "user" else fact.entity
            return f"{who} {fact.verb} {type_of_object(fact.attribute, fact.object, memory.entities)}: {fact.object}"


def with_selectors(changes: Changes, stores: Stores) -> Changes:
    """Return the changes with the windows of their sources, and vectors for their facts, if the settings want any."""
    return replace(
        changes,
        windows=windows_of(changes.subject, changes.sources, stores)
        if stores.settings.episodic_windows == "on"
        else (),
        fact_vectors=stores.settings.fact_vectors == "on",
    )


def jobs_left(changes: Changes, stores: Stores) -> list[IndexJob]:
    """Return what the indexes of windows and facts must be told since some changes."""
    is_told = changes.windows or changes.fact_vectors or changes.deleted or changes.reduced or changes.erased_turns
    jobs = stores.catalog.index_jobs(changes.subject, limit=_ALL) if is_told else []
    return [job for job in jobs if job.family in SELECTORS]


def windows_of(subject: Subject, turns: Sequence[Turn], stores: Stores) -> tuple[Window, ...]:
    """Return the windows of a subject's kept turns, which are given oldest first."""
    reading, policy = reading_of(stores.embedder), stores.policy
    sizes = sizes_for(policy.chunk_tokens, policy.chunk_overlap_tokens, policy.chunk_max_tokens, reading.max_tokens)
    last: dict[str, Turn] = {}
    windows: list[Window] = []
    for turn in turns:
        conversation, until = turn.conversation_id, turn.occurred_at
        before = last.get(conversation) or stores.catalog.families.turn_before(
            subject, conversation, until - BEFORE, until
        )
        if before and not until - BEFORE <= before.occurred_at <= until:
            before = None
        last[conversation] = turn
        spans = cut(dialogue_of(before) if before else "", dialogue_of(turn), sizes, reading.spans)
        windows += [Window(turn, number, *span, before if span[0] < 0 else None) for number, span in enumerate(spans)]
    return tuple(windows)


def make_missing(subject: Subject, stores: Stores, now: datetime) -> None:
    """Give a subject the windows and the vectors of facts that were not made while the settings did not want them."""
    families = stores.catalog.families
    while stores.settings.episodic_windows == "on" and (turns := families.turns_without_windows(subject, _A_PAGE)):
        stores.catalog.commit(Changes(subject=subject, at=now, windows=windows_of(subject, turns, stores)))
    if stores.settings.fact_vectors == "on":
        for page in families.pages(Family.MEMORIES, subject, _A_PAGE):
            stated = tuple(item for item in page if isinstance(item, Memory) and item.facts)
            stores.catalog.commit(Changes(subject=subject, at=now, stated=stated))
