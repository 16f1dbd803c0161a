"""Events as they happen, as server-sent events."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Annotated

import structlog
from fastapi import APIRouter, Depends, Header, Query
from fastapi.sse import EventSourceResponse, ServerSentEvent
from redis import RedisError

from interfaces.http.credentials import Asker, subject_of
from interfaces.http.service import Opened, Service
from memory.members import membership_of
from policies.access import acting
from recall.events import Heard, Listener, listen, listener_of
from schema.turn import Identifier

router = APIRouter(prefix="/api/v1/events", tags=["events"])
_log = structlog.get_logger()
_ENTRY = r"^\d{1,20}(-\d{1,20})?$"
_RETRY_MS = 2_000
"""How long a client waits before it comes back."""


def _listener(
    principal: Asker,
    service: Opened,
    subject_id: Annotated[Identifier | None, Query(description="whose memory; unset: the user's own")] = None,
    user_id: Annotated[Identifier | None, Query(description="for whom, with the capability act_as")] = None,
) -> Listener:
    asker = acting(principal, user_id)
    subject = subject_of(asker, subject_id)
    # Once a stream has begun its answer cannot say any more that the broker is away.
    service.context.redis.ping()
    return listener_of(asker, subject, membership_of(asker, subject, service.context.catalog))


@router.get("", response_class=EventSourceResponse, summary="Listen to what happens to a subject's memory")
async def hear(
    listener: Annotated[Listener, Depends(_listener)],
    service: Opened,
    last_event_id: Annotated[str | None, Header(pattern=_ENTRY)] = None,
) -> AsyncIterator[ServerSentEvent]:
    """Stream events from behind `Last-Event-ID` on, each once; `gap` where some were dropped in between."""
    yield ServerSentEvent(comment="listening", retry=_RETRY_MS)
    async for event in heard_by(listener, last_event_id, service):
        if event is None:
            yield ServerSentEvent(comment="still here")
        else:
            yield ServerSentEvent(event=event.name, id=event.id, data=event.payload)


async def heard_by(listener: Listener, after: str | None, service: Service) -> AsyncIterator[Heard | None]:
    """Yield what `recall.events.listen` does, until the broker goes away: then the stream ends, and whoever listens
    comes back to where they were."""
    try:
        async for event in listen(listener, after, service.context, service.async_redis):
            yield event
    except RedisError as error:
        _log.warning("listener_dropped", error=type(error).__name__)
