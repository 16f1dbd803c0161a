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

    def refuses(self, turn: Turn, enqueued_at: datetime, tolerance: timedelta) -> bool:
        """Return whether a turn that came later is from before: it was enqueued by then, and lay in a spool meanwhile;
        or it was said before by its sender's clock, and enqueued longer after that than clocks differ, as when it lay
        where nobody says for how long. `enqueued_at` is by the mailbox's clock."""
        was_said_before = turn.occurred_at < self.at and enqueued_at - turn.occurred_at > tolerance
        return self._is_of(turn) and (enqueued_at <= self.at or was_said_before)

    def _is_of(self, turn: Turn) -> bool:
        match self.scope:
            case Scope.SUBJECT:
                return True
            case Scope.CONVERSATION:
                return turn.conversation_id == self.key
            case Scope.TURN:
                return turn.turn_id == self.key
