"""Announces what happened: the outbox, to one bounded Redis stream per subject.

Every event is announced at least once; its `event_id` tells a repeated one.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from memory.context import MemoryContext
from schema import Event, Subject

_STREAM_SECONDS = 7 * 86400
"""How long a reader may stay away and still find what it missed."""


def stream_key(subject: Subject) -> str:
    """Return the key of the Redis stream of a subject's events."""
    return f"afterturn:events:{{{subject.key}}}"


def announce(events: Sequence[tuple[int, Event]], context: MemoryContext) -> dict[int, tuple[str, bytes]]:
    """Append events with their outbox ids to their subjects' streams, in their order, and return the key of the stream
    and the id there of each, by its outbox id.

    A deletion takes the earlier events of that memory out of the stream: they carry its summary. So does what a memory
    says anew.
    """
    if not events:
        return {}
    void_ids: dict[Subject, set[str]] = defaultdict(set)
    for _, event in events:
        if event.voids is not None:
            void_ids[event.subject].add(event.voids)
    for subject, ids in void_ids.items():
        _drop_events_about(subject, ids, context)
    pipeline = context.redis.pipeline(transaction=False)
    for event_id, event in events:
        fields: dict[Any, Any] = {
            "event_id": event_id,
            "event": event.name.value,
            "at": event.at.isoformat(),
            "payload": json.dumps(event.payload, ensure_ascii=False),
        }
        pipeline.xadd(stream_key(event.subject), fields, maxlen=context.settings.event_stream_length, approximate=True)
    for subject in {event.subject for _, event in events}:
        pipeline.expire(stream_key(subject), _STREAM_SECONDS)
    streams = [stream_key(event.subject) for _, event in events]
    return {id_: (stream, entry) for (id_, _), stream, entry in zip(events, streams, pipeline.execute(), strict=False)}


def announce_left(events: Sequence[tuple[int, Event]], context: MemoryContext) -> None:
    """Announce what waits in the outbox since it was read, whoever holds the lease by now.

    What is no longer in the outbox afterwards was announced by somebody else, or erased meanwhile, from the stream too:
    it is taken out again.
    """
    announced = announce(events, context)
    take_back(announced, announced.keys() - context.catalog.mark_done(event_ids=list(announced)).events, context)


def announce_all(subject: Subject, context: MemoryContext) -> None:
    """Announce all that waits in the outbox of one subject."""
    while waiting := context.catalog.outbox(subject):
        announce_left(waiting, context)


def take_back(announced: Mapping[int, tuple[str, bytes]], event_ids: Iterable[int], context: MemoryContext) -> None:
    """Take some of the events that were just announced out of their streams again."""
    for event_id in event_ids:
        stream, entry = announced[event_id]
        context.redis.xdel(stream, entry)


def _drop_events_about(subject: Subject, ids: set[str], context: MemoryContext) -> None:
    entries: Any = context.redis.xrange(stream_key(subject))
    about = [entry for entry, fields in entries if ids & set(map(str, json.loads(fields[b"payload"]).values()))]
    if about:
        context.redis.xdel(stream_key(subject), *about)
