"""A memory: what is kept, and every value that it is made of."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from functools import lru_cache
from typing import Annotated, Literal

from pydantic import Field, StringConstraints, field_validator

from schema.base import NO_NUL, Value
from schema.turn import Attachment, Identifier, Moment, Subject, TurnSource

MAX_SUMMARY_CHARS = 600
Share = Annotated[float, Field(ge=0.0, le=1.0)]
"""A number from 0 to 1."""
Summary = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=1, max_length=MAX_SUMMARY_CHARS, pattern=NO_NUL)
]
Tag = Annotated[
    str, StringConstraints(strip_whitespace=True, to_lower=True, min_length=1, max_length=60, pattern=NO_NUL)
]
Category = Annotated[str, StringConstraints(min_length=1, max_length=60, pattern=NO_NUL)]


class MemoryType(StrEnum):
    SEMANTIC = "semantic"
    EPISODIC = "episodic"
    PROCEDURAL = "procedural"


class Kind(StrEnum):
    """Finer than the type."""

    USER_PREFERENCE = "user_preference"
    USER_FACT = "user_fact"
    CONVERSATION_CONTEXT = "conversation_context"
    AGENT_PROCEDURE = "agent_procedure"
    KNOWLEDGE = "knowledge"
    EVENT_PATTERN = "event_pattern"
    ERROR_HANDLING = "error_handling"
    PROACTIVE_ACTION = "proactive_action"


class Status(StrEnum):
    PROVISIONAL = "provisional"
    ACTIVE = "active"
    SUPERSEDED = "superseded"
    ARCHIVED = "archived"
    DELETED = "deleted"


class Visibility(StrEnum):
    PUBLIC = "public"
    PRIVATE = "private"
    PERSONAL = "personal"
    INDIVIDUAL = "individual"


@dataclass(frozen=True, slots=True)
class Labels:
    """Labels that decide who may see a memory, a chunk or a window.

    `visibility` is the effective one: what its user called private is `personal` to its author.
    """

    visibility: Visibility
    author_id: str | None = None
    agent_id: str | None = None


def effective_labels(
    visibility: Visibility, author_id: str | None, agent_id: str | None, *, is_private: bool
) -> Labels:
    """Return what decides who may see a memory: what its user called private is personal to its author."""
    personal = is_private and visibility is Visibility.PRIVATE
    return Labels(Visibility.PERSONAL if personal else visibility, author_id, agent_id)


class Valence(StrEnum):
    POSITIVE = "positive"
    NEUTRAL = "neutral"
    NEGATIVE = "negative"


EntityType = Literal["PERSON", "ORG", "MONEY", "DATE", "LOCATION", "PRODUCT"]


class Entity(Value):
    """A named thing."""

    text: Annotated[str, StringConstraints(min_length=1, max_length=200)]
    type: EntityType


class Fact(Value):
    """An (entity, verb, object) triple.

    `attribute` names what the triple says of the entity when an entity has only one such value at a time
    (home_city, employer, age ...): two facts with the same entity and attribute and another object are a
    changed fact. It is None where many values may stand side by side.
    """

    entity: Annotated[str, StringConstraints(min_length=1, max_length=200)]
    verb: Annotated[str, StringConstraints(min_length=1, max_length=100)]
    object: Annotated[str, StringConstraints(min_length=1, max_length=300)]
    attribute: Annotated[str, StringConstraints(min_length=1, max_length=60)] | None = None


class Memory(Value):
    """A memory: a summary of one or two sentences with all that is known about it.

    `importance`, `trust_score`, `confidence`, `intensity` and `proactivity_weight` run from 0 to 1. The field
    list is the JSON of "Memory System - Mechanics", section 9, with `kind`, `confidence` and `agent_id` of the
    "VOS Memory System"; without a title, which the summary is as short as, and a list of scopes, which tags and
    category say (docs/decisions/0027).
    """

    id: uuid.UUID
    tenant_id: Identifier
    subject_id: Identifier
    type: MemoryType
    kind: Kind
    category: Category
    summary: Summary
    tags: tuple[Tag, ...] = ()
    entities: tuple[Entity, ...] = ()
    facts: tuple[Fact, ...] = ()
    attachments: tuple[Attachment, ...] = ()
    """Things that it says were shared: where they lie, of what kind they are; never what is in them."""
    source: TurnSource = "chat"
    source_turn_ids: tuple[Identifier, ...] = ()
    conversation_id: Identifier | None = None
    agent_id: Identifier | None = None
    author_id: Identifier | None = None
    visibility: Visibility = Visibility.PRIVATE
    importance: Share
    trust_score: Share
    confidence: Share
    valence: Valence = Valence.NEUTRAL
    intensity: Share = 0.0
    proactivity_weight: Share = 0.0
    explicit: bool = False
    pinned: bool = False
    private: bool = False
    legal_hold: bool = False
    suppressed: bool = False
    """It is known, kept, and never told."""
    status: Status = Status.ACTIVE
    occurred_at: Moment
    """When what it tells happened or will."""
    said_at: Moment
    """When it was last said: of two statements that contradict each other, the later said one holds."""
    created_at: Moment
    updated_at: Moment
    last_accessed: Moment
    access_count: Annotated[int, Field(ge=0)] = 0
    supersedes: tuple[uuid.UUID, ...] = ()
    superseded_by: uuid.UUID | None = None
    merged_from: tuple[uuid.UUID, ...] = ()
    """The superseded memory of which it says what still holds, if it was made so."""
    consolidated_from: tuple[uuid.UUID, ...] = ()
    consolidated_into: uuid.UUID | None = None
    """The memory that says what this one says, for as long as that one is there."""
    apart: bool = False
    """It was taken out of a consolidated memory, and is not put into one again."""
    related_ids: tuple[uuid.UUID, ...] = ()
    embedding_model: str
    policy_version: str
    version: Annotated[int, Field(ge=1)] = 1
    """Raised by every write; a write that read an older one is refused."""

    @field_validator("tags")
    @classmethod
    def _unique_in_order(cls, labels: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(dict.fromkeys(labels))

    @property
    def subject(self) -> Subject:
        return Subject(tenant_id=self.tenant_id, subject_id=self.subject_id)

    @property
    def labels(self) -> Labels:
        """Return what decides who may see it."""
        author_id = self.author_id or self.subject_id
        return effective_labels(self.visibility, author_id, self.agent_id, is_private=self.private)

    @property
    def index_key(self) -> uuid.UUID:
        return index_key(self.subject_id, self.type, self.id)


def memory_id(subject: Subject, type_: MemoryType, turn_id: str, ordinal: int) -> uuid.UUID:
    """Return the id of the `ordinal`th memory (from 0) that came of a turn: a second delivery writes the same rows."""
    return uuid.uuid5(uuid.NAMESPACE_URL, f"afterturn:{subject.key}:{type_.value}:{ordinal}:{turn_id}")


@lru_cache(maxsize=8_192)
def index_key(subject_id: str, type_: MemoryType, id_: uuid.UUID) -> uuid.UUID:
    """Return where a memory lies in the index.

    Source: "S3 Vectors Memory Implementation Plan (V1)", data model and namespacing:
    `uuid5(NAMESPACE_URL, f"{ns_0}|{ns_1}::{doc_key}")` with ns_0 the user and ns_1 the type.
    """
    return uuid.uuid5(uuid.NAMESPACE_URL, f"{subject_id}|{type_.value}::{id_}")


def utc_iso(moment: datetime) -> str:
    """Return a moment in ISO 8601, with the zone and to the second, for people to read."""
    return moment.isoformat(timespec="seconds")
