"""Memories as JSON lines, to carry them from one catalog to another."""

from __future__ import annotations

import base64
import json
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import numpy as np
from pydantic import ValidationError

from memory.context import MemoryContext
from memory.document_export import document_lines, document_of, import_document
from memory.documents.put import DocumentRefused
from memory.item_export import item_lines, item_of
from memory.publish import publish
from memory.third_parties import own_names, without_others
from policies.access import belongs_to_whole
from policies.privacy.third_parties import with_relation, without_names
from schema import AuditAction, AuditEntry, Event, EventName, Memory, Seen, Status, Subject, Turn
from schema.control_characters import escaped_in_json
from schema.errors import Refused
from schema.wrong_fields import wrong_fields
from stores.catalog import Changes
from stores.index.base import Vector
from stores.open import Stores

FORMAT = 1
_MEMORIES_AT_A_TIME = 200
_ALL = 10**9
_ANNOUNCED = (Status.ACTIVE, Status.PROVISIONAL)

Carried = tuple[Memory, list[Turn], Vector | None]
"""A memory with its raw turns, and its vector where that can be used as it is."""


class NotALine(Refused, ValueError):
    """A line that is none of an export. The message says which one and why, without what it says."""


@dataclass
class Imported:
    """How many memories, items of the store and documents were written, and how many were there already and stay as
    they are."""

    written: int = 0
    known: int = 0
    items: int = 0
    known_items: int = 0
    documents: int = 0
    known_documents: int = 0
    refused: int = 0
    """Memories that may not be kept: they may name somebody else beside what is sensitive of them."""
    refused_documents: int = 0
    """Documents that may not be kept: their subject has withdrawn consent, or they are longer than settings allow."""


def export(
    stores: Stores, *, subject: Subject | None = None, vectors: bool = False, seen: tuple[Seen, ...] | None = None
) -> Iterator[str]:
    """Yield one line of what this is, then one for each memory, whatever its status, with the raw turns that it came
    from, and its vector if asked for, one for each item of the store, and one for each document; of one subject or of
    all. `seen` is what somebody sees who asks for all that is known, None for an operator: what is another person's
    alone is left out, and so are documents that they do not see."""
    yield _line({"afterturn": FORMAT, "model": stores.embedder.name if vectors else None})
    for whose in [subject] if subject else stores.catalog.every_subject():
        known = stores.catalog.list_memories(whose, statuses=tuple(Status), limit=_ALL)
        memories = [memory for memory in known if belongs_to_whole(seen, memory.labels, whose)]
        for start in range(0, len(memories), _MEMORIES_AT_A_TIME):
            page = memories[start : start + _MEMORIES_AT_A_TIME]
            vector_of = {entry.memory_id: entry.vector for entry in _entries(whose, page, stores)} if vectors else {}
            turns = {turn.turn_id: turn for turn in stores.catalog.sources(whose, _turn_ids(page))}
            for memory in page:
                sources = [turns[id_] for id_ in memory.source_turn_ids if id_ in turns]
                yield _line(
                    {
                        "memory": memory.model_dump(mode="json", exclude_defaults=True),
                        "sources": [turn.model_dump(mode="json", exclude_none=True) for turn in sources],
                        "vector": _encoded(vector_of[memory.id]) if memory.id in vector_of else None,
                    }
                )
        yield from map(_line, item_lines(whose, stores, datetime.now(UTC)))
        yield from map(_line, document_lines(whose, stores, seen))


def import_lines(lines: Iterable[str], context: MemoryContext, *, by: str, now: datetime) -> Imported:
    """Write the memories of an export that the catalog does not have. Repeatable. Vectors of the settings' own embedder
    are used as they are; otherwise the summaries are embedded anew.

    Raises:
        NotALine: a line is none of an export; what came before it is written.
        UnicodeDecodeError: the lines are no text from there on; so it is.
    """
    result, same_model = Imported(), False
    waiting: list[Carried] = []
    try:
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            value = _value(number, line)
            if "document" in value:
                _write_document(number, value, result, context, by=by, now=now)
                continue
            if "item" in value:
                _write_item(number, value, result, context, now=now)
                continue
            head, memory, sources, vector = _read(number, value)
            if head is not None:
                same_model = head.get("model") == context.embedder.name
                continue
            assert memory is not None
            if waiting and (waiting[0][0].subject != memory.subject or len(waiting) >= _MEMORIES_AT_A_TIME):
                _write(waiting, result, context, by=by, now=now)
                waiting = []
            usable = same_model and vector is not None and vector.shape == (context.embedder.dimensions,)
            waiting.append((memory, sources, vector if usable else None))
    except (NotALine, UnicodeDecodeError):
        _write(waiting, result, context, by=by, now=now)
        raise
    _write(waiting, result, context, by=by, now=now)
    return result


def _write(waiting: list[Carried], result: Imported, context: MemoryContext, *, by: str, now: datetime) -> None:
    if not waiting:
        return
    subject = waiting[0][0].subject
    known = context.catalog.memories(subject, [memory.id for memory, _, _ in waiting])
    new = {memory.id: (memory, sources, vector) for memory, sources, vector in waiting if memory.id not in known}
    result.known += len(waiting) - len(new)
    if not new:
        return
    new = dict(_without_others(new, result, context))
    if not new:
        return
    memories = tuple(memory for memory, _, _ in new.values())
    turns = {turn.turn_id: turn for _, sources, _ in new.values() for turn in sources}
    changes = Changes(
        subject=subject,
        at=now,
        created=memories,
        sources=tuple(turns.values()),
        audit=tuple(
            AuditEntry(
                action=AuditAction.CREATED,
                **subject.model_dump(),
                at=now,
                by=by,
                reason="imported",
                memory_id=memory.id,
                policy_version=memory.policy_version,
            )
            for memory in memories
        ),
        events=tuple(Event.about(memory, EventName.CREATED, now) for memory in memories if memory.status in _ANNOUNCED),
    )
    publish(changes, {id_: vector for id_, (_, _, vector) in new.items() if vector is not None}, context)
    result.written += len(new)


def _without_others(
    new: Mapping[uuid.UUID, Carried], result: Imported, context: MemoryContext
) -> Iterator[tuple[uuid.UUID, Carried]]:
    """Yield what may be kept, without the names of others beside their health, faith or deeds: another house may have
    kept them."""
    for id_, (memory, sources, vector) in new.items():
        own = [name for name in (memory.subject_id, *(turn.user_name() for turn in sources)) if name]
        masked = without_others(memory, own, context.policy)
        if masked.hidden:
            masked = without_others(memory, (*own, *own_names(memory.subject, context)), context.policy)
        if masked.kept is None:
            result.refused += 1
        elif not masked.hidden:
            yield id_, (memory, sources, vector)
        else:
            yield id_, (masked.kept, [_turn_without(turn, masked.hidden) for turn in sources], None)


def _turn_without(turn: Turn, names: Sequence[str]) -> Turn:
    messages = tuple(
        message.model_copy(update={"content": with_relation(without_names(message.content, names))})
        for message in turn.messages
    )
    metadata = {
        name: with_relation(without_names(value, names)) if isinstance(value, str) else value
        for name, value in turn.metadata.items()
    }
    return turn.model_copy(update={"messages": messages, "metadata": metadata})


def _value(number: int, line: str) -> dict[str, Any]:
    try:
        value = json.loads(line)
    except ValueError:
        value = None
    if not isinstance(value, dict):
        raise NotALine(f"line {number} is no line of an export (a JSON object)")
    return value


def _write_item(number: int, value: dict[str, Any], result: Imported, context: MemoryContext, *, now: datetime) -> None:
    try:
        subject, item = item_of(value)
    except (ValueError, TypeError, KeyError) as error:
        raise NotALine(f"line {number} is no item of an export ({type(error).__name__})") from None
    new = context.catalog.items.import_new(subject, [item], now)
    result.items += new
    result.known_items += 1 - new


def _write_document(
    number: int, value: dict[str, Any], result: Imported, context: MemoryContext, *, by: str, now: datetime
) -> None:
    try:
        document, is_held = document_of(value)
    except (ValueError, TypeError) as error:
        raise NotALine(f"line {number} is no document of an export ({type(error).__name__})") from None
    try:
        is_new = import_document(document, is_held=is_held, context=context, by=by, now=now)
    except DocumentRefused:
        # What is behind it in the file is no less worth keeping.
        result.refused_documents += 1
        return
    result.documents += is_new
    result.known_documents += not is_new


def _read(number: int, value: dict[str, Any]) -> tuple[dict[str, Any] | None, Memory | None, list[Turn], Vector | None]:
    try:
        if "afterturn" in value:
            return _head(number, value), None, [], None
        memory = Memory.model_validate(value["memory"])
        turns = [Turn.model_validate(turn) for turn in value.get("sources", ())]
        vector = _decoded(value["vector"]) if value.get("vector") else None
    except ValidationError as error:
        raise NotALine(f"line {number}: {wrong_fields(error)}") from None
    except NotALine:
        raise
    except (ValueError, TypeError, KeyError) as error:
        raise NotALine(f"line {number} is no line of an export ({type(error).__name__})") from None
    if any(turn.subject != memory.subject for turn in turns):
        raise NotALine(f"line {number}: a source is another subject's than its memory")
    return None, memory, turns, vector


def _head(number: int, value: dict[str, Any]) -> dict[str, Any]:
    if value["afterturn"] != FORMAT:
        raise NotALine(f"line {number}: format {value['afterturn']!r}; this version reads {FORMAT}")
    return value


def _entries(subject: Subject, memories: list[Memory], stores: Stores) -> list[Any]:
    return stores.index.fetch(subject, [memory.index_key for memory in memories])


def _turn_ids(memories: list[Memory]) -> list[str]:
    return sorted({id_ for memory in memories for id_ in memory.source_turn_ids})


def _encoded(vector: Vector) -> str:
    return base64.b64encode(vector.astype("<f4").tobytes()).decode()


def _decoded(encoded: str) -> Vector:
    return np.frombuffer(base64.b64decode(encoded, validate=True), dtype="<f4").astype(np.float32)


def _line(value: dict[str, Any]) -> str:
    return escaped_in_json(json.dumps(value, ensure_ascii=False, separators=(",", ":")))
