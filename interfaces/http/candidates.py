"""The hot path over HTTP: what a user just said is noted at once, while the assistant still answers."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime
from typing import Annotated, Literal

from fastapi import APIRouter
from pydantic import AwareDatetime, BaseModel, ConfigDict, Field

from interfaces.http.credentials import Asker, subject_of
from interfaces.http.service import Opened
from policies.access import acting, require
from producers import parse_turn
from schema import Capability, MemoryType, Message
from schema.turn import Consent, Identifier, TurnSource

router = APIRouter(prefix="/api/v1/turns", tags=["turns"])


class ExchangeIn(BaseModel):
    """The last one or two turns as far as they are there, the user's message last."""

    model_config = ConfigDict(extra="forbid")

    user_id: Identifier | None = Field(None, description="whose memory it is; unset: the key's user")
    messages: Annotated[list[Message], Field(min_length=1, max_length=20)]
    turn_id: Identifier | None = Field(
        None, description="the id under which the turn is enqueued after the response; unset: one is made"
    )
    conversation_id: Identifier = "default"
    agent_id: Identifier | None = None
    occurred_at: AwareDatetime | None = Field(None, description="when it was said; unset: now")
    source: TurnSource = "chat"
    consent: Consent | None = None


class CandidateOut(BaseModel):
    """Provisional memory, until the worker has decided; `id` is that of `memory.candidate` and of `memory.merged`."""

    id: uuid.UUID
    type: MemoryType
    category: str
    summary: str
    created_at: AwareDatetime


class NotedOut(BaseModel):
    """Outcome of the hot path for what was said. Enqueue the turn under `turn_id` after the response."""

    turn_id: str
    should_create: bool
    confidence: float
    type_hint: MemoryType
    tags_hint: list[str]
    by: Literal["rules", "model"]
    done: list[str] = Field(description="orders that were done at once: forget, consent, blocked_topic")
    candidate: CandidateOut | None


@router.post("/candidate", summary="Note at once what a user just said, before the response")
def note(given: ExchangeIn, principal: Asker, service: Opened) -> NotedOut:
    """Do at once what the user orders (to forget, to stop or go on remembering), and note what is worth a memory:
    provisional until the worker settles it with the turn of the same `turn_id`. Asked again it changes nothing; 409
    where the turn was processed or erased before."""
    require(principal, Capability.TURNS)
    asker = acting(principal, given.user_id, given.agent_id)
    now = datetime.now(UTC)
    turn = parse_turn(
        {
            **given.model_dump(exclude={"user_id", "turn_id", "agent_id", "occurred_at"}, exclude_none=True),
            "turn_id": given.turn_id or str(uuid.uuid4()),
            "tenant_id": asker.tenant_id,
            "user_id": subject_of(asker, given.user_id).subject_id,
            "agent_id": given.agent_id or asker.agent_id,
            "occurred_at": given.occurred_at or now,
        }
    )
    noted = service.hot_path.note(turn, by=asker.key_id, now=now)
    trigger = noted.trigger
    return NotedOut(
        turn_id=turn.turn_id,
        should_create=trigger.should_create,
        confidence=trigger.confidence,
        type_hint=trigger.type_hint,
        tags_hint=list(trigger.tags_hint),
        by=trigger.by,
        done=list(noted.done),
        candidate=CandidateOut.model_validate(noted.candidate, from_attributes=True) if noted.candidate else None,
    )
