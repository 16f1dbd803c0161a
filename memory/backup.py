"""Makes a backup of what a fleet knows while it works: first the broker, then the catalog.

In this order nothing that the broker accepted before falls between the two: what left a mailbox before that was read is
in the catalog, and what is in both takes effect once (docs/decisions/0023-a-backup-copies-the-broker-first.md).
"""

from __future__ import annotations

import hashlib
import os
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import IO

from pydantic import BaseModel
from redis import Redis
from sqlalchemy import Engine

from schema.backup import BackupFile, Manifest, WaitingMessage, WaitingTurn
from schema.errors import BackupRefused
from schema.settings import Settings
from stores.broker_backup import read_waiting
from stores.catalog.copies import copy_catalog, erasures_in, kind_of
from stores.catalog.revisions import revision
from stores.mailbox import Mailbox

MANIFEST, TURNS, MESSAGES, ERASURES = "manifest.json", "turns.jsonl", "messages.jsonl", "erasures.jsonl"
_BLOCK = 1024 * 1024


def make_backup(
    folder: Path,
    *,
    settings: Settings,
    engine: Engine,
    redis: Redis,
    mailbox: Mailbox,
    embedder: str,
    spooled: Iterable[WaitingTurn] = (),
) -> Manifest:
    """Write a backup into a folder that is made, or empty, and return what it says of itself. The fleet may work on.

    `spooled` are turns of spools: they are read before the broker is, into which they are on their way.

    Raises:
        BackupRefused: something lies in the folder, a Postgres cannot be copied, or the disk takes no more.
        BrokerFailed: the broker cannot be read; what was written so far has no manifest.
    """
    began_at = datetime.now(UTC)
    _make(folder)
    with _explained(folder):
        waiting = 0
        messages = 0
        later = list(spooled)
        with _private(folder / TURNS) as turns, _private(folder / MESSAGES) as letters:
            for item in read_waiting(redis, mailbox):
                if isinstance(item, WaitingMessage):
                    messages += _write(letters, item)
                else:
                    waiting += _write(turns, item)
            # Behind the others of their subject.
            waiting += sum(_write(turns, turn) for turn in later)
        catalog = copy_catalog(engine, folder)
        with _private(folder / ERASURES) as lines:
            erasures = sum(_write(lines, line) for line in erasures_in(engine))
        manifest = Manifest(
            afterturn=version("afterturn"),
            began_at=began_at,
            ended_at=datetime.now(UTC),
            catalog=kind_of(engine),
            revision=revision(engine) or "",
            index=f"{settings.index}:{settings.index_name}",
            embedder=embedder,
            turns=waiting,
            messages=messages,
            erasures=erasures,
            files=tuple(described(folder / name) for name in (catalog.name, TURNS, MESSAGES, ERASURES)),
        )
        with _private(folder / MANIFEST) as written:
            written.write(manifest.model_dump_json(indent=2) + "\n")
        _sync(folder)
        return manifest


def described(path: Path) -> BackupFile:
    """Return a file's name, size and SHA-256."""
    digest = hashlib.sha256()
    with path.open("rb") as content:
        while block := content.read(_BLOCK):
            digest.update(block)
    return BackupFile(name=path.name, bytes=path.stat().st_size, sha256=digest.hexdigest())


def _make(folder: Path) -> None:
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if any(folder.iterdir()):
            raise BackupRefused(f"{folder} is not empty: name a folder of its own for each backup")
    except OSError as error:
        raise BackupRefused(f"cannot write a backup to {folder}: {error.strerror}") from error


@contextmanager
def _explained(folder: Path) -> Iterator[None]:
    try:
        yield
    except (OSError, sqlite3.Error) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else error
        raise BackupRefused(
            f"the backup in {folder} could not be finished: {reason}. It is none without its {MANIFEST}: delete the "
            "folder, which holds some of what people said, and begin anew when that is mended"
        ) from error


def _private(path: Path) -> IO[str]:
    """Open a new file that only this account reads: what people said goes into it."""
    return os.fdopen(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "w", encoding="utf-8")


def _write(file: IO[str], value: BaseModel) -> int:
    file.write(value.model_dump_json(exclude_none=True) + "\n")
    return 1


def _sync(folder: Path) -> None:
    """Have the disk keep what was written: whoever is told that a backup is made may lose the original."""
    for path in (*folder.iterdir(), folder):
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
