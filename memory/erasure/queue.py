"""The turns and documents that an erasure means, wherever they wait: in messages, dead letters and the subject's
mailbox."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final, cast

from memory.context import MemoryContext
from schema import Scope, Subject, Tombstone
from stores.dead_letters import DeadLetter, read_dead_letters, remove_dead_letter
from stores.mailbox import Lease, ParkedTurn
from stores.queued_turns import count_messages, drop_messages, find_messages

_TENANT = "tenant_id"
"""The field of a turn that says whose tenant's it is."""
_NAMES_SOMEBODY: Final = re.compile(r'"(?:user|subject)_id"\s*:\s*["\d]')
"""Where JSON says whose something is, backslashes left out: '"user_id": "anna"'."""
_NOTED_SECONDS: Final = 7 * 86_400
_BEFORE, _LATER = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)


@dataclass(frozen=True)
class Erasure:
    """The part of an erasure outside of the catalog: what its tombstones name, and lay there when they were set.

    `waiting` are the ids of the plain messages and dead letters that did. An erasure `is_late` that is finished after
    whoever began it was killed: then what came since is left.
    """

    subject: Subject
    tombstones: tuple[Tombstone, ...]
    waiting: frozenset[str] = frozenset()
    is_late: bool = True

    @property
    def whole(self) -> Tombstone | None:
        """Return the tombstone of the whole subject, if it is one."""
        return next((tombstone for tombstone in self.tombstones if tombstone.scope is Scope.SUBJECT), None)

    def means_parked(self, parked: ParkedTurn) -> bool:
        """Return whether a turn in the mailbox is meant: it arrived before, or is the very turn."""
        return self._means(json.loads(parked.body), parked.arrived_at)

    def means_message(self, id_: str, turn: Any) -> bool:
        """Return whether a plain message is meant: it lay in the queue before, or is the very turn."""
        return id_ in self.waiting or self._means(turn, _LATER)

    def means_letter(self, letter: DeadLetter) -> bool:
        """Return whether a dead letter is meant: all there are, unless the erasure is late."""
        return letter.id in self.waiting or self._means(letter.turn, _LATER if self.is_late else _BEFORE)

    def _means(self, turn: Any, came_at: datetime) -> bool:
        return is_turn_of(turn, self.subject) and any(
            is_turn_of(turn, self.subject, tombstone.scope, tombstone.key)
            and (tombstone.scope is Scope.TURN or came_at <= tombstone.at)
            for tombstone in self.tombstones
        )


def begin_erasure(subject: Subject, scopes: Collection[tuple[Scope, str]], context: MemoryContext) -> Erasure:
    """Return what an erasure of some parts of a subject means, as of now by the mailbox's clock. Turns that are only in
    plain messages by now, of which the mailbox knows nothing, are named one by one: a worker may have them in hand."""

    def is_meant(turn: Any) -> bool:
        return any(is_turn_of(turn, subject, scope, key) for scope, key in scopes)

    # Before the moment: a message that comes between is a later one.
    messages = find_messages(context.redis, is_meant)
    letters = {letter.id for letter in read_dead_letters(context.redis) if is_meant(letter.turn)}
    now = context.mailbox.now()
    on_their_way = _turn_ids(messages.values()) - context.mailbox.parked(subject).keys()
    named = dict.fromkeys((*scopes, *((Scope.TURN, turn_id) for turn_id in sorted(on_their_way))))
    waiting = frozenset(messages.keys() | letters)
    if waiting:
        # Whoever finishes it, if this process is killed, would not know them from what came since.
        context.redis.sadd(_waiting_key(subject), *waiting)
        context.redis.expire(_waiting_key(subject), _NOTED_SECONDS)
    return Erasure(subject, tuple(Tombstone(scope, key, now) for scope, key in named), waiting, is_late=False)


def late_erasure(subject: Subject, tombstones: Iterable[Tombstone], context: MemoryContext) -> Erasure:
    """Return what an erasure means that is looked after when whoever began it may be dead."""
    noted = cast(set[bytes], context.redis.smembers(_waiting_key(subject)))
    return Erasure(subject, tuple(tombstones), frozenset(id_.decode() for id_ in noted))


def forget_waiting(subject: Subject, context: MemoryContext) -> None:
    """Drop the note of what lay in the queues when an erasure began: it has come to its end."""
    context.redis.delete(_waiting_key(subject))


def is_turn_of(turn: Any, subject: Subject, scope: Scope = Scope.SUBJECT, key: str = "") -> bool:
    """Return whether a turn or a document as it came, a JSON value or a text, is a subject's, and of a conversation or
    the turn under a key where the scope says so.

    What was no turn, a dead letter has as it came: it is meant if it has all these names, however JSON writes them. One
    that names no tenant could never be anybody else's memory, and is meant by its user.
    """
    is_document = isinstance(turn, dict) and "document_id" in turn
    names = {"tenant_id": subject.tenant_id, "subject_id" if is_document else "user_id": subject.subject_id}
    if scope is not Scope.SUBJECT:
        names["turn_id" if scope is Scope.TURN else "conversation_id"] = key
    if _TENANT not in (turn if isinstance(turn, str) else json.dumps(turn)):
        del names["tenant_id"]
    if isinstance(turn, dict) and names.keys() <= turn.keys():
        return all(str(turn[field]) == name for field, name in names.items())
    text = (turn if isinstance(turn, str) else json.dumps(turn)).replace("\\", "")
    spellings = [
        [json.dumps(name, ensure_ascii=ascii_).replace("\\", "") for ascii_ in (True, False)] for name in names.values()
    ]
    return all(any(spelling in text for spelling in of_name) for of_name in spellings)


def names_nobody(turn: Any) -> bool:
    """Return whether nothing tells whose a turn, a document or a text is, as it came."""
    return not _NAMES_SOMEBODY.search((turn if isinstance(turn, str) else json.dumps(turn)).replace("\\", ""))


def note_nobodys_letters(context: MemoryContext) -> list[str]:
    """Return what an erasure says of dead letters that name nobody: whose words they hold only a person can tell."""
    count = sum(bool(letter.turn) and names_nobody(letter.turn) for letter in read_dead_letters(context.redis))
    if not count:
        return []
    return [
        f"dead letters that name no user stay, though anybody's words may be in them: there are {count}. Whoever runs "
        "the fleet finds them with `afterturn dead-letters list`, and can `show` and `drop` them"
    ]


def drop_waiting(erasure: Erasure, lease: Lease, context: MemoryContext) -> dict[str, int]:
    """Drop all turns that are meant and still wait, and return how many went where."""
    messages = drop_messages(context.redis, erasure.means_message)
    letters = sum(remove_dead_letter(context.redis, letter) for letter in _dead_letters(erasure, context))
    parked = _parked(erasure, context)
    context.mailbox.drop(lease, parked)
    if erasure.whole:
        context.mailbox.forget_over_quota(erasure.subject)
    return {"ingest queue": messages, "dead letters": letters, "mailbox": len(parked)}


def count_waiting(erasure: Erasure, context: MemoryContext) -> dict[str, int]:
    """Count the turns that are meant and still wait, by where."""
    return {
        "mailbox": len(_parked(erasure, context)),
        "ingest queue": count_messages(context.redis, erasure.means_message),
        "dead letters": len(_dead_letters(erasure, context)),
    }


def _parked(erasure: Erasure, context: MemoryContext) -> list[str]:
    parked = context.mailbox.parked(erasure.subject)
    return [id_ for id_, parked_turn in parked.items() if erasure.means_parked(parked_turn)]


def _dead_letters(erasure: Erasure, context: MemoryContext) -> list[DeadLetter]:
    return [letter for letter in read_dead_letters(context.redis) if erasure.means_letter(letter)]


def _waiting_key(subject: Subject) -> str:
    return f"afterturn:erasure:{{{subject.key}}}:waiting"


def _turn_ids(turns: Iterable[Any]) -> set[str]:
    """Return the ids of those that name one: a document has none, nor what is no turn."""
    return {turn["turn_id"] for turn in turns if isinstance(turn, dict) and isinstance(turn.get("turn_id"), str)}
