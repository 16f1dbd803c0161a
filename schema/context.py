"""What earlier turns of a subject left, by which the next ones are understood."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, StringConstraints

from schema.base import Value
from schema.preferences import Preferences
from schema.turn import Identifier

MAX_TOPIC_CHARS = 300
MAX_QUESTION_CHARS = 300


class OpenTopic(Value):
    """A topic that a user began with an agent and did not finish ("VOS Memory System", WAIT).

    `turn_id` is the turn after which it was open; `agent_id` is None where turns name no agent.
    """

    agent_id: Identifier | None = None
    text: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=MAX_TOPIC_CHARS)]
    turn_id: Identifier


class Question(Value):
    """What the assistant asked last in a conversation, in the turn `turn_id`, and nobody has answered yet."""

    conversation_id: Identifier
    text: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=MAX_QUESTION_CHARS)]
    turn_id: Identifier


class Context(Value):
    """What an extractor is told of a subject beside the turns.

    `open_topics` are by agent, `questions` by conversation. `name` is how the user said that they are called, as long
    as a memory of it holds; what the messages of a turn name them goes before it. `preferences` are what they want of
    their memory.
    """

    open_topics: dict[str | None, OpenTopic] = Field(default_factory=dict)
    questions: dict[str, Question] = Field(default_factory=dict)
    name: str | None = None
    preferences: Preferences = Preferences()
