"""Answers of an extractor: candidates, requests to forget, and open topics."""

from __future__ import annotations

import uuid
from datetime import date
from enum import StrEnum
from typing import Annotated, Literal

from pydantic import AwareDatetime, Field

from schema.base import Value
from schema.context import OpenTopic
from schema.memory import Category, Entity, Fact, Kind, MemoryType, Share, Summary, Tag, Valence
from schema.turn import Attachment, Identifier, TurnSource


class Certainty(StrEnum):
    """Certainty with which somebody says something, strongest first."""

    FACT = "fact"
    PAST = "past"
    PLAN = "plan"
    SUPPOSITION = "supposition"
    WISH = "wish"
    JOKE = "joke"


class Change(StrEnum):
    """Effect of a statement on what was so before."""

    NONE = "none"
    NEW = "new"
    REPLACES = "replaces"
    ENDS = "ends"
    CORRECTS = "corrects"
    MOVES = "moves"


class Naming(Value):
    """An order that only names what it is about: "pin my allergy". What is known by that name is marked so."""

    order: Literal["remember", "pin", "unpin", "private"]
    what: Summary

    @property
    def tells_nothing(self) -> bool:
        """Return whether it is no memory where nothing is known by the name."""
        return self.order == "unpin"


class Candidate(Value):
    """A memory that an extractor proposes, not yet decided.

    `turn_id` is the turn that states it and `ordinal` its place among all that came of that turn, from 0;
    `occurred_at` is when what it tells happened or will, `said_at` when the user said so;
    `context_turn_ids` are earlier turns without which the statement could not be understood. `explicit` says
    that the user asked for it to be remembered, `private` that the user called it private. `replaces` names known
    memories whose place it takes as far as the extractor saw; `only_as_news` that it is worth a memory only if it
    changes something that is known, `news` how likely it tells by itself that something is otherwise than it was;
    `quoted` says that the summary is a quotation, `unless_forgotten` that it is no memory where its turn turns out to
    have asked for something to be forgotten, `naming` that it only names something: it is a memory only where nothing
    is known by that name, and never where that tells nothing;
    `by_model` that a language model read it off the turn with the subject's known memories before it. `said` is all
    that its turn's user says, where that may be news of what is known: it is read beside that, and kept nowhere.
    """

    turn_id: Identifier
    ordinal: Annotated[int, Field(ge=0)]
    context_turn_ids: tuple[Identifier, ...] = ()
    type: MemoryType
    kind: Kind
    category: Category
    summary: Summary
    tags: tuple[Tag, ...] = ()
    entities: tuple[Entity, ...] = ()
    facts: tuple[Fact, ...] = ()
    attachments: tuple[Attachment, ...] = ()
    source: TurnSource = "chat"
    valence: Valence = Valence.NEUTRAL
    intensity: Share = 0.0
    confidence: Share
    occurred_at: AwareDatetime
    said_at: AwareDatetime
    explicit: bool = False
    private: bool = False
    pinned: bool = False
    certainty: Certainty = Certainty.FACT
    change: Change = Change.NONE
    replaces: tuple[uuid.UUID, ...] = ()
    only_as_news: bool = False
    news: Share = 0.0
    quoted: bool = False
    unless_forgotten: bool = False
    naming: Naming | None = None
    by_model: bool = False
    language: Annotated[str, Field(min_length=2, max_length=10)] = "en"
    said: Annotated[Summary | None, Field(exclude=True)] = None


class ForgetRequest(Value):
    """The user asked that something be forgotten. `what` is the thing in the user's words, third person.

    `scope` is "all" where all that is known is meant; `known` are memories that the extractor says are meant; of what
    is `doubtful` nothing is erased: it is hidden, and a person asked. `attribute` and `entity` say what is meant of
    whom. `just_said` means what came of the turn before it in its conversation; `said_at` is when it was asked for,
    `said_on` the day on which it was told that is meant. `whole` says that all about the thing is meant. `said` is the
    whole message, where it is English: it may be read beside what is known. `language` is the code of the language of
    `what`. `only_as_read` says that no order says it, but the message reads like it: it is a request only where
    something that is known is what it likely means. `apart` are the things that `what` names one by one, where that is
    more than one thing or says more of it. `spares` is what of it is to stay: "everything except my allergy".
    """

    turn_id: Identifier
    ordinal: Annotated[int, Field(ge=0)]
    what: Summary
    scope: Literal["thing", "all"] = "thing"
    whole: bool = False
    known: tuple[uuid.UUID, ...] = ()
    doubtful: bool = False
    just_said: bool = False
    said_at: AwareDatetime | None = None
    said_on: date | None = None
    attribute: Annotated[str, Field(min_length=1, max_length=60)] | None = None
    entity: Annotated[str, Field(min_length=1, max_length=200)] | None = None
    said: Summary | None = None
    language: Annotated[str, Field(min_length=2, max_length=10)] = "en"
    only_as_read: bool = False
    apart: tuple[Summary, ...] = ()
    spares: Summary | None = None


class Extraction(Value):
    """Candidates extracted from some turns, in the order in which they were said.

    `open_topics` are what is open after them, at most one an agent: they are kept and shown to the agent's next
    extraction. A topic that was open with an agent of these turns and is not among them is closed. `model` and
    `prompt_version` name what decided, for the audit; a rules extractor leaves the token counts at 0.
    """

    items: tuple[Candidate | ForgetRequest, ...] = ()
    open_topics: tuple[OpenTopic, ...] = ()
    model: str
    prompt_version: str | None = None
    prompt_tokens: Annotated[int, Field(ge=0)] = 0
    completion_tokens: Annotated[int, Field(ge=0)] = 0
