"""Tombstones: that something was erased, so that a turn that still comes is known as erased."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from schema.turn import Turn


class Scope(StrEnum):
    """What was erased."""

    SUBJECT = "subject"
    CONVERSATION = "conversation"
    TURN = "turn"


@dataclass(frozen=True)
class Tombstone:
    """That something was erased at a moment: `key` is the conversation's or the turn's id, empty for a subject."""

    scope: Scope
    key: str
    at: datetime

    def covers(self, turn: Turn) -> bool:
        """Return whether a turn is of what was erased: said before, or the very turn."""
        match self.scope:
            case Scope.SUBJECT:
                return turn.occurred_at <= self.at
            case Scope.CONVERSATION:
                return turn.conversation_id == self.key and turn.occurred_at <= self.at
            case Scope.TURN:
                return turn.turn_id == self.key
