"""Events that the fleet announces. Payloads carry ids and summaries, never a raw turn."""

from __future__ import annotations

from enum import StrEnum
from typing import Any, Self

from pydantic import AwareDatetime

from schema.base import Value
from schema.memory import Memory
from schema.turn import Identifier, Subject


class EventName(StrEnum):
    CANDIDATE = "memory.candidate"
    CREATED = "memory.created"
    UPDATED = "memory.updated"
    MERGED = "memory.merged"
    CHANGED_FACT = "memory.changed_fact"
    ARCHIVED = "memory.archived"
    DELETED = "memory.deleted"
    ERROR = "memory.error"
    MAYBE_PROMOTE = "maybe_promote_to_semantic"
    PROACTIVITY = "proactivity_candidates"
    REVIEW_DECIDED = "review.decided"
    DOCUMENT_INDEXED = "document.indexed"
    DOCUMENT_DELETED = "document.deleted"


class Event(Value):
    name: EventName
    tenant_id: Identifier
    subject_id: Identifier
    at: AwareDatetime
    payload: dict[str, Any]

    @property
    def subject(self) -> Subject:
        return Subject(tenant_id=self.tenant_id, subject_id=self.subject_id)

    @classmethod
    def about(cls, memory: Memory, name: EventName, at: AwareDatetime, **more: Any) -> Self:
        """Return an event that says what a memory says, with `more` in its payload."""
        says = {"type": memory.type.value, "category": memory.category, "summary": memory.summary}
        return cls(name=name, **memory.subject.model_dump(), at=at, payload={"id": str(memory.id), **says, **more})

    @property
    def voids(self) -> str | None:
        """Return the id of the memory or review of which no earlier event may be told any more: one that is gone, a
        memory that is told `anew` without what was forgotten, or what was merged into another."""
        if self.name is EventName.MERGED:
            # What the hot path noted is told as what it became from now on.
            return str(self.payload["from"])
        is_void = self.name is EventName.DELETED or bool(self.payload.get("anew"))
        return str(self.payload.get("id") or self.payload["review"]) if is_void else None
