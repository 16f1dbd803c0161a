"""The manifest of a backup, and the lines of its files."""

from __future__ import annotations

import uuid
from enum import StrEnum
from typing import Literal

from pydantic import AwareDatetime

from schema.base import Value
from schema.tombstone import Scope
from schema.turn import Identifier


class CatalogKind(StrEnum):
    """The database that the catalog lay in: a copy of one is restored to one of the same kind."""

    SQLITE = "sqlite"
    POSTGRES = "postgres"


class BackupFile(Value):
    """A file of a backup: its name, its size, and the SHA-256 of its content."""

    name: str
    bytes: int
    sha256: str


class Manifest(Value):
    """List of what a backup holds. It is written last: a folder without one is no whole backup.

    `format` is raised when an older version could no longer restore it. `began_at`
    and `ended_at` are by the clock of the machine that made it. What was accepted by the broker before
    `began_at` is in it, for good or as a turn that waits.
    """

    format: Literal[1] = 1
    afterturn: str
    began_at: AwareDatetime
    ended_at: AwareDatetime
    catalog: CatalogKind
    revision: str
    index: str
    """The kind and the name of the index. It is not in the backup: it is built anew from the catalog."""
    embedder: str
    turns: int
    messages: int
    erasures: int
    files: tuple[BackupFile, ...]


class WaitingTurn(Value):
    """A turn that waits in a mailbox or a spool, as the JSON that it was accepted as."""

    tenant_id: Identifier
    subject_id: Identifier
    turn_id: str
    body: str
    arrived_at: AwareDatetime | None = None
    """When it was enqueued, on the broker's clock; None for one of a spool."""


class WaitingMessage(Value):
    """A message of a queue that holds a turn, as it lies in the broker."""

    queue: str
    message: str


class ErasureLine(Value):
    """Record of an erasure, without a word of what was erased: of a tombstone, a single memory, a document, or an
    item of the store."""

    tenant_id: Identifier
    subject_id: Identifier
    scope: Scope | None = None
    key: str = ""
    memory_id: uuid.UUID | None = None
    document_id: str | None = None
    item_id: uuid.UUID | None = None
    at: AwareDatetime
