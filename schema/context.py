"""Context that earlier turns of a subject left, by which the next ones are understood."""

from __future__ import annotations

import uuid
from typing import Annotated, Literal

from pydantic import AwareDatetime, Field, StringConstraints

from schema.base import Value
from schema.preferences import Preferences
from schema.turn import Identifier

MAX_TOPIC_CHARS = 300
MAX_QUESTION_CHARS = 300
MAX_RECENT_TURNS = 2
"""Of a conversation, how many turns are kept to understand the next one by."""


class OpenTopic(Value):
    """A topic that a user began with an agent and did not finish ("VOS Memory System", WAIT).

    `turn_id` is the turn after which it was open; `agent_id` is None where turns name no agent.
    """

    agent_id: Identifier | None = None
    text: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=MAX_TOPIC_CHARS)]
    turn_id: Identifier


class Question(Value):
    """The assistant's last question of a conversation, asked in the turn `turn_id` and not answered yet."""

    conversation_id: Identifier
    text: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=MAX_QUESTION_CHARS)]
    turn_id: Identifier


class RecentTurn(Value):
    """Messages of a turn of the last hours, screened and cut short: shown to the next extraction, then dropped."""

    conversation_id: Identifier
    turn_id: Identifier
    said_at: AwareDatetime
    lines: tuple[tuple[Literal["user", "assistant"], str], ...]


class KnownMemory(Value):
    """An active memory of the subject as an extractor is shown it."""

    id: uuid.UUID
    summary: str
    said_at: AwareDatetime


class Context(Value):
    """A subject's state for an extractor, beside the turns.

    `open_topics` are by agent, `questions` by conversation. `name` is how the user said that they are called, as long
    as a memory of it holds; what the messages of a turn name them goes before it. `preferences` are what they want of
    their memory, and `consent_since` is when they gave or withdrew consent last. `recent` are the last turns of these
    conversations, oldest first, and `known` the memories that are nearest to what is said now, and the newest; both are
    empty for an extractor that does not ask a language model.
    """

    open_topics: dict[str | None, OpenTopic] = Field(default_factory=dict)
    questions: dict[str, Question] = Field(default_factory=dict)
    name: str | None = None
    preferences: Preferences = Preferences()
    consent_since: AwareDatetime | None = None
    recent: tuple[RecentTurn, ...] = ()
    known: tuple[KnownMemory, ...] = ()
