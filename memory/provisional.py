"""Settle provisional memories, which the hot path noted: what came of the turn takes one over, or it is withdrawn."""

from __future__ import annotations

import uuid
from collections.abc import Collection, Iterable, Mapping
from datetime import datetime, timedelta
from typing import Final

from memory.context import MemoryContext
from memory.draft import Draft
from memory.publish import publish
from policies.language.stems import share_said
from schema import Memory, Status, Subject
from schema.errors import ConcurrentChange

FORGOTTEN_AFTER: Final = timedelta(days=1)
"""How long something may be provisional whose turn never comes."""
_HELD: Final = "under legal hold: kept, and told to nobody"
_CAME_TO_NOTHING: Final = "its turn came to nothing"
_NO_TURN: Final = "no turn of it came within a day"


def noted_of(subject: Subject, turn_ids: Collection[str], context: MemoryContext) -> list[Memory]:
    """Return what the hot path noted of turns and nobody has settled."""
    return context.catalog.provisional.of_turns(subject, turn_ids)


def settle(noted: Iterable[Memory], became: Mapping[str, Collection[uuid.UUID]], draft: Draft) -> None:
    """Settle on the draft what was noted. `became` are the memories that turns became or were merged into, by turn.

    Of several memories of one turn the one that says most of what was noted takes it over. What is under legal hold
    stays, archived.
    """
    for memory in noted:
        ids = {id_ for turn_id in memory.source_turn_ids for id_ in became.get(turn_id, ())}
        into = [
            decided for id_ in ids if (decided := draft.current.get(id_)) and decided.status is not Status.PROVISIONAL
        ]
        says = {decided.id: share_said(decided.summary, memory.summary) for decided in into}
        best = max(into, key=lambda decided: (says[decided.id], decided.id), default=None)
        draft.load([memory])
        if memory.id not in draft.current:
            # A wish to forget in the same turns took it.
            continue
        if memory.legal_hold or best is None or says[best.id] <= 0:
            _withdraw(memory, _CAME_TO_NOTHING, draft)
        else:
            draft.take_over(memory, best)


def withdraw_stale(context: MemoryContext, now: datetime, limit: int) -> int:
    """Withdraw what was noted more than a day ago and whose turn never came; return how much it was."""
    gone = 0
    for memory in context.catalog.provisional.from_before(now - FORGOTTEN_AFTER, limit):
        draft = Draft(memory.subject, now, context.policy.version, by="worker")
        draft.load([memory])
        _withdraw(memory, _NO_TURN, draft)
        try:
            publish(draft.changes(), {}, context)
        except ConcurrentChange:
            # Its turn is being settled now.
            continue
        gone += 1
    return gone


def _withdraw(memory: Memory, reason: str, draft: Draft) -> None:
    if not memory.legal_hold:
        draft.delete(memory, reason)
    elif draft.current[memory.id].status is Status.PROVISIONAL:
        draft.archive(draft.current[memory.id], _HELD)
