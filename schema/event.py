"""What the fleet announces. Payloads carry ids and summaries, never a raw turn."""

from __future__ import annotations

from collections.abc import Set
from enum import StrEnum
from typing import Any

from pydantic import AwareDatetime

from schema.base import Value
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


class Event(Value):
    name: EventName
    tenant_id: Identifier
    subject_id: Identifier
    at: AwareDatetime
    payload: dict[str, Any]

    @property
    def subject(self) -> Subject:
        return Subject(tenant_id=self.tenant_id, subject_id=self.subject_id)

    def tells_of(self, ids: Set[str]) -> bool:
        """Whether it names one of these memories."""
        return bool(ids & set(map(str, self.payload.values())))

    @property
    def voids(self) -> str | None:
        """The id of the memory of which no earlier event may be told any more: one that is gone, or that is told `anew`
        without what was forgotten."""
        is_void = self.name is EventName.DELETED or bool(self.payload.get("anew"))
        return str(self.payload["id"]) if is_void else None
