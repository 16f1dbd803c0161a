"""Selectors, which have a vector only so that memories are found by it, and are never told: windows of conversations,
and facts."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from urllib.parse import quote

from schema.memory import Fact, Memory
from schema.turn import Subject, Turn


@dataclass(frozen=True)
class Window:
    """A part of a kept turn, with the end of the kept turn `before` it in its conversation: the characters from `start`
    to `end` of what it tells, of which a negative `start` reaches back so far into what is before.

    Source: "Vectorized Episodic and Vectorized Semantic memory", episodic windows.
    """

    turn: Turn
    number: int
    start: int
    end: int
    before: Turn | None = None
    version: int = 1

    @property
    def subject(self) -> Subject:
        return self.turn.subject

    @property
    def id(self) -> uuid.UUID:
        """Return the name of the same window always, so that a second delivery writes the same row."""
        ids = (quote(id_, safe="") for id_ in (self.subject.tenant_id, self.subject.subject_id))
        return uuid.uuid5(uuid.NAMESPACE_URL, "|".join((*ids, self.turn.turn_id, str(self.number))))

    @property
    def index_key(self) -> uuid.UUID:
        return self.id

    @property
    def content(self) -> str:
        """Return what is embedded: the whole turn, where an erasure left nothing of the part."""
        own = dialogue_of(self.turn)
        back = dialogue_of(self.before)[self.start :] + "\n" if self.before and self.start < 0 else ""
        return f"{back}{own[max(0, self.start) : self.end]}" if own[max(0, self.start) : self.end].strip() else own


@dataclass(frozen=True)
class StatedFact:
    """A fact of a memory, by itself."""

    memory: Memory
    ordinal: int

    @property
    def fact(self) -> Fact:
        return self.memory.facts[self.ordinal]

    @property
    def subject(self) -> Subject:
        return self.memory.subject

    @property
    def version(self) -> int:
        return self.memory.version

    @property
    def id(self) -> uuid.UUID:
        """Return the name of its vector."""
        return uuid.uuid5(self.memory.index_key, str(self.ordinal))

    @property
    def index_key(self) -> uuid.UUID:
        return self.id


def dialogue_of(turn: Turn) -> str:
    """Return a turn as a dialogue: "User: ...", a line a message."""
    return "\n".join(f"{message.role.capitalize()}: {message.content}" for message in turn.messages)


def facts_of(*memories: Memory) -> list[StatedFact]:
    """Return the facts of memories, one by one."""
    return [StatedFact(memory, ordinal) for memory in memories for ordinal in range(len(memory.facts))]
