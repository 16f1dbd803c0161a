"""Remember what a person or an agent states outright, by the same decision as what comes of a turn."""

from __future__ import annotations

import hashlib
import uuid
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final, Literal

from memory.context import MemoryContext
from memory.draft import Draft
from memory.leases import subject_lease
from memory.publish import publish
from memory.quotas import require_room, room_of
from memory.resolve import Resolution, resolve
from memory.rights import name_of, require_writable, seen_of
from memory.scoring import Origin, embed, score
from memory.spending import spending
from memory.statement_screening import reading_of, require_consent, screened, stated_tags, stated_without_others
from memory.tracing import memory_span
from policies.access import may_see
from policies.authority import USER
from policies.categories import normalised_category
from policies.limits import within_rate
from schema import Candidate, Kind, Labels, Memory, MemoryType, Principal, Subject, Visibility
from schema.turn import TurnSource
from stores.catalog import LedgerEntry, Outcome

_WRITES_WINDOW: Final = timedelta(hours=1)
_TYPE_OF: Final = {
    Kind.USER_PREFERENCE: MemoryType.SEMANTIC,
    Kind.USER_FACT: MemoryType.SEMANTIC,
    Kind.KNOWLEDGE: MemoryType.SEMANTIC,
    Kind.EVENT_PATTERN: MemoryType.SEMANTIC,
    Kind.PROACTIVE_ACTION: MemoryType.SEMANTIC,
    Kind.CONVERSATION_CONTEXT: MemoryType.EPISODIC,
    Kind.ERROR_HANDLING: MemoryType.PROCEDURAL,
    Kind.AGENT_PROCEDURE: MemoryType.PROCEDURAL,
}
"""Of which type a kind is ("VOS Memory System", memory types)."""


@dataclass(frozen=True)
class Statement:
    """A statement to remember. `summary` is one or two sentences; confidence and importance run from 0 to 1."""

    summary: str
    kind: Kind = Kind.USER_FACT
    category: str | None = None
    tags: tuple[str, ...] = ()
    confidence: float = 0.8
    """Certainty, 0 to 1: .9 and more of what was stated, .6 to .8 of what was inferred ("VOS Memory System",
    confidence)."""
    visibility: Visibility | None = None
    """Unset: an agent's procedures are its own, everything else is shared ("VOS Memory System", scopes)."""
    occurred_at: datetime | None = None
    type: MemoryType | None = None
    """Unset: that of its kind."""
    pinned: bool = False
    importance: float | None = None
    """Unset: by the rules, as of what comes of a turn."""
    id: uuid.UUID | None = None
    """Names it where it may be stated again: it is decided on once, whatever was said or forgotten since."""


@dataclass(frozen=True)
class Remembered:
    """Outcome of a statement. `memory` is what says it now; None where what is known already does, where it is
    held for a person (an agent's words do not take the place of the user's), and where the principal may not see it."""

    outcome: Literal["created", "updated", "known", "held"]
    memory: Memory | None


@spending("change")
def remember(
    principal: Principal | None,
    subject: Subject,
    statement: Statement,
    context: MemoryContext,
    *,
    now: datetime,
    by: str | None = None,
) -> Remembered:
    """Screen a statement, compare it with what is known, and keep it, merge it, or put it in a known one's place. What
    facts it states are read off it, as off what comes of a turn; of its tags those stay that a turn's might.

    The subject's lease is held meanwhile, so that no turn is decided at the same time. An agent's statement is trusted
    less than a person's. `by` is who does it, for the audit, where that is another than the principal's key or an
    operator.

    Raises:
        NotAMember, NotAllowed: the principal may not write that of the subject.
        NotKept: it is a secret, planted, on a blocked topic, of somebody else's health, faith or deeds beside what may
            be a part of their name, or consent is withdrawn.
        QuotaExceeded: the user, or the tenant, has as many memories as it may.
        SubjectBusy: the subject's lease was not to be had within 5 seconds.
        pydantic.ValidationError: a value cannot be what its field says.
    """
    visibility = statement.visibility or _default_visibility(statement.kind, principal)
    author_id = (principal.user_id if principal else None) or subject.subject_id
    agent_id = principal.agent_id if principal else None
    require_writable(principal, subject, Labels(visibility, author_id, agent_id), context.catalog)
    summary = _summary(subject, statement, _source_of(principal), context)
    statement = replace(statement, summary=summary, tags=stated_tags(statement.tags, subject, context))
    candidate = _candidate(statement, principal, context, now)
    read = reading_of(candidate.summary, subject, context, now)
    candidate = candidate.model_copy(update={"facts": read.facts, "entities": read.entities})
    with memory_span("upsert_memory", count=1), subject_lease(subject, context) as lease:
        if statement.id is not None and context.catalog.processed(subject, [candidate.turn_id]):
            return Remembered("known", None)
        draft = Draft(subject, now, context.policy.version, by=by or name_of(principal))
        draft.room = room_of(subject, context)
        state = context.catalog.subject_state(subject, now - _WRITES_WINDOW)
        candidate = stated_without_others(candidate, subject, context)
        scored = score(candidate, context)
        slower = within_rate(state.writes, candidate.explicit, context.policy)
        scored = replace(scored, importance=scored.importance * slower)
        items = [scored if statement.importance is None else replace(scored, importance=statement.importance)]
        vectors = embed(items, state.unindexed, draft, context)
        origin = Origin(None, agent_id, author_id, visibility=visibility)
        [resolution] = resolve(items, vectors, {candidate.turn_id: origin}, draft, context)
        memory = draft.current[resolution.memory_id] if resolution.memory_id else None
        changes = draft.changes(lease.token)
        if statement.id is not None and not draft.over_quota:
            changes = replace(changes, ledger=(_decided_on(resolution, now),))
        publish(changes, draft.vectors, context)
    require_room(draft)
    # It may have been merged into what somebody else called private: that it says more is not for the principal.
    seen = seen_of(principal, subject, context.catalog)
    if memory is None or not may_see(seen, memory.labels):
        return Remembered("held" if resolution.is_held else "known", None)
    return Remembered("updated" if memory.id in draft.read else "created", memory)


def _default_visibility(kind: Kind, principal: Principal | None) -> Visibility:
    own = kind is Kind.AGENT_PROCEDURE and principal is not None and principal.agent_id is not None
    return Visibility.INDIVIDUAL if own else Visibility.PRIVATE


def _source_of(principal: Principal | None) -> TurnSource:
    return "agent" if principal is not None and principal.agent_id is not None else "chat"


def _summary(subject: Subject, statement: Statement, source: TurnSource, context: MemoryContext) -> str:
    preferences = context.catalog.preferences.of(subject)
    require_consent(preferences)
    labels = [*statement.tags, *filter(None, [statement.category])]
    return screened(statement.summary, preferences, context, labels=labels, source=source)


def _decided_on(resolution: Resolution, now: datetime) -> LedgerEntry:
    """Return the record that a statement was decided on. Its digest is not of its words: it outlives them."""
    digest = hashlib.sha256(resolution.turn_id.encode()).hexdigest()
    outcome = Outcome.KEPT if resolution.is_effective else Outcome.SKIPPED
    return LedgerEntry(resolution.turn_id, digest, outcome, (), now, now)


def _candidate(statement: Statement, principal: Principal | None, context: MemoryContext, now: datetime) -> Candidate:
    source = _source_of(principal)
    return Candidate(
        turn_id=f"statement:{statement.id or uuid.uuid4()}",
        ordinal=0,
        type=statement.type or _TYPE_OF[statement.kind],
        kind=statement.kind,
        category=normalised_category(statement.category, context.settings.categories),
        summary=statement.summary,
        tags=statement.tags,
        source=source,
        confidence=statement.confidence,
        occurred_at=statement.occurred_at or now,
        said_at=now,
        explicit=source == USER,
        pinned=statement.pinned,
    )
