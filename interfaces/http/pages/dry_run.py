"""Try: what would be remembered of a message, stage by stage, and how a question finds; nothing is stored."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated

from fastapi import APIRouter, Form, Query, Response

from interfaces.http.pages.problems import PageRoute
from interfaces.http.pages.rendering import page
from interfaces.http.pages.sessions import Session
from interfaces.http.pages.sign_in import Me, MyForm, subject_of_me, zone_of
from interfaces.http.service import Opened
from memory.scoring import Scored
from recall.retrieve import Hit, retrieve
from schema import AuditAction, AuditEntry, Candidate, Memory, Message, Status, Subject, Turn
from worker.conversation import before_batch
from worker.pipeline import Decided, ReceivedTurn, decide

router = APIRouter(include_in_schema=False, route_class=PageRoute)
_RANKED = 10
_KEPT_OUT = (AuditAction.REFUSED, AuditAction.QUARANTINED)


@dataclass(frozen=True)
class Outcome:
    """A memory as it would be or was, or what would not become one, with the line that the audit would have."""

    entry: AuditEntry
    memory: Memory | None
    before: Memory | None


@router.get("/try")
def ask(me: Me, service: Opened, question: Annotated[str, Query(max_length=500)] = "") -> Response:
    """Show the forms, and how retrieval ranks what answers a question."""
    hits: Sequence[Hit] = ()
    if question.strip():
        hits = retrieve(
            me.principal,
            [subject_of_me(me)],
            question,
            service.context,
            limit=_RANKED,
            explain=True,
            way=None,
            now=datetime.now(UTC),
        )
    return _page(me, service, question=question, hits=hits)


@router.post("/try")
def rehearse(
    me: MyForm,
    service: Opened,
    said: Annotated[str, Form(min_length=1, max_length=4_000)],
    answered: Annotated[str, Form(max_length=4_000)] = "",
) -> Response:
    """Show what would be remembered of a message. Nothing is written."""
    now = datetime.now(UTC)
    turn = _turn(subject_of_me(me), said, answered, now)
    worker = service.rehearsal()
    before = before_batch(turn.subject, [turn], worker, now)
    decided = decide([ReceivedTurn(turn, turn.digest(), now, now)], before.context, worker, now)
    return _page(me, service, said=said, answered=answered, decided=decided)


def _turn(subject: Subject, text: str, answered: str, now: datetime) -> Turn:
    id_ = f"try:{uuid.uuid4()}"
    messages = [Message(role="user", content=text)]
    if answered.strip():
        messages.append(Message(role="assistant", content=answered))
    return Turn(
        turn_id=id_,
        tenant_id=subject.tenant_id,
        user_id=subject.subject_id,
        conversation_id=id_,
        messages=tuple(messages),
        occurred_at=now,
    )


def _page(
    me: Session,
    service: Opened,
    *,
    said: str = "",
    answered: str = "",
    decided: Decided | None = None,
    question: str = "",
    hits: Sequence[Hit] = (),
) -> Response:
    preferences = service.context.catalog.preferences.of(subject_of_me(me))
    return page(
        "try.html",
        me,
        zone=zone_of(preferences),
        said=said,
        answered=answered,
        decided=decided,
        admission=decided.turns[0].admission if decided else None,
        kept_out=[entry for entry in decided.draft.audit if entry.action in _KEPT_OUT] if decided else [],
        masked=_masked(decided) if decided else [],
        too_light=_too_light(decided) if decided else [],
        outcomes=_outcomes(decided) if decided else [],
        reviews=decided.draft.reviews if decided else [],
        question=question,
        hits=hits,
    )


def _masked(decided: Decided) -> list[str]:
    """Return the summaries out of which something was masked, as they would be kept."""
    extracted = {candidate.ordinal: candidate.summary for candidate in _extracted(decided)}
    weighed = (item.candidate for item in decided.items if isinstance(item, Scored))
    return [candidate.summary for candidate in weighed if candidate.summary != extracted.get(candidate.ordinal)]


def _too_light(decided: Decided) -> list[str]:
    """Return the summaries that count too little to be kept: all that is gone where nothing was held back."""
    is_held_back = any(entry.action in _KEPT_OUT for entry in decided.draft.audit)
    if is_held_back or decided.draft.reviews or decided.preferences.withheld:
        return []
    weighed = {item.candidate.ordinal for item in decided.items if isinstance(item, Scored)}
    return [candidate.summary for candidate in _extracted(decided) if candidate.ordinal not in weighed]


def _extracted(decided: Decided) -> list[Candidate]:
    items = decided.extraction.items if decided.extraction else ()
    return [item for item in items if isinstance(item, Candidate)]


def _outcomes(decided: Decided) -> list[Outcome]:
    draft = decided.draft
    return [
        Outcome(entry, draft.current.get(entry.memory_id), draft.read.get(entry.memory_id))
        for entry in draft.audit
        if entry.memory_id is not None
        and entry.action not in _KEPT_OUT
        and not _comes_and_goes(entry.memory_id, decided)
    ]


def _comes_and_goes(memory_id: uuid.UUID, decided: Decided) -> bool:
    """Return whether a memory would be made and replaced by the same message."""
    memory = decided.draft.current.get(memory_id)
    return memory_id not in decided.draft.read and (memory is None or memory.status is Status.DELETED)
