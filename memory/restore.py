"""Puts a backup where nothing is: the catalog, then the index from it, then what was erased since, then what waits.

Turns come last: a worker that starts too early finds an index that is not built, and stops.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ValidationError
from sqlalchemy import Engine

from memory.backup import MANIFEST, MESSAGES, TURNS, described
from memory.context import MemoryContext
from memory.documents.delete import delete_document
from memory.erasure.memories import erase_memories
from memory.erasure.queue import is_turn_of
from memory.erasure.subjects import erase_subject, erase_turns
from memory.reindex import finish, give_up, regraph, reindex
from schema import Scope, Subject, Tombstone, Turn
from schema.backup import ErasureLine, Manifest, WaitingMessage, WaitingTurn
from schema.errors import BackupRefused, ConflictingTurn, UnderLegalHold
from schema.settings import Settings
from schema.wrong_fields import wrong_fields
from stores.broker_backup import put_back, subject_of, turn_in
from stores.catalog.copies import is_there, kind_of, put_catalog
from stores.catalog.head import HEAD
from stores.embedding import open_embedder
from stores.index import open_index
from stores.mailbox import Mailbox
from stores.queue import notify, send_dead_letter

_CLOCKS_DIFFER = timedelta(minutes=5)
"""Erasures are applied again from so long before the backup began: they are by another machine's clock."""
_ANOTHER = "a turn of the backup had its id"
_UNREADABLE = "this version cannot read the turn"
_REASON = "erased after the backup that was restored"
Line = TypeVar("Line", bound=BaseModel)


@dataclass(frozen=True)
class Restored:
    """Counts of a restore: memories put into the index, turns and messages that wait again, turns that were left out
    because they had been erased, erasures applied again, and those that a legal hold of the backup forbids."""

    memories: int
    turns: int
    messages: int
    left_out: int
    erased: int
    held: int


def read_manifest(folder: Path) -> Manifest:
    """Return what a backup says of itself, once every file of it is what was written.

    Raises:
        BackupRefused: it is no whole backup, a file of it is damaged, or a newer version wrote it.
    """
    try:
        manifest = Manifest.model_validate_json((folder / MANIFEST).read_bytes())
    except OSError as error:
        raise BackupRefused(f"{folder} has no {MANIFEST}: it is no backup, or one that was not finished") from error
    except ValidationError as error:
        raise BackupRefused(
            f"{folder / MANIFEST} cannot be read by this version: restore it with a newer one"
        ) from error
    for written in manifest.files:
        path = folder / written.name
        if not path.is_file() or described(path) != written:
            raise BackupRefused(f"{path} is not what the backup wrote: it was changed, cut off or lost")
    if manifest.revision > HEAD:
        raise BackupRefused(
            f"the backup's tables are at revision {manifest.revision}, this version writes {HEAD}: restore it with "
            f"Afterturn {manifest.afterturn} or newer"
        )
    return manifest


def require_empty_target(
    manifest: Manifest, settings: Settings, engine: Engine, mailbox: Mailbox, waiting: int
) -> None:
    """Refuse to restore over a catalog, an index or turns that wait; `waiting` messages are in the queues.

    Raises:
        BackupRefused: something is there, or the catalog is to be of another kind.
    """
    if kind_of(engine) is not manifest.catalog:
        raise BackupRefused(
            f"the backup's catalog is of {manifest.catalog}, and AFTERTURN_CATALOG_URL names {kind_of(engine)}: "
            "restore it to the same kind, and carry memories over with `afterturn export` and `afterturn import`"
        )
    if is_there(engine):
        shown = engine.url.render_as_string(hide_password=True)
        raise BackupRefused(f"there is a catalog at {shown}: a backup is restored to where nothing is")
    if mailbox.pending_turns() or waiting:
        raise BackupRefused(
            f"{mailbox.pending_turns()} turns and {waiting} messages wait in the broker: a backup is restored to "
            "one of its own, or after all were processed"
        )
    if vectors := _vectors_in(settings):
        raise BackupRefused(
            f"the index {settings.index}:{settings.index_name} has {vectors} vectors of something else: name a new one "
            "in AFTERTURN_INDEX_NAME, it is built from the backup's catalog"
        )


def restore_catalog(folder: Path, manifest: Manifest, engine: Engine) -> None:
    """Make the catalog of a backup. Call `require_empty_target` before.

    Raises:
        BackupRefused: a Postgres cannot be filled; nothing was written.
    """
    put_catalog(folder / manifest.files[0].name, engine)


def restore_rest(
    folder: Path,
    manifest: Manifest,
    context: MemoryContext,
    *,
    by: str,
    erasures: Path | None = None,
    progress: Callable[[int], None] = lambda _: None,
) -> Restored:
    """Build the index from the restored catalog, apply erasures again that are in a later backup's list, and let what
    waited wait again. `progress` hears of the index.

    Raises:
        BackupRefused: a line of a file is none.
    """
    if context.catalog.reindex_jobs.under_way():
        give_up(context)
    memories = 0
    # An index in the catalog's own database came with it.
    if context.index.count() == 0:
        memories = reindex(context, progress)
        finish(context)
    regraph(context)
    later = list(_lines(erasures, ErasureLine)) if erasures else []
    since = [line for line in later if line.at >= manifest.began_at - _CLOCKS_DIFFER]
    erased = held = 0
    for line in since:
        try:
            erased += _erase_again(line, context, by)
        except UnderLegalHold:
            held += 1
    turns = messages = left_out = 0
    for waiting in _lines(folder / TURNS, WaitingTurn):
        done = _put_turn_back(waiting, manifest.began_at, context)
        turns += done
        left_out += not done
    erased_since = context.catalog.tombstones.since(manifest.began_at)
    for message in _lines(folder / MESSAGES, WaitingMessage):
        turn = turn_in(message)
        if any(is_turn_of(turn, subject, stone.scope, stone.key) for subject, stone in erased_since):
            left_out += 1
            continue
        put_back(context.redis, message)
        messages += 1
    return Restored(memories, turns, messages, left_out, erased, held)


def _vectors_in(settings: Settings) -> int:
    """Count what an index holds that does not come with the catalog."""
    if settings.index == "pgvector" or (settings.index == "sqlite" and not settings.index_dir.exists()):
        return 0
    with closing(open_index(settings, open_embedder(settings))) as index:
        return index.count()


def _erase_again(line: ErasureLine, context: MemoryContext, by: str) -> bool:
    """Apply an erasure, if there is anything to erase; answer whether there was."""
    subject = Subject(tenant_id=line.tenant_id, subject_id=line.subject_id)
    now = datetime.now(UTC)
    if line.memory_id is not None:
        there = bool(context.catalog.memories(subject, [line.memory_id]))
        if there:
            erase_memories(subject, [line.memory_id], context, by=by, reason=_REASON, now=now)
        return there
    if line.item_id is not None:
        return context.catalog.items.delete_again(subject, line.item_id, line.at, now)
    if line.document_id is not None:
        document = context.catalog.documents.heads(subject, [line.document_id]).get(line.document_id)
        # One that was put under the id of a deleted one stays.
        if document is None or document.created_at > line.at:
            return False
        delete_document(document, context, by=by, reason=_REASON, now=now)
        return True
    if any(
        (stone.scope, stone.key, stone.at) == (line.scope, line.key, line.at) for stone in _stones(subject, context)
    ):
        return False
    if line.scope is Scope.SUBJECT:
        erase_subject(subject, context, by=by, now=now)
    elif line.scope is not None:
        erase_turns(subject, line.scope, line.key, context, by=by, now=now)
    return True


def _put_turn_back(waiting: WaitingTurn, began_at: datetime, context: MemoryContext) -> bool:
    """Let a turn wait again, unless it was erased; what can be no turn here becomes a dead letter. One of a spool lay
    there when the backup began."""
    subject = subject_of(waiting)
    try:
        turn = Turn.model_validate_json(waiting.body)
    except ValidationError:
        send_dead_letter(context.celery, reason=_UNREADABLE, turn_id=waiting.turn_id, body=waiting.body)
        return True
    if any(stone.covers(turn, waiting.arrived_at or began_at) for stone in _stones(subject, context)):
        return False
    try:
        # Nobody is on the way: the sweep looks at once.
        receipt = context.mailbox.append(turn, 0.0)
    except ConflictingTurn:
        send_dead_letter(context.celery, reason=_ANOTHER, turn_id=waiting.turn_id, body=waiting.body)
        return True
    if receipt.notify:
        notify(context.celery, subject)
    return True


def _stones(subject: Subject, context: MemoryContext) -> list[Tombstone]:
    return context.catalog.tombstones.of(subject)


def _lines(path: Path, line: type[Line]) -> Iterator[Line]:
    with path.open(encoding="utf-8") as lines:
        for number, text in enumerate(lines, start=1):
            try:
                yield line.model_validate_json(text)
            except ValidationError as error:
                raise BackupRefused(f"{path}, line {number}: {wrong_fields(error)}") from error
