"""Arguments and answers of the five tools of the "VOS Memory System"."""

from __future__ import annotations

import uuid
from typing import Annotated, Final, Literal, Self

from pydantic import AfterValidator, AwareDatetime, BaseModel, Field, StringConstraints, model_validator

from policies.language.sentences import split_sentences
from recall.memory_out import Scope, WholeMemory
from recall.tools.tool import Answer, Arguments
from schema import Kind
from schema.memory import MAX_SUMMARY_CHARS, Share, Tag
from schema.turn import Identifier

_SENTENCES: Final = 2


def _is_short(content: str) -> str:
    if len(split_sentences(content)) > _SENTENCES:
        raise ValueError("say it in one or two sentences, one fact each; what is longer is a document")
    return content


Content = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=MAX_SUMMARY_CHARS),
    AfterValidator(_is_short),
    Field(description="One or two sentences in the third person that name who they are about, one fact each."),
]
Tags = Annotated[
    tuple[Tag, ...], Field(max_length=20, description="3 to 5 labels, of a vocabulary that stays the same.")
]
Importance = Annotated[
    Share,
    Field(description="How much it matters: 0.8-1.0 critical (facts, preferences), 0.5-0.7 context, 0.3-0.5 passing."),
]
Confidence = Annotated[
    Share, Field(description="How sure it is: 0.9-1.0 stated by the user, 0.6-0.8 inferred, 0.3-0.5 uncertain.")
]
ScopeOf = Annotated[
    Scope, Field(description="shared: for every agent of the user; individual: for the agent alone that writes it.")
]
MemoryId = Annotated[uuid.UUID, Field(description="The memory's id, as a search or create_memory gave it.")]
Outcome = Literal["created", "superseded", "updated", "known", "held"]


class CreateMemory(Arguments):
    content: Content
    memory_type: Kind
    scope: ScopeOf | None = None
    importance: Importance | None = None
    confidence: Confidence = 0.8
    tags: Tags = ()
    category: Annotated[
        str | None, Field(max_length=60, description="Such as Finance, Goals or Personal; anything else is Other.")
    ] = None


class Created(Answer):
    """Outcome of a statement; `memory_id` is what says it now, null where no memory of the caller's does."""

    outcome: Outcome
    memory_id: uuid.UUID | None


class SearchFilters(Arguments):
    memory_type: Kind | None = None
    scope: ScopeOf | None = None
    agent_id: Identifier | None = None
    tags: Annotated[tuple[Tag, ...], Field(description="A memory must have all of them.")] = ()
    min_importance: Share = 0.0
    min_confidence: Share = 0.0


class SearchMemory(Arguments):
    query: Annotated[
        str,
        StringConstraints(strip_whitespace=True, min_length=1, max_length=2_000),
        Field(description="What is wanted, as a question or in keywords."),
    ]
    limit: Annotated[int, Field(ge=1, le=50)] = 5
    filters: SearchFilters = SearchFilters()


class Found(BaseModel):
    """A memory that answers a search; `distance` is 1 - similarity, `score` what it is ranked by."""

    memory_id: uuid.UUID
    content: str
    memory_type: Kind
    category: str
    scope: Scope
    tags: list[str]
    distance: float
    similarity: float
    score: float
    importance: float
    confidence: float
    occurred_at: AwareDatetime
    created_at: AwareDatetime


class FoundMemories(Answer):
    memories: list[Found]


class GetMemory(Arguments):
    memory_id: MemoryId


class GotMemory(Answer):
    memory: WholeMemory


class MemoryUpdates(Arguments):
    content: Content | None = None
    importance: Importance | None = None
    confidence: Annotated[Share | None, Field(description="0 takes it out of what is recalled.")] = None
    tags: Tags | None = None
    scope: ScopeOf | None = None

    @model_validator(mode="after")
    def _says_something(self) -> Self:
        if not self.model_dump(exclude_none=True):
            raise ValueError("say what to change")
        return self


class UpdateMemory(Arguments):
    memory_id: MemoryId
    updates: MemoryUpdates
    version: Annotated[
        int | None,
        Field(ge=0, description="The version that get_memory told: nothing is changed if it has another by now."),
    ] = None


class DeleteMemory(Arguments):
    memory_id: MemoryId


class Changed(Answer):
    memory_id: uuid.UUID
