"""Changes of one transaction of the catalog."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Literal

from schema import (
    AuditEntry,
    Chunk,
    Event,
    KeptDocument,
    Memory,
    OpenTopic,
    Preference,
    Preferences,
    Question,
    RecentTurn,
    Review,
    Settlement,
    Subject,
    Tombstone,
    Turn,
)
from schema.selectors import Window
from stores.catalog.costs import Spent
from stores.catalog.indexed import family_of
from stores.index.base import Entry, Family, Indexed, Vector

_NAMED = 20


class Outcome(StrEnum):
    """Outcome of a turn."""

    KEPT = "kept"
    """A memory was created, updated or superseded by it."""
    SKIPPED = "skipped"
    """Nothing in it was worth a memory."""
    REFUSED = "refused"
    """Nothing of what there was may be kept."""
    FORGOTTEN = "forgotten"
    """It asked for something to be forgotten, and that is erased."""
    HIDDEN = "hidden"
    """It may have asked for something to be forgotten, which is hidden until a person decides."""
    DEAD = "dead"
    """It could not be processed and is a dead letter."""


@dataclass(frozen=True)
class LedgerEntry:
    """Record that a turn was processed, and with which outcome; `reasons` name rules, never content."""

    turn_id: str
    digest: str
    outcome: Outcome
    reasons: tuple[str, ...]
    arrived_at: datetime
    processed_at: datetime


@dataclass(frozen=True)
class IndexJob:
    """Change that an index must still be told of a memory, or of what else has a vector: its write number `version`, or
    that it is gone.

    `generation` is how often it was taken or written over since it was queued. None where another may be telling the
    index too, so that whoever has it may not end it.
    """

    memory_id: uuid.UUID
    subject: Subject
    index_key: uuid.UUID
    action: Literal["upsert", "delete"]
    version: int
    generation: int | None = 0
    family: Family = Family.MEMORIES


@dataclass(frozen=True, slots=True)
class Access:
    """Number of uses of a memory since the last night, and the last of them."""

    memory_id: uuid.UUID
    subject: Subject
    times: int
    last_at: datetime


@dataclass(frozen=True, slots=True)
class Undecided:
    """A turn of which something may be written only while it was neither processed nor erased; `tolerance` is by how
    much clocks may differ."""

    turn: Turn
    tolerance: timedelta


@dataclass(frozen=True)
class DocumentWrite:
    """A document as it is to be, or as it was `read` where it `is_deleted`; without a `read` it is a new one.

    `chunks` are put in the place of those before, of which `gone` are no more; None leaves them as they are.
    """

    document: KeptDocument
    read: KeptDocument | None
    chunks: tuple[Chunk, ...] | None = None
    gone: tuple[Chunk, ...] = ()
    is_deleted: bool = False

    @property
    def is_held(self) -> bool:
        """Return whether the document was under legal hold when it was read."""
        return self.read is not None and self.read.legal_hold


@dataclass(frozen=True)
class Changes:
    """All that some turns of a subject, or one act of a person, change: written in one transaction or not at all.

    `updated` memories carry the version that the write makes; the row must still have the one before. `fence` is the
    token of the mailbox lease under which the work was done, None for an act outside of it. `topics` are what is open
    with some agents and `questions` what was asked last in some conversations, None where nothing is: those of others
    stay; `recent` are the last turns of some conversations. A deletion, or a wish to forget, drops all of these.
    `reviews` are opened unless they are known, `settled` ones must be open, `withdrawn` ones go without a trace; so do
    those that were made of a deleted memory or its turns.
    `preferred` is what the subject wants of their memory from now on, `unpreferred` what they want no longer;
    a consent among them was given at `consent_given_at`, or where that is unset at `at`.
    `tombstones` say what is erased, until a second look ends the erasure; of `erased_turns` go the raw text, what waits
    for a person because of them, and all that is open or was asked.
    """

    subject: Subject
    at: datetime
    fence: int | None = None
    created: tuple[Memory, ...] = ()
    updated: tuple[Memory, ...] = ()
    deleted: tuple[Memory, ...] = ()
    sources: tuple[Turn, ...] = ()
    reduced: tuple[Turn, ...] = ()
    """Raw turns that stay with fewer words than they had."""
    audit: tuple[AuditEntry, ...] = ()
    ledger: tuple[LedgerEntry, ...] = ()
    events: tuple[Event, ...] = ()
    topics: Mapping[str | None, OpenTopic | None] = field(default_factory=dict)
    questions: Mapping[str, Question | None] = field(default_factory=dict)
    recent: Mapping[str, tuple[RecentTurn, ...]] = field(default_factory=dict)
    forgets: bool = False
    """True where the subject asked for something to be forgotten."""
    reviews: tuple[Review, ...] = ()
    settled: tuple[Settlement, ...] = ()
    withdrawn: tuple[uuid.UUID, ...] = ()
    folded: tuple[Access, ...] = ()
    """Accesses that the updated memories have in them now."""
    preferred: tuple[Preference, ...] = ()
    unpreferred: tuple[Preference, ...] = ()
    consent_given_at: datetime | None = None
    preferences_read: Preferences | None = None
    """The subject's preferences when that was decided; None where it does not matter."""
    tombstones: tuple[Tombstone, ...] = ()
    erased_turns: frozenset[str] = frozenset()
    documents: tuple[DocumentWrite, ...] = ()
    spent: tuple[Spent, ...] = ()
    """Calls of models by the work whose outcome this is."""
    undecided: Undecided | None = None
    windows: tuple[Window, ...] = ()
    """Parts of the sources by which memories are found, too."""
    fact_vectors: bool = False
    """True where each fact of what is created or updated has a vector of its own."""
    stated: tuple[Memory, ...] = ()
    """Memories as they are, whose facts get vectors of their own now."""

    @property
    def removes_something(self) -> bool:
        """Return whether words go that must not be left in the files of the database."""
        return bool(
            self.deleted
            or self.forgets
            or self.settled
            or self.withdrawn
            or self.unpreferred
            or self.tombstones
            or self.erased_turns
            or any(write.read for write in self.documents)
        )

    @property
    def chunks(self) -> tuple[Chunk, ...]:
        """Return the chunks that are written."""
        return tuple(chunk for write in self.documents for chunk in write.chunks or ())

    @property
    def indexed(self) -> tuple[Memory | Chunk, ...]:
        """Return what is written and has a vector."""
        return (*self.created, *self.updated, *self.chunks)

    @property
    def unindexed(self) -> tuple[Memory | Chunk, ...]:
        """Return what had a vector and is no more."""
        return (*self.deleted, *self.chunks_gone)

    @property
    def chunks_gone(self) -> tuple[Chunk, ...]:
        """Return the chunks that are no more."""
        return tuple(chunk for write in self.documents for chunk in write.gone)

    def versions(self) -> dict[uuid.UUID, int]:
        """Return the versions at which what is written then is, by memory or chunk."""
        return {item.id: item.version for item in self.indexed}

    def entries(self, family: Family, vectors: Mapping[uuid.UUID, Vector]) -> list[Entry]:
        """Return the entries of what is written and has a vector in `vectors`."""
        own = (item for item in self.indexed if family_of(item) is family)
        return [Entry.of(item, vectors[item.id]) for item in own if item.id in vectors]

    def keys_gone(self, family: Family) -> list[uuid.UUID]:
        """Return where in the index what goes lies."""
        return [item.index_key for item in self.unindexed if family_of(item) is family]

    def index_jobs(self) -> list[IndexJob]:
        """Return what the indexes must be told of these changes."""
        written = [index_job(item, "upsert", item.version) for item in self.indexed]
        return written + [deletion_of(item) for item in self.unindexed]


def deletion_of(item: Memory | Chunk) -> IndexJob:
    """Return what the index must be told of something that goes: one more write, so that ending the job of the write
    before it leaves it standing."""
    return index_job(item, "delete", item.version + 1)


def index_job(indexed: Indexed, action: Literal["upsert", "delete"], version: int) -> IndexJob:
    """Return what the index must be told of something at a version."""
    return IndexJob(indexed.id, indexed.subject, indexed.index_key, action, version, family=family_of(indexed))
