"""Erasure of a memory, a turn, a conversation or a whole subject: everywhere, with a proof.

The order makes it hard to race: the lease of the subject's mailbox first, so that no turn of it is in work; then the
catalog, whose fence refuses what a worker with an older lease still wants to write; then everything else. The catalog's
transaction sets tombstones too, so that a turn that is still on its way brings nothing back. They stand as going on
until a second look finds nothing: an erasure that was killed after that transaction is finished by the fleet, and one
that was killed before has done nothing.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

import structlog

from memory.context import MemoryContext
from memory.erasure.memories import erase_memories
from memory.events import announce_left, stream_key
from memory.indexing import index_all
from memory.leases import SubjectBusy, subject_lease
from policies.consolidation import Aftermath
from schema import AuditAction, AuditEntry, Memory, Scope, Status, Subject, Tombstone
from schema.errors import BrokerRejected
from stores.dead_letters import DeadLetter, read_dead_letters, remove_dead_letter
from stores.graph import RebuildableGraph
from stores.index.base import Where
from stores.mailbox import Lease
from stores.queued_turns import count_messages, drop_messages

_log = structlog.get_logger()
_REASON = "erased by command"
_EVERY_STATUS = tuple(Status)
_PAGE = 1000
_BLOCK = 1024 * 1024


@dataclass
class Proof:
    """What was removed where, and what a second look still found there: nothing, if all is well.

    `notes` say what this process cannot remove, or not yet. No field holds what was said.
    """

    removed: dict[str, int] = field(default_factory=dict)
    left: dict[str, int] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    @property
    def is_clean(self) -> bool:
        return not any(self.left.values())


def erase_subject(subject: Subject, context: MemoryContext, *, by: str, now: datetime) -> Proof:
    """Erase all that is known of a subject, and all of its turns wherever they wait.

    Raises:
        SubjectBusy: a worker has the subject's turns in hand for longer than one waits; try again.
        UnderLegalHold: so are some of its memories; nothing was erased.
    """
    proof = Proof()
    stone = Tombstone(Scope.SUBJECT, "", now)
    reach = _Reach(subject, (stone,))
    with subject_lease(subject, context) as lease:
        line = AuditEntry(
            action=AuditAction.ERASED,
            **subject.model_dump(),
            at=now,
            by=by,
            reason="the subject was erased by command",
            policy_version=context.policy.version,
        )
        removed, memories = context.catalog.erasures.wipe(subject, lease.token, stone, line)
        proof.removed |= {f"catalog: {table}": count for table, count in removed.items() if count}
        _clear(reach, lease, context, proof)
        proof.removed["index"] += len(memories)
    _rewrite(context, proof)
    proof.left = {f"catalog: {table}": count for table, count in context.catalog.erasures.left(subject).items()}
    _look_again(reach, context, proof)
    _end(reach, proof, context, now)
    return proof


def erase_turns(
    subject: Subject, scope: Scope, key: str, context: MemoryContext, *, by: str, now: datetime
) -> tuple[Proof, Sequence[Memory]]:
    """Erase one turn or one conversation of a subject: its raw turns, and every memory that came of any of them, even
    if it came of others too. Answers the proof, and the memories that were told anew without them.

    Raises:
        SubjectBusy, ConcurrentChange: others work on the subject; try again.
        UnderLegalHold: so is one of the memories; nothing was erased.
    """
    proof = Proof()
    erasures = context.catalog.erasures
    with subject_lease(subject, context) as lease:
        turns = {key} if scope is Scope.TURN else erasures.turns_of(subject, key)
        stones = {Tombstone(scope, key, now), *(Tombstone(Scope.TURN, turn_id, now) for turn_id in turns)}
        reach = _Reach(subject, tuple(stones))
        rows = erasures.left_of(subject, turns)
        what = erase_memories(
            subject,
            erasures.made_of(subject, turns),
            context,
            by=by,
            reason=_REASON,
            now=now,
            fence=lease.token,
            tombstones=reach.stones,
            turns=turns,
        )
        proof.removed = {"memories": len(what.deleted)} | {f"catalog: {table}": count for table, count in rows.items()}
        _clear(reach, lease, context, proof)
    _rewrite(context, proof)
    proof.left = {
        "memories": len(erasures.made_of(subject, turns)),
        **{f"catalog: {table}": count for table, count in erasures.left_of(subject, turns).items()},
        "events": _told_of(subject, what, context),
    }
    _look_again(reach, context, proof, what)
    _end(reach, proof, context, now)
    return proof, what.changed


def finish_erasures(context: MemoryContext, limit: int, now: datetime) -> int:
    """Bring erasures to their end that were killed on the way, or that left something; answers of how many subjects.

    The catalog has been done with each of them: what is left is outside of it. What the subject has said since stays.
    """
    ended = 0
    for subject, _ in context.catalog.tombstones.unfinished(limit):
        proof = Proof()
        with suppress(SubjectBusy), subject_lease(subject, context) as lease:
            reach = _Reach(subject, tuple(context.catalog.tombstones.of(subject, unfinished=True)), is_late=True)
            _clear(reach, lease, context, proof)
            _rewrite(context, proof)
            _look_again(reach, context, proof)
            _end(reach, proof, context, now)
            ended += proof.is_clean
            if not proof.is_clean:
                _log.warning("erasure_goes_on", stage="night", left=sum(proof.left.values()))
    return ended


def erase_memory(subject: Subject, memory_id: uuid.UUID, context: MemoryContext, *, by: str, now: datetime) -> Proof:
    """Erase one memory with all that says the same.

    Raises:
        KeyError: the subject has no such memory.
    """
    what = erase_memories(subject, [memory_id], context, by=by, reason=_REASON, now=now)
    gone = {memory.id for memory in what.deleted}
    turns = {turn_id for memory in what.deleted for turn_id in memory.source_turn_ids}
    unneeded = [turn_id for turn_id in sorted(turns) if not context.catalog.erasures.made_of(subject, [turn_id])]
    return Proof(
        removed={"memories": len(gone)},
        left={
            "memories": len(context.catalog.memories(subject, gone)),
            "sources": len(context.catalog.sources(subject, unneeded)),
            **_left_in_graph(subject, context, gone),
            "index": len(context.index.fetch(subject, [memory.index_key for memory in what.deleted])),
            "events": _told_of(subject, what, context),
        },
    )


def files_with(folder: Path, texts: Iterable[str]) -> list[str]:
    """The files under a folder in which any of these texts still stands, by their names: stores, logs, spools.

    Reads all of them, a megabyte at a time. Not while this process has SQLite files among them open: who closes any
    handle of a file gives up all locks that its process has on it (sqlite.org/howtocorrupt.html, 2.2).
    """
    wanted = sorted({form for text in texts for form in (text.encode(), json.dumps(text)[1:-1].encode())})
    longest = max(map(len, wanted), default=0)
    found = []
    for path in sorted(path for path in folder.rglob("*") if path.is_file()) if wanted else ():
        with path.open("rb") as file:
            tail = b""
            while block := file.read(_BLOCK):
                if any(text in tail + block for text in wanted):
                    found.append(str(path))
                    break
                tail = block[-longest:]
    return found


@dataclass(frozen=True)
class _Reach:
    """What an erasure means outside of the catalog: what its tombstones name.

    One that `is_late`, because it is finished after whoever began it was killed, leaves what the subject said since.
    """

    subject: Subject
    stones: tuple[Tombstone, ...]
    is_late: bool = False

    @property
    def whole(self) -> Tombstone | None:
        """The tombstone of the whole subject, if it is one."""
        return next((stone for stone in self.stones if stone.scope is Scope.SUBJECT), None)

    def means(self, turn: Any, came_at: datetime | None = None) -> bool:
        """Whether a turn as it came is meant; `came_at` counts where the turn does not tell when it was said."""
        said_at = _said_at(turn) or came_at
        return is_of(turn, self.subject) and any(
            is_of(turn, self.subject, stone.scope, stone.key)
            and (not self.is_late or stone.scope is Scope.TURN or said_at is None or said_at <= stone.at)
            for stone in self.stones
        )


def _said_at(turn: Any) -> datetime | None:
    try:
        said_at = datetime.fromisoformat(turn["occurred_at"])
    except (KeyError, TypeError, ValueError):
        return None
    return said_at if said_at.tzinfo else None


def _clear(reach: _Reach, lease: Lease, context: MemoryContext, proof: Proof) -> None:
    """Drop what is meant everywhere but in the catalog, and give the lease back."""
    subject = reach.subject
    index_all(subject, context)
    proof.removed["ingest queue"] = drop_messages(context.redis, reach.means)
    letters = _letters(reach, context)
    proof.removed["dead letters"] = sum(remove_dead_letter(context.redis, letter) for letter in letters)
    if reach.whole:
        proof.removed["index"] = _drop_strays(subject, context)
        told = _told(reach, context)
        proof.removed["events"] = len(told)
        if told:
            context.redis.xdel(stream_key(subject), *told)
    else:
        _tell(subject, context)
    waiting = _parked(reach, context)
    proof.removed["mailbox"] = len(waiting)
    context.mailbox.drop(lease, waiting, everything=reach.whole is not None)


def _look_again(reach: _Reach, context: MemoryContext, proof: Proof, what: Aftermath | None = None) -> None:
    """Count what is left of what was meant, and of the memories that went for it, where these are known."""
    subject = reach.subject
    if reach.whole:
        proof.left["index"] = len(_strays(subject, context))
        proof.left["events"] = len(_told(reach, context))
        if not reach.is_late:
            proof.left |= _left_in_graph(subject, context)
    if what is not None:
        proof.left["index"] = len(context.index.fetch(subject, [memory.index_key for memory in what.deleted]))
        proof.left |= _left_in_graph(subject, context, {memory.id for memory in what.deleted})
    proof.left["mailbox"] = len(_parked(reach, context))
    proof.left["ingest queue"] = count_messages(context.redis, reach.means)
    proof.left["dead letters"] = len(_letters(reach, context))


def _end(reach: _Reach, proof: Proof, context: MemoryContext, now: datetime) -> None:
    """Note that an erasure is over, if nothing is left: otherwise the fleet tries again within the hour."""
    if proof.is_clean:
        context.catalog.tombstones.finish(reach.subject, reach.stones, now)
    else:
        proof.notes.append("the fleet looks again within the hour, until nothing is left")


def _drop_strays(subject: Subject, context: MemoryContext) -> int:
    dropped = 0
    while strays := _strays(subject, context):
        context.index.delete(subject, strays)
        dropped += len(strays)
    return dropped


def _strays(subject: Subject, context: MemoryContext) -> list[uuid.UUID]:
    """Entries of the subject that no memory accounts for."""
    [anywhere] = context.embedder.embed(["anything"])
    hits = context.index.query(anywhere, Where(subject, statuses=_EVERY_STATUS), _PAGE)
    known = context.catalog.memories(subject, [hit.memory_id for hit in hits])
    return [hit.key for hit in hits if hit.memory_id not in known]


def _told(reach: _Reach, context: MemoryContext) -> list[bytes]:
    """The entries of the subject's stream that are from before the erasure; all of them where it is not late."""
    entries: Any = context.redis.xrange(stream_key(reach.subject))
    until = reach.whole.at if reach.is_late and reach.whole else None
    return [id_ for id_, fields in entries if until is None or datetime.fromisoformat(fields[b"at"].decode()) <= until]


def _parked(reach: _Reach, context: MemoryContext) -> list[str]:
    return [id_ for id_, body in context.mailbox.parked(reach.subject).items() if reach.means(json.loads(body))]


def _letters(reach: _Reach, context: MemoryContext) -> list[DeadLetter]:
    return [letter for letter in read_dead_letters(context.redis) if reach.means(letter.turn, letter.at)]


def _rewrite(context: MemoryContext, proof: Proof) -> None:
    """Have Redis write its append-only file anew: it holds what was deleted until then. Say what else may hold it."""
    if context.settings.effective_catalog_url.startswith("postgres"):
        proof.notes.append(
            "Postgres keeps deleted rows in its files until VACUUM FULL, and in its log until that is recycled"
        )
    with suppress(BrokerRejected):
        # Refused while it is under way already, or where there is no such file.
        context.redis.bgrewriteaof()
    proof.notes.append(
        "the broker rewrites its append-only file now; until it is done that still holds what was erased"
    )


def _left_in_graph(
    subject: Subject, context: MemoryContext, ids: Collection[uuid.UUID] | None = None
) -> dict[str, int]:
    """How many facts a graph of its own still has, of some memories or of all."""
    if not isinstance(context.graph, RebuildableGraph):
        return {}
    return {"graph": sum(ids is None or one.memory_id in ids for one in context.graph.facts(subject))}


def _tell(subject: Subject, context: MemoryContext) -> None:
    while waiting := context.catalog.outbox(subject):
        announce_left(waiting, context)


def _told_of(subject: Subject, what: Aftermath, context: MemoryContext) -> int:
    """How many events still tell more of erased memories than that they are gone, or what was told with them."""
    entries: Any = context.redis.xrange(stream_key(subject))
    told = [(fields[b"event"], json.loads(fields[b"payload"])) for _, fields in entries]
    gone = {str(memory.id) for memory in what.deleted}
    anew = {str(memory.id) for memory in what.changed if memory.consolidated_from}
    return sum(
        event != b"memory.deleted"
        and (bool(gone & set(map(str, payload.values()))) or (payload.get("id") in anew and "anew" not in payload))
        for event, payload in told
    )


def is_of(turn: Any, subject: Subject, scope: Scope = Scope.SUBJECT, key: str = "") -> bool:
    """Whether a turn as it came, a JSON value or a text, is a subject's, and of a conversation or the turn under a key
    where the scope says so.

    What was no turn, a dead letter has as it came: it is meant if it has all these names, however JSON writes them.
    """
    names = {"tenant_id": subject.tenant_id, "user_id": subject.subject_id}
    if scope is not Scope.SUBJECT:
        names["turn_id" if scope is Scope.TURN else "conversation_id"] = key
    if isinstance(turn, dict) and names.keys() <= turn.keys():
        return all(str(turn[field]) == name for field, name in names.items())
    text = (turn if isinstance(turn, str) else json.dumps(turn)).replace("\\", "")
    ways = [
        [json.dumps(name, ensure_ascii=ascii_).replace("\\", "") for ascii_ in (True, False)] for name in names.values()
    ]
    return all(any(way in text for way in of_name) for of_name in ways)
