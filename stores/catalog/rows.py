"""Memories as rows, and rows as memories."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable
from dataclasses import fields
from functools import cache
from typing import Any, TypeVar

from pydantic import BaseModel

from schema import Memory, Subject

Value = TypeVar("Value")
_PROJECTED = (
    "id",
    "tenant_id",
    "subject_id",
    "type",
    "kind",
    "category",
    "status",
    "importance",
    "pinned",
    "legal_hold",
    "occurred_at",
    "created_at",
    "updated_at",
    "last_accessed",
    "consolidated_into",
    "version",
)
_ENTITY_CHARS = 200


def memory_row(memory: Memory, revision: int) -> dict[str, Any]:
    """Return a memory as it is written at a revision of its subject."""
    return {name: getattr(memory, name) for name in _PROJECTED} | {
        "revision": revision,
        "document": memory.model_dump(mode="json", exclude_defaults=True),
    }


def fact_rows(memories: Iterable[Memory]) -> list[dict[str, Any]]:
    return [
        {
            "memory_id": memory.id,
            "ordinal": ordinal,
            "tenant_id": memory.tenant_id,
            "subject_id": memory.subject_id,
            "entity": folded(fact.entity),
            "verb": fact.verb,
            "object": fact.object,
            "attribute": fact.attribute,
        }
        for memory in memories
        for ordinal, fact in enumerate(memory.facts)
    ]


def folded(entity: str) -> str:
    """Return the name of an entity as facts are found by it, whatever its case; as long as the column is, for some
    letters become two."""
    return entity.casefold()[:_ENTITY_CHARS]


def provenance_rows(memories: Iterable[Memory]) -> list[dict[str, Any]]:
    return [
        {"memory_id": memory.id, "turn_id": turn_id, "tenant_id": memory.tenant_id, "subject_id": memory.subject_id}
        for memory in memories
        for turn_id in memory.source_turn_ids
    ]


def ids_from(start: str) -> tuple[uuid.UUID, uuid.UUID]:
    """Return the first and the last id that begin with these hexadecimal digits, hyphens or not.

    Raises:
        ValueError: it is no start of an id.
    """
    digits = start.replace("-", "").lower()
    if not 4 <= len(digits) <= 32 or set(digits) - set("0123456789abcdef"):
        raise ValueError(f"{start!r} is no id, nor the first 4 or more characters of one")
    return uuid.UUID(digits.ljust(32, "0")), uuid.UUID(digits.ljust(32, "f"))


def subject_of(row: Any) -> Subject:
    """Return whose row it is."""
    return Subject(tenant_id=row.tenant_id, subject_id=row.subject_id)


def from_row(kind: Callable[..., Value], row: Any, **others: Any) -> Value:
    """Return a dataclass or a pydantic model whose fields are the row's columns of the same names, but for `others`."""
    return kind(**{name: getattr(row, name) for name in _fields_of(kind) if name not in others}, **others)


@cache
def _fields_of(kind: Any) -> tuple[str, ...]:
    return tuple(kind.model_fields) if issubclass(kind, BaseModel) else tuple(field.name for field in fields(kind))


def memory_of(document: Any) -> Memory:
    return Memory.model_validate(document)
