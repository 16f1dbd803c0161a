"""Announces what happened: the outbox, to one bounded Redis stream per subject.

Every event is announced at least once; its `event_id` tells a repeated one.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from memory.schema import Event, Subject
from worker.parts import Parts

_STREAM_SECONDS = 7 * 86400
"""How long a reader may stay away and still find what it missed."""


def stream_key(subject: Subject) -> str:
    """The Redis stream of a subject's events."""
    return f"afterturn:events:{{{subject.key}}}"


def announce(events: Sequence[tuple[int, Event]], parts: Parts) -> None:
    """Append events with their outbox ids to their subjects' streams, in their order."""
    if not events:
        return
    pipeline = parts.redis.pipeline(transaction=False)
    for event_id, event in events:
        fields: dict[Any, Any] = {
            "event_id": event_id,
            "event": event.name.value,
            "at": event.at.isoformat(),
            "payload": json.dumps(event.payload, ensure_ascii=False),
        }
        pipeline.xadd(stream_key(event.subject), fields, maxlen=parts.settings.event_stream_length, approximate=True)
    for subject in {event.subject for _, event in events}:
        pipeline.expire(stream_key(subject), _STREAM_SECONDS)
    pipeline.execute()
