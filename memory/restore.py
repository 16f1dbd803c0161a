"""Puts a backup where nothing is: the catalog, then the index from it, then what was erased since, then what waits.

Turns come last: a worker that starts too early finds an index that is not built, and stops.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ValidationError
from redis import Redis
from sqlalchemy import Engine

from memory.backup import ERASURES, MANIFEST, MESSAGES, TURNS, described
from memory.context import MemoryContext
from memory.documents.delete import delete_document
from memory.erasure.memories import erase_memories
from memory.erasure.queue import is_turn_of
from memory.erasure.subjects import erase_subject, erase_turns
from memory.reindex import finish, give_up, regraph, reindex
from schema import Scope, Subject, Tombstone, Turn
from schema.backup import BackupFile, ErasureLine, Manifest, WaitingMessage, WaitingTurn
from schema.errors import BackupRefused, ConflictingTurn, UnderLegalHold
from schema.settings import Settings
from schema.wrong_fields import wrong_fields
from stores.broker_backup import QUEUES_OF_TURNS, count_waiting_messages, put_back, subject_of, turn_in
from stores.catalog.copies import CATALOG_FILES, is_there, kind_of, put_catalog
from stores.catalog.head import HEAD
from stores.embedding import open_embedder
from stores.index import open_index
from stores.queue import create_celery, notify, open_mailbox, send_dead_letter, who_works

_CLOCKS_DIFFER = timedelta(minutes=5)
"""Erasures are applied again from so long before the backup began: they are by another machine's clock."""
_PATIENCE_SECONDS = 2.0
"""For so long workers are asked whether they are there."""
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
    """Return what a backup says of itself, once every file of it is what was written, and every line can be restored.

    Raises:
        BackupRefused: it is no whole backup, a file of it is damaged, or a newer version wrote it.
    """
    try:
        manifest = Manifest.model_validate_json((folder / MANIFEST).read_bytes())
    except OSError as error:
        raise BackupRefused(f"{folder} has no {MANIFEST}: it is no backup, or one that was not finished") from error
    except ValidationError as error:
        raise BackupRefused(
            f"{folder / MANIFEST} cannot be read by this version ({wrong_fields(error)}): it was changed, or is of a "
            "newer version, which restores it"
        ) from error
    # Not what it lists: by a shorter list, files that were changed would be restored unseen.
    names = sorted([CATALOG_FILES[manifest.catalog], TURNS, MESSAGES, ERASURES])
    if sorted(written.name for written in manifest.files) != names:
        raise BackupRefused(
            f"{folder / MANIFEST} lists other files than a backup has ({', '.join(names)}): it was changed, or is of a "
            "newer version, which restores it"
        )
    for written in manifest.files:
        path = folder / written.name
        if not _is_as_written(path, written):
            raise BackupRefused(f"{path} is not what the backup wrote: it was changed, cut off or lost")
    if manifest.revision > HEAD:
        raise BackupRefused(
            f"the backup's tables are at revision {manifest.revision}, this version writes {HEAD}: restore it with "
            f"Afterturn {manifest.afterturn} or newer"
        )
    for number, waiting in enumerate(_lines(folder / TURNS, WaitingTurn), start=1):
        turn = _turn_of(waiting)
        if turn and (turn.subject, turn.turn_id) != (subject_of(waiting), waiting.turn_id):
            raise BackupRefused(f"{folder / TURNS}, line {number}: it names another user or id than the turn in it")
    for number, message in enumerate(_lines(folder / MESSAGES, WaitingMessage), start=1):
        if message.queue not in QUEUES_OF_TURNS or not _is_readable(message):
            raise BackupRefused(f"{folder / MESSAGES}, line {number}: it is no message of a queue in which turns wait")
    read_erasures(folder / ERASURES)
    return manifest


def read_erasures(path: Path) -> list[ErasureLine]:
    """Return what a backup's list of erasures names.

    Raises:
        BackupRefused: a line of it is none.
    """
    return list(_lines(path, ErasureLine))


def require_empty_target(manifest: Manifest, settings: Settings, engine: Engine, redis: Redis) -> None:
    """Refuse to restore over a catalog, an index or turns that wait, or to the broker of a fleet that works.

    Raises:
        BackupRefused: something or somebody is there, or the catalog is to be of another kind.
    """
    if kind_of(engine) is not manifest.catalog:
        raise BackupRefused(
            f"the backup's catalog is of {manifest.catalog}, and AFTERTURN_CATALOG_URL names {kind_of(engine)}: "
            "restore it to the same kind, and carry memories over with `afterturn export` and `afterturn import`"
        )
    if is_there(engine):
        shown = engine.url.render_as_string(hide_password=True)
        raise BackupRefused(f"there is a catalog at {shown}: a backup is restored to where nothing is")
    celery = create_celery(settings)
    if working := who_works(celery, redis, _PATIENCE_SECONDS):
        raise BackupRefused(
            f"a fleet works on the broker at {settings.broker_shown}: {', '.join(working)}. Set AFTERTURN_BROKER_URL "
            "to the new place's own, or stop them; a beat that was killed counts for 15 s longer"
        )
    turns, waiting = open_mailbox(settings, redis, celery).pending_turns(), count_waiting_messages(redis)
    if turns or waiting:
        raise BackupRefused(
            f"{turns} turns and {waiting} messages wait in the broker: a backup is restored to "
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
    put_catalog(folder / CATALOG_FILES[manifest.catalog], engine)


def restore_rest(
    folder: Path,
    manifest: Manifest,
    context: MemoryContext,
    *,
    by: str,
    erasures: Sequence[ErasureLine] = (),
    progress: Callable[[int], None] = lambda _: None,
) -> Restored:
    """Build the index from the restored catalog, apply the erasures of a later backup again, and let what waited wait
    again. `progress` hears of the index.
    """
    if context.catalog.reindex_jobs.under_way():
        give_up(context)
    memories = 0
    # An index in the catalog's own database came with it.
    if context.index.count() == 0:
        memories = reindex(context, progress)
        finish(context)
    regraph(context)
    since = [line for line in erasures if line.at >= manifest.began_at - _CLOCKS_DIFFER]
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
    turn = _turn_of(waiting)
    if turn is None:
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


def _turn_of(waiting: WaitingTurn) -> Turn | None:
    """Return the turn that waits; None where this version cannot read it."""
    try:
        return Turn.model_validate_json(waiting.body)
    except ValidationError:
        return None


def _stones(subject: Subject, context: MemoryContext) -> list[Tombstone]:
    return context.catalog.tombstones.of(subject)


def _is_readable(message: WaitingMessage) -> bool:
    try:
        turn_in(message)
    except (ValueError, TypeError):
        return False
    return True


def _is_as_written(path: Path, written: BackupFile) -> bool:
    try:
        return described(path) == written
    except OSError:
        return False


def _lines(path: Path, line: type[Line]) -> Iterator[Line]:
    with path.open("rb") as lines:
        for number, text in enumerate(lines, start=1):
            try:
                yield line.model_validate_json(text)
            except ValidationError as error:
                raise BackupRefused(f"{path}, line {number}: {wrong_fields(error)}") from error
