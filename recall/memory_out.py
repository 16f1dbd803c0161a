"""A memory as programs are told it, over whatever face."""

from __future__ import annotations

import uuid
from typing import Any, Final, Literal

from pydantic import AwareDatetime, BaseModel

from recall.retrieve import Hit
from schema import Attachment, Kind, Memory, MemoryType, Status, Visibility
from schema.turn import TurnSource

Scope = Literal["shared", "individual"]
"""Visibility as the "VOS Memory System" calls it: an agent's own, or everybody's who may see the subject."""
VISIBILITY_OF: Final[dict[Scope | None, Visibility | None]] = {
    None: None,
    "individual": Visibility.INDIVIDUAL,
    "shared": Visibility.PRIVATE,
}
"""How something is written that is to have a scope; None leaves it to the rules."""
VISIBILITIES_OF: Final[dict[Scope | None, tuple[Visibility, ...]]] = {
    None: (),
    "individual": (Visibility.INDIVIDUAL,),
    "shared": (Visibility.PUBLIC, Visibility.PRIVATE, Visibility.PERSONAL),
}
"""The visibilities that are found under a scope; None is no limit."""


class MemoryOut(BaseModel):
    """A memory as it is told."""

    memory_id: uuid.UUID
    content: str
    memory_type: Kind
    type: MemoryType
    category: str
    scope: Scope
    visibility: Visibility
    source: TurnSource
    tags: list[str]
    attachments: list[Attachment]
    status: Status
    importance: float
    confidence: float
    pinned: bool
    suppressed: bool
    occurred_at: AwareDatetime
    created_at: AwareDatetime
    updated_at: AwareDatetime
    last_accessed: AwareDatetime
    access_count: int
    agent_id: str | None
    supersedes: list[uuid.UUID]
    superseded_by: uuid.UUID | None
    version: int


class WholeMemory(MemoryOut):
    """A memory with all that is told of it. Where `status` is not active, it does not hold any more."""

    related_memories: list[uuid.UUID]


class HitOut(MemoryOut):
    """A memory that answers a search; `distance` is 1 - similarity, `score` what it is ranked by."""

    similarity: float
    distance: float
    score: float
    why: dict[str, Any] | None = None


def memory_out(memory: Memory) -> MemoryOut:
    return MemoryOut(**fields_of(memory))


def hit_out(hit: Hit) -> HitOut:
    why = None
    if hit.why is not None:
        why = {**vars(hit.why), "terms": {name: getattr(hit.why.terms, name) for name in hit.why.terms.__slots__}}
    similarity = round(hit.similarity, 6)
    return HitOut(
        **fields_of(hit.memory), similarity=similarity, distance=round(1 - similarity, 6), score=hit.score, why=why
    )


def scope_of(memory: Memory) -> Scope:
    return "individual" if memory.visibility is Visibility.INDIVIDUAL else "shared"


def fields_of(memory: Memory) -> dict[str, Any]:
    """Return the fields of `MemoryOut` by their names."""
    return {
        "memory_id": memory.id,
        "content": memory.summary,
        "memory_type": memory.kind,
        "type": memory.type,
        "category": memory.category,
        "scope": scope_of(memory),
        "visibility": memory.visibility,
        "source": memory.source,
        "tags": list(memory.tags),
        "attachments": list(memory.attachments),
        "status": memory.status,
        "importance": memory.importance,
        "confidence": memory.confidence,
        "pinned": memory.pinned,
        "suppressed": memory.suppressed,
        "occurred_at": memory.occurred_at,
        "created_at": memory.created_at,
        "updated_at": memory.updated_at,
        "last_accessed": memory.last_accessed,
        "access_count": memory.access_count,
        "agent_id": memory.agent_id,
        "supersedes": list(memory.supersedes),
        "superseded_by": memory.superseded_by,
        "version": memory.version,
    }
