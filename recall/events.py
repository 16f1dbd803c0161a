"""Listen to what happens to a subject's memory: its stream from where a listener left off, as far as it may see it."""

from __future__ import annotations

import asyncio
import json
import uuid
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from redis import Redis
from redis.asyncio import Redis as AsyncRedis

from memory.events import stream_key
from policies.access import may_see, role_in, seen_by
from schema import EventName, KeptDocument, Labels, MemberRole, Principal, Seen, Subject, Visibility
from stores.open import Stores

GAP: Final = "gap"
"""The name of what tells a listener that events were dropped between what it saw last and what comes next."""
_READ: Final = 200
"""Entries of the stream that are read at a time."""

_EMPTY: Final = "0-0"
_BEGINNING: Final = frozenset({"0", _EMPTY})
"""Where a listener goes on from who wants all that the stream has."""

_Entry = tuple[str, Mapping[bytes, bytes]]
"""The id of an entry and its fields."""


@dataclass(frozen=True)
class Heard:
    """An event as a listener is told it, or a gap. `id` is where in the stream to go on from. The payload of an event
    has its `event_id`, which it keeps when it is announced again, and when it happened (`at`)."""

    id: str
    name: str
    payload: dict[str, Any]


@dataclass(frozen=True)
class Listener:
    """A listener to a subject's events, and what they may hear."""

    subject: Subject
    seen: tuple[Seen, ...]
    hears_all: bool
    """True where what names neither memory nor document, such as a turn that was given up, is for them too."""


def listener_of(principal: Principal, subject: Subject, membership: MemberRole | None) -> Listener:
    """Return what a principal may hear of a subject; `membership` is what the catalog has of its user there.

    What names neither a memory nor a document is for the subject's creators and for services alone.

    Raises:
        NotAMember, NotAllowed: the principal may see nothing of the subject.
    """
    role = role_in(principal, subject, membership)
    hears_all = principal.user_id is None or role is MemberRole.CREATOR
    return Listener(subject, seen_by(principal, role, subject), hears_all)


def last_entry(subject: Subject, redis: Redis) -> str:
    """Return the newest entry of a subject's stream: who asks for it, reads what is known and then listens from there
    on misses nothing in between."""
    latest = _entries(redis.xrevrange(stream_key(subject), count=1))
    return latest[0][0] if latest else _EMPTY


async def listen(
    listener: Listener, after: str | None, stores: Stores, redis: AsyncRedis, *, block_seconds: float = 15.0
) -> AsyncIterator[Heard | None]:
    """Yield the events of a subject from behind the entry `after` on (from now on if None), for ever.

    Each is told once, however often it was announced. None comes where nothing happened for `block_seconds`. What the
    row of a memory or a document says now decides whether an event of it may be heard; of a memory that is gone the id
    is told, of a document that is gone its deletion to whom could see it.
    """
    key = stream_key(listener.subject)
    event_ids: dict[int, None] = {}
    if after is None:
        latest = _entries(await redis.xrevrange(key, count=1))
        position = latest[0][0] if latest else _EMPTY
    else:
        position = after
        event_ids, is_whole = await _before(redis, key, after)
        if not is_whole:
            yield _gap(position)
    most = min(_READ, stores.settings.event_stream_length)
    while True:
        answered: Any = await redis.xread({key: position}, count=_READ, block=round(block_seconds * 1000))
        if not answered:
            yield None
            continue
        [(_, entries)] = answered
        # Of a stream that was cut behind a listener so much is left at least.
        if len(entries) >= most and not await _reaches_back_to(redis, key, position):
            yield _gap(position)
        fresh: list[_Entry] = []
        for position, fields in _entries(entries):
            event_id = int(fields[b"event_id"])
            if event_id not in event_ids:
                event_ids[event_id] = None
                fresh.append((position, fields))
        for event_id in list(event_ids)[: max(0, len(event_ids) - stores.settings.event_stream_length)]:
            del event_ids[event_id]
        for heard in await asyncio.to_thread(_audible, fresh, listener, stores):
            yield heard


def _gap(after: str) -> Heard:
    return Heard(after, GAP, {"after": after})


async def _reaches_back_to(redis: AsyncRedis, key: str, position: str) -> bool:
    """Return whether a stream still has what came at a position or before it, and so all that came behind it."""
    return position in _BEGINNING or bool(await redis.xrange(key, max=position, count=1))


async def _before(redis: AsyncRedis, key: str, after: str) -> tuple[dict[int, None], bool]:
    """Return the numbers of the events up to an entry, and whether all that came behind it is still there."""
    if after in _BEGINNING:
        return {}, True
    entries = _entries(await redis.xrange(key, max=after))
    event_ids = dict.fromkeys(int(fields[b"event_id"]) for _, fields in entries)
    return event_ids, bool(entries)


def _audible(entries: Sequence[_Entry], listener: Listener, stores: Stores) -> list[Heard]:
    events = [_heard(position, fields) for position, fields in entries]
    ids = {uuid.UUID(event.payload["id"]) for event in events if "id" in event.payload}
    labels = {memory.id: memory.labels for memory in stores.catalog.memories(listener.subject, ids).values()}
    names = {event.payload["document_id"] for event in events if "document_id" in event.payload}
    documents = stores.catalog.documents.heads(listener.subject, names) if names else {}

    def may_hear(event: Heard) -> bool:
        if "document_id" in event.payload:
            document_labels = _labels_of_document(event, documents)
            return document_labels is not None and may_see(listener.seen, document_labels)
        if "id" not in event.payload:
            return listener.hears_all
        memory_labels = labels.get(uuid.UUID(event.payload["id"]))
        return event.name == EventName.DELETED if memory_labels is None else may_see(listener.seen, memory_labels)

    return [event for event in events if may_hear(event)]


def _heard(position: str, fields: Mapping[bytes, bytes]) -> Heard:
    told = {"event_id": int(fields[b"event_id"]), "at": fields[b"at"].decode()}
    return Heard(position, fields[b"event"].decode(), json.loads(fields[b"payload"]) | told)


def _labels_of_document(event: Heard, documents: Mapping[str, KeptDocument]) -> Labels | None:
    if event.name == EventName.DOCUMENT_DELETED:
        visibility = event.payload.get("visibility")
        return Labels(Visibility(visibility), event.payload["author_id"]) if visibility else None
    document = documents.get(event.payload["document_id"])
    return None if document is None else document.labels


def _entries(read: Any) -> list[_Entry]:
    return [(entry_id.decode(), fields) for entry_id, fields in read]
