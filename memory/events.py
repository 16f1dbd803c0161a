"""Announces what happened: the outbox, to one bounded Redis stream per subject.

Every event is announced at least once; its `event_id` tells a repeated one.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

from memory.context import MemoryContext
from schema import Event, Subject

_STREAM_SECONDS = 7 * 86400
"""How long a reader may stay away and still find what it missed."""


def stream_key(subject: Subject) -> str:
    """The Redis stream of a subject's events."""
    return f"afterturn:events:{{{subject.key}}}"


def announce(events: Sequence[tuple[int, Event]], context: MemoryContext) -> dict[int, tuple[str, bytes]]:
    """Append events with their outbox ids to their subjects' streams, in their order.

    A deletion takes the earlier events of that memory out of the stream: they carry its summary. So does what is told
    anew. Answers where each event lies in its stream, by its outbox id.
    """
    if not events:
        return {}
    gone: dict[Subject, set[str]] = defaultdict(set)
    for _, event in events:
        if event.voids is not None:
            gone[event.subject].add(event.voids)
    for subject, ids in gone.items():
        _take_back(subject, ids, context)
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
    told = announce(events, context)
    take_back(told, told.keys() - context.catalog.mark_done(event_ids=list(told)).events, context)


def take_back(told: Mapping[int, tuple[str, bytes]], event_ids: Iterable[int], context: MemoryContext) -> None:
    """Take events that were just told out of their streams again: what they tell of was erased meanwhile."""
    for event_id in event_ids:
        stream, entry = told[event_id]
        context.redis.xdel(stream, entry)


def _take_back(subject: Subject, ids: set[str], context: MemoryContext) -> None:
    entries: list[tuple[bytes, dict[bytes, bytes]]] = cast(Any, context.redis.xrange(stream_key(subject)))
    told = [entry for entry, fields in entries if ids & set(map(str, json.loads(fields[b"payload"]).values()))]
    if told:
        context.redis.xdel(stream_key(subject), *told)
