"""The turns that an erasure means, wherever they wait: in messages, dead letters and the subject's mailbox."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from memory.context import MemoryContext
from schema import Scope, Subject, Tombstone
from stores.dead_letters import DeadLetter, read_dead_letters, remove_dead_letter
from stores.mailbox import Lease
from stores.queued_turns import count_messages, drop_messages


@dataclass(frozen=True)
class Erasure:
    """What an erasure means outside of the catalog: what its tombstones name.

    One that `is_late`, because it is finished after whoever began it was killed, leaves what the subject said since.
    """

    subject: Subject
    tombstones: tuple[Tombstone, ...]
    is_late: bool = False

    @property
    def whole(self) -> Tombstone | None:
        """The tombstone of the whole subject, if it is one."""
        return next((tombstone for tombstone in self.tombstones if tombstone.scope is Scope.SUBJECT), None)

    def covers(self, turn: Any, came_at: datetime | None = None) -> bool:
        """Return whether a turn as it came is meant; `came_at` counts where the turn does not tell when it was said."""
        said_at = _said_at(turn) or came_at
        return is_turn_of(turn, self.subject) and any(
            is_turn_of(turn, self.subject, tombstone.scope, tombstone.key)
            and (not self.is_late or tombstone.scope is Scope.TURN or said_at is None or said_at <= tombstone.at)
            for tombstone in self.tombstones
        )


def is_turn_of(turn: Any, subject: Subject, scope: Scope = Scope.SUBJECT, key: str = "") -> bool:
    """Return whether a turn as it came, a JSON value or a text, is a subject's, and of a conversation or the turn under
    a key where the scope says so.

    What was no turn, a dead letter has as it came: it is meant if it has all these names, however JSON writes them.
    """
    names = {"tenant_id": subject.tenant_id, "user_id": subject.subject_id}
    if scope is not Scope.SUBJECT:
        names["turn_id" if scope is Scope.TURN else "conversation_id"] = key
    if isinstance(turn, dict) and names.keys() <= turn.keys():
        return all(str(turn[field]) == name for field, name in names.items())
    text = (turn if isinstance(turn, str) else json.dumps(turn)).replace("\\", "")
    spellings = [
        [json.dumps(name, ensure_ascii=ascii_).replace("\\", "") for ascii_ in (True, False)] for name in names.values()
    ]
    return all(any(spelling in text for spelling in of_name) for of_name in spellings)


def drop_waiting(erasure: Erasure, lease: Lease, context: MemoryContext) -> dict[str, int]:
    """Drop all turns that are meant and still wait, give the lease of the mailbox back, and return how many went
    where."""
    messages = drop_messages(context.redis, erasure.covers)
    letters = sum(remove_dead_letter(context.redis, letter) for letter in _dead_letters(erasure, context))
    parked = _parked(erasure, context)
    context.mailbox.drop(lease, parked, everything=erasure.whole is not None)
    return {"ingest queue": messages, "dead letters": letters, "mailbox": len(parked)}


def count_waiting(erasure: Erasure, context: MemoryContext) -> dict[str, int]:
    """Count the turns that are meant and still wait, by where."""
    return {
        "mailbox": len(_parked(erasure, context)),
        "ingest queue": count_messages(context.redis, erasure.covers),
        "dead letters": len(_dead_letters(erasure, context)),
    }


def _parked(erasure: Erasure, context: MemoryContext) -> list[str]:
    return [id_ for id_, body in context.mailbox.parked(erasure.subject).items() if erasure.covers(json.loads(body))]


def _dead_letters(erasure: Erasure, context: MemoryContext) -> list[DeadLetter]:
    return [letter for letter in read_dead_letters(context.redis) if erasure.covers(letter.turn, letter.at)]


def _said_at(turn: Any) -> datetime | None:
    try:
        said_at = datetime.fromisoformat(turn["occurred_at"])
    except (KeyError, TypeError, ValueError):
        return None
    return said_at if said_at.tzinfo else None
