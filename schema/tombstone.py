"""Tombstones: that something was erased, so that a turn that still comes is known as erased."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from schema.turn import Turn


class Scope(StrEnum):
    """Kind of what was erased."""

    SUBJECT = "subject"
    CONVERSATION = "conversation"
    TURN = "turn"


@dataclass(frozen=True)
class Tombstone:
    """Record that something was erased at a moment of the mailbox's clock: `key` is the conversation's or the turn's
    id, empty for a subject."""

    scope: Scope
    key: str
    at: datetime

    def covers(self, turn: Turn, arrived_at: datetime) -> bool:
        """Return whether a turn of the subject is of what was erased: it lay in the mailbox by then, whatever its
        sender's clock says, or it is the very turn."""
        return self._is_of(turn) and (self.scope is Scope.TURN or arrived_at <= self.at)

    def refuses(self, turn: Turn, arrived_at: datetime, tolerance: timedelta) -> bool:
        """Return whether a turn that came later was said before it, by its sender's clock, and came longer after that
        than clocks differ: it lay in a spool or in another's queue meanwhile."""
        return self._is_of(turn) and turn.occurred_at < self.at and arrived_at - turn.occurred_at > tolerance

    def _is_of(self, turn: Turn) -> bool:
        match self.scope:
            case Scope.SUBJECT:
                return True
            case Scope.CONVERSATION:
                return turn.conversation_id == self.key
            case Scope.TURN:
                return turn.turn_id == self.key
