"""The way in over HTTP: a backend sends each turn after its response has gone out."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime
from http import HTTPStatus
from typing import Annotated

from fastapi import APIRouter, Header
from pydantic import AwareDatetime, BaseModel, ConfigDict, Field

from interfaces.http.credentials import Asker, subject_of
from interfaces.http.idempotency import RequestName
from interfaces.http.service import Opened
from policies.access import acting, require
from producers import Accepted
from schema import Attachment, Capability, Message
from schema.turn import Consent, HotPathCandidate, Identifier, Metadata, TurnSource

router = APIRouter(prefix="/api/v1/turns", tags=["turns"])


class TurnIn(BaseModel):
    """A turn as a backend sends it: who and what was said is enough, the rest has defaults."""

    model_config = ConfigDict(extra="forbid")

    user_id: Identifier | None = Field(None, description="whose memory it is; unset: the key's user")
    messages: Annotated[list[Message], Field(min_length=1)]
    turn_id: Identifier | None = Field(
        None, description="the turn's idempotency key; unset: the header Idempotency-Key, or one of its own"
    )
    conversation_id: Identifier = "default"
    agent_id: Identifier | None = None
    sequence: Annotated[int, Field(ge=0, strict=True)] | None = None
    occurred_at: AwareDatetime | None = Field(None, description="when it was said; unset: now")
    source: TurnSource = "chat"
    attachments: list[Attachment] = []
    candidate: HotPathCandidate | None = None
    consent: Consent | None = None
    history: list[Message] = Field(
        [], description="what was said before it, oldest first: the turn is understood by it, and nothing of it is kept"
    )
    metadata: Metadata = Field({}, description="what the application notes of it: kept with the turn, and not read")


class TurnOut(BaseModel):
    """Outcome of enqueueing a turn: whatever `accepted` says, it will be processed, once."""

    turn_id: str
    accepted: Accepted


@router.post("", status_code=HTTPStatus.ACCEPTED, summary="Enqueue a turn, to be remembered after the response")
async def put_turn(
    turn: TurnIn,
    principal: Asker,
    service: Opened,
    idempotency_key: Annotated[RequestName | None, Header()] = None,
    afterturn_waited_seconds: Annotated[
        float, Header(ge=0, allow_inf_nan=False, description="for how long the sender had kept it before it could send")
    ] = 0.0,
) -> TurnOut:
    """Take a turn within the producer's budget, whatever the broker does: what is answered with 202 is processed once.

    Sent again with the same `turn_id` (or `Idempotency-Key`) and the same content it changes nothing; with other
    content it is refused (409). When it was said is no part of that: the first `occurred_at` stands. Whoever kept it
    until it could be sent says for how long: what was erased meanwhile does not come back with it.
    """
    require(principal, Capability.TURNS)
    asker = acting(principal, turn.user_id, turn.agent_id)
    subject = subject_of(asker, turn.user_id)
    turn_id = turn.turn_id or idempotency_key or str(uuid.uuid4())
    fields = turn.model_dump(exclude={"user_id", "turn_id", "agent_id", "occurred_at"}, exclude_none=True)
    accepted = await service.producer.enqueue_async(
        {
            **fields,
            "schema_version": 2 if turn.history or turn.metadata else 1,
            "turn_id": turn_id,
            "tenant_id": subject.tenant_id,
            "user_id": subject.subject_id,
            "agent_id": turn.agent_id or asker.agent_id,
            "occurred_at": turn.occurred_at or datetime.now(UTC),
        },
        waited_seconds=afterturn_waited_seconds,
    )
    return TurnOut(turn_id=turn_id, accepted=accepted)
