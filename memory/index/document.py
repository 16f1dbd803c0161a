"""An entry as a JSON document, for indexes that keep documents beside vectors."""

from __future__ import annotations

import hashlib
import json
import uuid

from memory.index.base import Entry, Vector
from memory.index.held import microseconds, moment
from memory.schema import Kind, MemoryType, Status, Subject, Visibility


def subject_digest(subject: Subject) -> str:
    """32 hex digits for a subject, the same everywhere: ids may be long, and of any characters."""
    return hashlib.sha256(subject.key.encode()).hexdigest()[:32]


def text_digest(text: str) -> str:
    """16 hex digits for a text that is compared whole, where a store bounds what can be filtered by."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def to_json(entry: Entry) -> str:
    """All of an entry but its vector."""
    document = {
        "tenant": entry.subject.tenant_id,
        "subject": entry.subject.subject_id,
        "key": str(entry.key),
        "memory_id": str(entry.memory_id),
        "type": entry.type,
        "kind": entry.kind,
        "category": entry.category,
        "status": entry.status,
        "visibility": entry.visibility,
        "created_at": microseconds(entry.created_at),
        "author_id": entry.author_id,
        "agent_id": entry.agent_id,
        "tags": entry.tags,
    }
    return json.dumps({name: value for name, value in document.items() if value is not None}, ensure_ascii=False)


def from_json(document: str, vector: Vector) -> Entry:
    """The entry that `to_json` wrote."""
    held = json.loads(document)
    return Entry(
        key=uuid.UUID(held["key"]),
        memory_id=uuid.UUID(held["memory_id"]),
        subject=Subject(tenant_id=held["tenant"], subject_id=held["subject"]),
        vector=vector,
        type=MemoryType(held["type"]),
        kind=Kind(held["kind"]),
        category=held["category"],
        status=Status(held["status"]),
        visibility=Visibility(held["visibility"]),
        created_at=moment(held["created_at"]),
        author_id=held.get("author_id"),
        agent_id=held.get("agent_id"),
        tags=tuple(held["tags"]),
    )
