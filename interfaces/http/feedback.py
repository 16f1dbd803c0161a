"""Feedback over HTTP: which memories helped an answer."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime
from typing import Annotated

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field

from interfaces.http.credentials import Asker, subject_of
from interfaces.http.service import Opened
from memory.feedback import note_feedback
from policies.access import acting
from schema.turn import Identifier
from stores.catalog.feedback import Feedback

router = APIRouter(prefix="/api/v1/feedback", tags=["memories"])


class FeedbackIn(BaseModel):
    """Feedback on one answer."""

    model_config = ConfigDict(extra="forbid")

    request_id: Identifier = Field(
        description="the X-Request-ID of the search or context behind the answer, of the last hour"
    )
    useful: Annotated[list[uuid.UUID], Field(max_length=100)] = Field(
        default_factory=list, description="the memories that helped; none says that none did"
    )
    score: Annotated[float, Field(ge=0, le=1, strict=True)] | None = Field(
        None, description="how good the answer was, where the user said so"
    )
    user_id: Identifier | None = Field(None, description="whose memory it was; unset: the key's user")


class FeedbackOut(BaseModel):
    """The memories for which it counts: those that were told, and may be seen still."""

    counted: list[uuid.UUID]


@router.post("", summary="Say which memories helped an answer")
def give_feedback(given: FeedbackIn, principal: Asker, service: Opened) -> FeedbackOut:
    """Note which memories helped: each counts as used once more, of those that this key was told by that request. Of
    the feedback on one request the first counts."""
    asker = acting(principal, given.user_id)
    subject = subject_of(asker, given.user_id)
    told = service.answers.told(given.request_id, asker, subject)
    useful = tuple(id_ for id_ in dict.fromkeys(given.useful) if id_ in told)
    feedback = Feedback(given.request_id, useful, given.score, asker.key_id, datetime.now(UTC))
    counted = note_feedback(asker, subject, feedback, service.context)
    return FeedbackOut(counted=list(counted))
