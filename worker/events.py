"""Announces what happened: the outbox, to one bounded Redis stream per subject.

Every event is announced at least once; its `event_id` tells a repeated one.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Sequence
from typing import Any, cast

from memory.schema import Event, EventName, Subject
from worker.parts import Parts

_STREAM_SECONDS = 7 * 86400
"""How long a reader may stay away and still find what it missed."""


def stream_key(subject: Subject) -> str:
    """The Redis stream of a subject's events."""
    return f"afterturn:events:{{{subject.key}}}"


def announce(events: Sequence[tuple[int, Event]], parts: Parts) -> None:
    """Append events with their outbox ids to their subjects' streams, in their order.

    A deletion takes the earlier events of that memory out of the stream: they carry its summary.
    """
    if not events:
        return
    gone: dict[Subject, set[str]] = defaultdict(set)
    for _, event in events:
        if event.name is EventName.DELETED:
            gone[event.subject].add(str(event.payload["id"]))
    for subject, ids in gone.items():
        _take_back(subject, ids, parts)
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


def _take_back(subject: Subject, ids: set[str], parts: Parts) -> None:
    entries: list[tuple[bytes, dict[bytes, bytes]]] = cast(Any, parts.redis.xrange(stream_key(subject)))
    told = [entry for entry, fields in entries if ids & set(map(str, json.loads(fields[b"payload"]).values()))]
    if told:
        parts.redis.xdel(stream_key(subject), *told)
