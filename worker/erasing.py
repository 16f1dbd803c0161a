"""Erasure of a memory, a turn, a conversation or a whole subject: everywhere, with a proof.

The order makes it safe to repeat and hard to race: the lease of the subject's mailbox first, so that no turn of it is
in work; then the tombstone, so that a turn that is still on its way brings nothing back; then the catalog, whose fence
refuses what a worker with an older lease still wants to write; then everything else.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

from redis.exceptions import ResponseError

from memory.catalog.erasing import Scope, Tombstone
from memory.dead_letters import read_dead_letters, remove_dead_letter
from memory.erasure import Consequences, erase
from memory.graph import KeptGraph
from memory.index.base import Where
from memory.indexing import index_all
from memory.queued import count_messages, drop_messages
from memory.schema import AuditAction, AuditEntry, Memory, Status, Subject
from policies.consolidation import without
from worker.events import announce_left, stream_key
from worker.parts import Parts
from worker.reviews import holding

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


def erase_subject(subject: Subject, parts: Parts, *, by: str, now: datetime) -> Proof:
    """Erase all that is known of a subject, and all of its turns wherever they wait.

    Raises:
        SubjectBusy: a worker has the subject's turns in hand for longer than one waits; try again.
    """
    proof = Proof()
    with holding(subject, parts) as lease:
        parts.catalog.erasing.bury(subject, [Tombstone(Scope.SUBJECT, "", now)])
        line = AuditEntry(
            action=AuditAction.ERASED,
            **subject.model_dump(),
            at=now,
            by=by,
            reason="the subject was erased by command",
            policy_version=parts.policy.version,
        )
        removed, memories = parts.catalog.erasing.wipe(subject, lease.token, line)
        proof.removed |= {f"catalog: {table}": count for table, count in removed.items() if count}
        index_all(subject, parts)
        proof.removed["index"] = len(memories) + _drop_entries(subject, parts)
        waiting = parts.mailbox.parked(subject)
        parts.mailbox.drop(lease, list(waiting), everything=True)
        proof.removed["mailbox"] = len(waiting)
        _drop_turns(partial(is_of, subject=subject), parts, proof)
        proof.removed["events"] = int(parts.redis.xlen(stream_key(subject)))
        parts.redis.delete(stream_key(subject))
    _rewrite(parts, proof)
    _look_again(subject, parts, proof)
    return proof


def erase_turns(
    subject: Subject, scope: Scope, key: str, parts: Parts, *, by: str, now: datetime
) -> tuple[Proof, Sequence[Memory]]:
    """Erase one turn or one conversation of a subject: its raw turns, and every memory that came of any of them, even
    if it came of others too. Answers the proof, and the memories that were told anew without them.

    Raises:
        SubjectBusy, ConcurrentChange: others work on the subject; try again.
    """
    proof = Proof()
    is_meant = partial(is_of, subject=subject, scope=scope, key=key)
    with holding(subject, parts) as lease:
        erasing = parts.catalog.erasing
        turns = {key} if scope is Scope.TURN else erasing.turns_of(subject, key)
        stones = [Tombstone(scope, key, now), *(Tombstone(Scope.TURN, turn_id, now) for turn_id in sorted(turns))]
        erasing.bury(subject, stones)
        what = erase(subject, erasing.made_of(subject, turns), parts, without, by=by, reason=_REASON, now=now)
        proof.removed["memories"] = len(what.deleted)
        for table, count in erasing.drop_turns(subject, turns).items():
            proof.removed[f"catalog: {table}"] = count
        waiting = [id_ for id_, body in parts.mailbox.parked(subject).items() if is_meant(_json(body))]
        parts.mailbox.drop(lease, waiting)
        proof.removed["mailbox"] = len(waiting)
        _drop_turns(is_meant, parts, proof)
    _tell(subject, parts)
    _rewrite(parts, proof)
    proof.left = {
        "memories": len(erasing.made_of(subject, turns)),
        "index": len(parts.index.fetch(subject, [memory.index_key for memory in what.deleted])),
        **{f"catalog: {table}": count for table, count in erasing.left_of(subject, turns).items()},
        **_left_in_graph(subject, parts, {memory.id for memory in what.deleted}),
        "mailbox": sum(is_meant(_json(body)) for body in parts.mailbox.parked(subject).values()),
        "ingest queue": count_messages(parts.redis, is_meant),
        "dead letters": sum(is_meant(letter.turn) for letter in read_dead_letters(parts.redis)),
        "events": _told_of(subject, what, parts),
    }
    return proof, what.changed


def erase_memory(subject: Subject, memory_id: uuid.UUID, parts: Parts, *, by: str, now: datetime) -> Proof:
    """Erase one memory with all that says the same.

    Raises:
        KeyError: the subject has no such memory.
    """
    what = erase(subject, [memory_id], parts, without, by=by, reason=_REASON, now=now)
    _tell(subject, parts)
    gone = {memory.id for memory in what.deleted}
    turns = {turn_id for memory in what.deleted for turn_id in memory.source_turn_ids}
    unneeded = [turn_id for turn_id in sorted(turns) if not parts.catalog.erasing.made_of(subject, [turn_id])]
    return Proof(
        removed={"memories": len(gone)},
        left={
            "memories": len(parts.catalog.memories(subject, gone)),
            "sources": len(parts.catalog.sources(subject, unneeded)),
            **_left_in_graph(subject, parts, gone),
            "index": len(parts.index.fetch(subject, [memory.index_key for memory in what.deleted])),
            "events": _told_of(subject, what, parts),
        },
    )


def files_with(folder: Path, texts: Iterable[str]) -> list[str]:
    """The files under a folder in which any of these texts still stands, by their names: stores, logs, spools.

    Reads all of them, a megabyte at a time.
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


def _drop_entries(subject: Subject, parts: Parts) -> int:
    """Drop entries of the subject that no memory accounts for."""
    dropped = 0
    while keys := _entries(subject, parts):
        parts.index.delete(subject, keys)
        dropped += len(keys)
    return dropped


def _entries(subject: Subject, parts: Parts) -> list[uuid.UUID]:
    [anywhere] = parts.embedder.embed(["anything"])
    return [hit.key for hit in parts.index.query(anywhere, Where(subject, statuses=_EVERY_STATUS), _PAGE)]


def _drop_turns(is_meant: Callable[[Any], bool], parts: Parts, proof: Proof) -> None:
    proof.removed["ingest queue"] = drop_messages(parts.redis, is_meant)
    letters = [letter for letter in read_dead_letters(parts.redis) if is_meant(letter.turn)]
    proof.removed["dead letters"] = sum(remove_dead_letter(parts.redis, letter) for letter in letters)


def _rewrite(parts: Parts, proof: Proof) -> None:
    """Have Redis write its append-only file anew: it holds what was deleted until then. Say what else may hold it."""
    if parts.settings.effective_catalog_url.startswith("postgres"):
        proof.notes.append(
            "Postgres keeps deleted rows in its files until VACUUM FULL, and in its log until that is recycled"
        )
    with suppress(ResponseError):
        # Refused while it is under way already, or where there is no such file.
        parts.redis.bgrewriteaof()
    proof.notes.append(
        "the broker rewrites its append-only file now; until it is done that still holds what was erased"
    )


def _look_again(subject: Subject, parts: Parts, proof: Proof) -> None:
    rows = {f"catalog: {table}": count for table, count in parts.catalog.erasing.left(subject).items()}
    proof.left = (
        rows
        | _left_in_graph(subject, parts)
        | {
            "index": len(_entries(subject, parts)),
            "mailbox": len(parts.mailbox.parked(subject)),
            "ingest queue": count_messages(parts.redis, partial(is_of, subject=subject)),
            "dead letters": sum(is_of(letter.turn, subject) for letter in read_dead_letters(parts.redis)),
            "events": int(parts.redis.exists(stream_key(subject))),
        }
    )


def _left_in_graph(subject: Subject, parts: Parts, ids: Collection[uuid.UUID] | None = None) -> dict[str, int]:
    """How many facts a graph of its own still has, of some memories or of all."""
    if not isinstance(parts.graph, KeptGraph):
        return {}
    return {"graph": sum(ids is None or one.memory_id in ids for one in parts.graph.held(subject))}


def _tell(subject: Subject, parts: Parts) -> None:
    while waiting := parts.catalog.outbox(subject):
        announce_left(waiting, parts)


def _told_of(subject: Subject, what: Consequences, parts: Parts) -> int:
    """How many events still tell more of erased memories than that they are gone, or what was told with them."""
    entries: Any = parts.redis.xrange(stream_key(subject))
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


def _json(body: str) -> Any:
    return json.loads(body)
