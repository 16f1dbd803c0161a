"""Webhooks: who is told of a tenant's events over HTTP, and what became of telling them."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any

from pydantic import AwareDatetime, StringConstraints

from schema.base import NO_NUL, Value
from schema.event import EventName
from schema.turn import Identifier, Subject

Description = Annotated[str, StringConstraints(max_length=200, pattern=NO_NUL)]


class WebhookSecret(Value):
    """Secret that an endpoint's messages are signed with, until a moment if it was rotated."""

    secret: str
    until: AwareDatetime | None = None


class WebhookEndpoint(Value):
    """A URL that is told of a tenant's events, as it is kept: its secrets are told to who makes or rotates one."""

    id: Identifier
    tenant_id: Identifier
    url: str
    description: Description = ""
    events: tuple[EventName, ...] = ()
    """Those it is told of; none named: of all."""
    with_summaries: bool = False
    """True where a message holds what a memory says when it is sent, beside its id."""
    created_at: AwareDatetime
    by: Identifier
    ended_at: AwareDatetime | None = None
    """Since when nothing is sent there."""
    ended_because: str | None = None
    failures: int = 0
    """How many tries failed since one was taken."""
    waits_until: AwareDatetime | None = None
    succeeded_at: AwareDatetime | None = None


class DeliveryStatus(StrEnum):
    WAITING = "waiting"
    DELIVERED = "delivered"
    FAILED = "failed"
    """Every try failed, or the endpoint ended before one was taken."""


class Attempt(Value):
    """One try to deliver: the status that was answered, or why none was."""

    at: AwareDatetime
    status: int | None = None
    error: str | None = None
    seconds: float


class Delivery(Value):
    """One event for one endpoint. `payload` holds ids and labels, never what a memory says."""

    id: Identifier
    endpoint_id: Identifier
    tenant_id: Identifier
    subject_id: Identifier
    name: EventName
    at: AwareDatetime
    payload: dict[str, Any]
    status: DeliveryStatus = DeliveryStatus.WAITING
    attempts: tuple[Attempt, ...] = ()
    next_at: AwareDatetime | None = None
    delivered_at: AwareDatetime | None = None

    @property
    def subject(self) -> Subject:
        return Subject(tenant_id=self.tenant_id, subject_id=self.subject_id)
