"""The proof of an erasure: what was removed where, and what a second look still finds."""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Collection, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from memory.agreement import stray_keys
from memory.context import MemoryContext
from memory.erasure.queue import Erasure, count_waiting, note_nobodys_letters
from memory.events import stream_key
from policies.unconsolidation import Aftermath
from schema import Subject
from schema.errors import BrokerRefused, BrokerRejected
from stores.graph import RebuildableGraph
from stores.index.base import BESIDE, Family, LoggedIndex

BROKER_FILE: Final = "the broker's append-only file"
STORE_LOGS: Final = "the write-ahead logs of the catalog and the index"
_BLOCK = 1024 * 1024
_REWRITE_SECONDS = 20.0
"""For how long the broker's rewriting is waited for: a gigabyte takes some ten seconds."""
_POLL_SECONDS = 0.02
_NOT_BEGUN: Final = "Can't execute an AOF background rewriting"
_UNDER_WAY: Final = "already in progress"
"""The broker's answer where another erasure has asked for the same a moment ago: that is after our words went."""


@dataclass
class Proof:
    """Counts by place of what was removed, and of what a second look still found: nothing, if all is well.

    `unshown` are the places of which it is not shown that nothing is left there; `may_be_shown` says that it may be if
    one tries again. `notes` say what this process cannot remove, or not yet. No field holds what was said.
    """

    removed: dict[str, int] = field(default_factory=dict)
    left: dict[str, int] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    unshown: list[str] = field(default_factory=list)
    may_be_shown: bool = False

    @property
    def is_clean(self) -> bool:
        """Return whether nothing is left, and that is shown of every place."""
        return not (self.has_left or self.unshown)

    @property
    def is_over(self) -> bool:
        """Return whether there is nothing for the fleet to try again."""
        return not (self.has_left or self.may_be_shown)

    @property
    def has_left(self) -> bool:
        """Return whether a second look found anything."""
        return any(self.left.values())


def look_again(erasure: Erasure, context: MemoryContext, proof: Proof, aftermath: Aftermath | None = None) -> None:
    """Count what is left of what was meant, and of the memories that went for it, where these are known."""
    if erasure.whole:
        proof.left["index"] = len(stray_keys(Family.MEMORIES, erasure.subject, context))
        proof.left["events"] = len(events_of_erased(erasure, context))
        if not erasure.is_late:
            proof.left |= graph_facts(erasure.subject, context)
    for family in _families_beside(proof):
        proof.left[line_of(family)] = len(stray_keys(family, erasure.subject, context))
    if aftermath is not None:
        proof.left |= left_of_memories(erasure.subject, aftermath, context)
    proof.left |= count_waiting(erasure, context)
    proof.notes += note_nobodys_letters(context)


def left_of_memories(subject: Subject, aftermath: Aftermath, context: MemoryContext) -> dict[str, int]:
    """Count what is left of erased memories in the index, the graph and the events."""
    return {
        "index": len(context.index.fetch(subject, [memory.index_key for memory in aftermath.deleted])),
        **graph_facts(subject, context, {memory.id for memory in aftermath.deleted}),
        "events": _telling_events(subject, aftermath, context),
    }


def line_of(family: Family) -> str:
    """Return the line of a proof that counts the vectors of a family beside the memories'."""
    return f"index of {family}"


def events_of_erased(erasure: Erasure, context: MemoryContext) -> list[bytes]:
    """Return the entries of the subject's stream that are from before the erasure; all of them where it is not late."""
    entries: Any = context.redis.xrange(stream_key(erasure.subject))
    until = erasure.whole.at if erasure.is_late and erasure.whole else None
    return [id_ for id_, fields in entries if until is None or datetime.fromisoformat(fields[b"at"].decode()) <= until]


def graph_facts(subject: Subject, context: MemoryContext, ids: Collection[uuid.UUID] | None = None) -> dict[str, int]:
    """Count the facts that a graph of its own still has, of some memories or of all."""
    if not isinstance(context.graph, RebuildableGraph):
        return {}
    return {"graph": sum(ids is None or fact.memory_id in ids for fact in context.graph.facts(subject))}


def _telling_events(subject: Subject, aftermath: Aftermath, context: MemoryContext) -> int:
    """Count the events that still tell more of erased memories than that they are gone, or what was said with them."""
    entries: Any = context.redis.xrange(stream_key(subject))
    announced = [(fields[b"event"], json.loads(fields[b"payload"])) for _, fields in entries]
    gone = {str(memory.id) for memory in aftermath.deleted}
    reworded = {str(memory.id) for memory in aftermath.changed if memory.consolidated_from}
    return sum(
        event != b"memory.deleted"
        and (bool(gone & set(map(str, payload.values()))) or (payload.get("id") in reworded and "anew" not in payload))
        for event, payload in announced
    )


def clear_logs(subject: Subject, context: MemoryContext, proof: Proof) -> None:
    """Have the stores in files of ours take what was deleted out of their write-ahead logs, and note where it is not
    shown that they did."""
    indexes = [context.index_of(family) for family in (Family.MEMORIES, *_families_beside(proof))]
    # Each is asked, whatever another answers.
    cleared = [
        context.catalog.leave_no_trace(),
        *[index.leave_no_trace(subject) for index in indexes if isinstance(index, LoggedIndex)],
    ]
    if not all(cleared):
        proof.unshown.append(STORE_LOGS)
        proof.may_be_shown = True
        proof.notes.append(
            "somebody reads the catalog or the index just now, a backup say: their write-ahead logs still hold what "
            "was erased"
        )


def _families_beside(proof: Proof) -> list[Family]:
    """Return the families of which something was removed: the index of another is not made only to be looked at."""
    return [family for family in BESIDE if line_of(family) in proof.removed]


def rewrite_broker_file(context: MemoryContext, proof: Proof) -> None:
    """Have Redis write its append-only file anew, and wait for it: the file holds what was deleted until then, however
    small it is. Note what else may hold it, and where it is not shown that the file holds nothing of it."""
    if context.settings.effective_catalog_url.startswith("postgres"):
        proof.notes.append(
            "Postgres keeps deleted rows in its files until VACUUM FULL, and in its log until that is recycled"
        )
    try:
        is_shown = _rewrite(context, proof)
    except (BrokerRefused, BrokerRejected) as error:
        proof.notes.append(
            f"the broker does not say whether it has rewritten its append-only file ({error}): see that it does"
        )
        is_shown = False
    if not is_shown:
        proof.unshown.append(BROKER_FILE)


def _rewrite(context: MemoryContext, proof: Proof) -> bool:
    """Return whether no append-only file is in use that was not written anew; note otherwise why."""
    deadline = time.monotonic() + _REWRITE_SECONDS
    refusal = ""
    # One that was under way already began before the words were deleted.
    persistence = _once_rewritten(context, deadline)
    is_asked = not _is_rewriting(persistence)
    if is_asked:
        try:
            context.redis.bgrewriteaof()
        except (BrokerRefused, BrokerRejected) as error:
            refusal = "" if _UNDER_WAY in str(error).lower() else str(error)
        persistence = _once_rewritten(context, deadline)
    if not persistence.get("aof_enabled"):
        return True
    if not is_asked:
        proof.may_be_shown = True
        proof.notes.append(
            "the broker still rewrites its append-only file from before the erasure: that holds what was erased until "
            "it is rewritten once more"
        )
    elif _is_rewriting(persistence):
        proof.notes.append(
            "the broker rewrites its append-only file now; until it is done that still holds what was erased"
        )
    elif _NOT_BEGUN in refusal or (not refusal and persistence.get("aof_last_bgrewrite_status", "ok") != "ok"):
        proof.may_be_shown = True
        proof.notes.append(
            "the broker could not rewrite its append-only file, which still holds what was erased: look at its disk "
            f"(space, rights) and its log{refusal and f' ({refusal})'}"
        )
    elif refusal:
        proof.notes.append(
            f"the broker does not rewrite its append-only file ({refusal}), which holds what was erased until it does"
        )
    else:
        return True
    return False


def _once_rewritten(context: MemoryContext, deadline: float) -> dict[str, Any]:
    """Return how the broker's files stand once no rewriting is under way, or at a moment of the monotonic clock."""
    while True:
        persistence: Any = context.redis.info("persistence")
        if not _is_rewriting(persistence) or time.monotonic() > deadline:
            return dict(persistence)
        time.sleep(_POLL_SECONDS)


def _is_rewriting(persistence: dict[str, Any]) -> bool:
    return bool(persistence.get("aof_rewrite_in_progress") or persistence.get("aof_rewrite_scheduled"))


def files_with(folder: Path, texts: Iterable[str]) -> list[str]:
    """Return the names of the files under a folder in which any of these texts still stands: stores, logs, spools.

    Reads all of them, a megabyte at a time. Not while this process has SQLite files among them open: who closes any
    handle of a file gives up all locks that its process has on it (sqlite.org/howtocorrupt.html, 2.2).
    """
    forms = sorted({form for text in texts for form in (text.encode(), json.dumps(text)[1:-1].encode())})
    longest = max(map(len, forms), default=0)
    file_names = []
    for path in sorted(path for path in folder.rglob("*") if path.is_file()) if forms else ():
        # A file that went meanwhile holds nothing: the broker drops what it wrote anew.
        with suppress(FileNotFoundError), path.open("rb") as file:
            tail = b""
            while block := file.read(_BLOCK):
                if any(text in tail + block for text in forms):
                    file_names.append(str(path))
                    break
                tail = block[-longest:]
    return [name for name in file_names if Path(name).exists()]
