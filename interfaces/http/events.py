"""Events as they happen, as server-sent events."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from typing import Annotated

import structlog
from fastapi import APIRouter, Depends, Header, Query
from fastapi.sse import EventSourceResponse, ServerSentEvent
from redis import RedisError

from interfaces.http.credentials import Asker, AskingAgain, subject_of
from interfaces.http.ending import until
from interfaces.http.service import Opened, Service
from memory.members import membership_of
from memory.metrics import SSE_LISTENERS
from policies.access import acting
from recall.events import Heard, Listener, listen, listener_of
from schema.errors import Refused, Transient
from schema.turn import Identifier

router = APIRouter(prefix="/api/v1/events", tags=["events"])
_log = structlog.get_logger()
_ENTRY = r"^\d{1,19}(-\d{1,19})?$"
"""The id of an entry. With a digit more it may be more than Redis reads."""
_ASKED_AGAIN_SECONDS = 1.0
_RETRY_MS = 2_000
"""How long a client waits before it comes back."""


Renewing = Callable[[], Listener]
"""Returns who listens as it is by now; raises `Refused` where nobody may any more."""


def _renewing(
    principal: Asker,
    asking: AskingAgain,
    service: Opened,
    subject_id: Annotated[Identifier | None, Query(description="whose memory; unset: the user's own")] = None,
    user_id: Annotated[Identifier | None, Query(description="for whom, with the capability act_as")] = None,
) -> Renewing:
    subject = subject_of(acting(principal, user_id), subject_id)
    # Once a stream has begun its answer cannot say any more that the broker is away.
    service.context.redis.ping()

    def listening() -> Listener:
        asker = acting(asking(), user_id)
        return listener_of(asker, subject, membership_of(asker, subject, service.context.catalog))

    listening()
    return listening


@router.get("", response_class=EventSourceResponse, summary="Listen to what happens to a subject's memory")
async def hear(
    renewing: Annotated[Renewing, Depends(_renewing)],
    service: Opened,
    last_event_id: Annotated[str | None, Header(pattern=_ENTRY)] = None,
) -> AsyncIterator[ServerSentEvent]:
    """Stream events from behind `Last-Event-ID` on, each once; `gap` where some were dropped in between.

    The stream ends when the key is revoked, or may no longer hear of the subject.
    """
    yield ServerSentEvent(comment="listening", retry=_RETRY_MS)
    async for event in heard_by(renewing, last_event_id, service):
        if event is None:
            yield ServerSentEvent(comment="still here")
        else:
            yield ServerSentEvent(event=event.name, id=event.id, data=event.payload)


async def heard_by(renewing: Renewing, after: str | None, service: Service) -> AsyncIterator[Heard | None]:
    """Yield what `recall.events.listen` does, until the broker goes away, the service ends or who listens may not any
    more: then the stream ends, and whoever listens comes back to where they were.

    Whether they still may is asked again once a second at most, before anything is told.
    """
    asked = time.monotonic()
    SSE_LISTENERS.inc()
    try:
        listener = await asyncio.to_thread(renewing)
        heard = listen(listener, after, service.context, service.async_redis)
        async for event in until(service.ending, heard):
            if time.monotonic() - asked >= _ASKED_AGAIN_SECONDS:
                if await asyncio.to_thread(renewing) != listener:
                    return
                asked = time.monotonic()
            yield event
    except Refused:
        _log.info("listener_no_longer_allowed")
    except (RedisError, Transient) as error:
        _log.warning("listener_dropped", error=type(error).__name__)
    finally:
        SSE_LISTENERS.dec()
