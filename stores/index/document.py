"""An entry as a JSON document, for indexes that keep documents beside vectors."""

from __future__ import annotations

import hashlib
import json
import uuid
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from schema import Kind, MemoryType, Status, Subject, Visibility
from stores.index.base import Entry, Vector, Where
from stores.index.snapshot import FILTERS, LABELS, microseconds, moment

_TEXTS = frozenset({"category", "agent_id", "author_id"})
"""The fields that may hold any text; the others are one of a few words of ours."""


def subject_digest(subject: Subject) -> str:
    """Return 32 hex digits for a subject, the same everywhere: ids may be long, and of any characters."""
    return hashlib.sha256(subject.key.encode()).hexdigest()[:32]


def text_digest(text: str) -> str:
    """Return 16 hex digits for a text that is compared whole, where a store bounds what can be filtered by."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def to_document(entry: Entry) -> dict[str, Any]:
    """Return all of an entry but its vector, as values of JSON."""
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
        "tags": list(entry.tags),
        "version": entry.version,
    }
    return {name: value for name, value in document.items() if value is not None}


def from_document(fields: Mapping[str, Any], vector: Vector) -> Entry:
    """Return the entry of which `to_document` made this."""
    return Entry(
        key=uuid.UUID(fields["key"]),
        memory_id=uuid.UUID(fields["memory_id"]),
        subject=Subject(tenant_id=fields["tenant"], subject_id=fields["subject"]),
        vector=vector,
        type=MemoryType(fields["type"]),
        kind=Kind(fields["kind"]),
        category=fields["category"],
        status=Status(fields["status"]),
        visibility=Visibility(fields["visibility"]),
        created_at=moment(fields["created_at"]),
        author_id=fields.get("author_id"),
        agent_id=fields.get("agent_id"),
        tags=tuple(fields["tags"]),
        version=fields.get("version", 0),
    )


def to_json(entry: Entry) -> str:
    """Return all of an entry but its vector."""
    return json.dumps(to_document(entry), ensure_ascii=False)


def from_json(document: str, vector: Vector) -> Entry:
    """Return the entry that `to_json` wrote."""
    return from_document(json.loads(document), vector)


def digests(entry: Entry, most_tags: int | None = None) -> dict[str, Any]:
    """Return what an entry can be filtered by, with the subject and every text of a user as a digest: short, whatever
    they are, and compared whole by stores that would split, trim or fold them. Of very many tags the first `most_tags`.
    """
    values = {name: getattr(entry, name) for name in LABELS}
    return {
        "subject": subject_digest(entry.subject),
        "created_at": microseconds(entry.created_at),
        **{name: _spelled(name, value, text_digest) for name, value in values.items() if value is not None},
        **({"tags": [text_digest(tag) for tag in entry.tags[:most_tags]]} if entry.tags else {}),
    }


def conditions(where: Where, spell: Callable[[str], str] = str) -> Iterator[tuple[str, list[str]]]:
    """Return the fields of a document with the values of which it must have one each: all that `where` asks for beside
    the subject and the date. `spell` says how texts of users are stored."""
    for name, field in FILTERS.items():
        if values := getattr(where, field):
            yield name, [_spelled(name, value, spell) for value in values]
    for tag in where.tags:
        yield "tags", [spell(tag)]


def alternatives(where: Where, spell: Callable[[str], str] = str) -> list[list[tuple[str, list[str]]]]:
    """Return what `where.seen_by` asks for: all conditions of any one of these, as `conditions` gives them; empty where
    it puts no limit."""
    return [
        [
            ("visibility", [str(visibility) for visibility in seen.visibilities]),
            *([("author_id", [spell(seen.author_id)])] if seen.author_id is not None else []),
            *([("agent_id", [spell(seen.agent_id)])] if seen.agent_id is not None else []),
        ]
        for seen in where.seen_by
    ]


def _spelled(name: str, value: str, spell: Callable[[str], str]) -> str:
    return spell(value) if name in _TEXTS else str(value)
