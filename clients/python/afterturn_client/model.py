"""Answers of the service, as values. A field that a newer service adds is left out, not an error."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any


@dataclass(frozen=True)
class Attachment:
    """Where something lies that came with a turn."""

    uri: str
    media_type: str
    title: str | None


@dataclass(frozen=True, kw_only=True)
class Memory:
    """One thing that is kept: a sentence or two with its metadata. `version` is what an edit is to name."""

    memory_id: str
    content: str
    memory_type: str
    type: str
    category: str
    scope: str
    visibility: str
    source: str
    tags: tuple[str, ...]
    attachments: tuple[Attachment, ...]
    status: str
    importance: float
    confidence: float
    pinned: bool
    suppressed: bool
    occurred_at: datetime
    created_at: datetime
    updated_at: datetime
    last_accessed: datetime
    access_count: int
    agent_id: str | None
    supersedes: tuple[str, ...]
    superseded_by: str | None
    version: int


@dataclass(frozen=True, kw_only=True)
class Hit(Memory):
    """A memory that answers a search: `similarity` is a cosine, `score` what it is ranked by, `why` the explanation."""

    similarity: float
    score: float
    why: Mapping[str, Any] | None = field(default=None, compare=False)


@dataclass(frozen=True)
class Page:
    """Some memories, latest created first, and what asks for the next ones; None on the last page."""

    items: tuple[Memory, ...]
    cursor: str | None


@dataclass(frozen=True)
class Remembered:
    """Outcome of a statement: `outcome` is created, or says how it fell together with what was known.

    `memory` is None where nothing is kept of it.
    """

    outcome: str
    memory: Memory | None


@dataclass(frozen=True)
class Context:
    """Text for a prompt, the ids of the memories that stand in it, and those of the documents of which excerpts do;
    `text` is empty where nothing is known."""

    text: str
    used: tuple[str, ...]
    etag: str
    tokens: int
    documents: tuple[str, ...] = ()


@dataclass(frozen=True)
class Preferences:
    """A user's preferences of their memory; None where they never said. `etag` names all of it for `want`."""

    blocked_topics: tuple[str, ...] = ()
    unmentioned_topics: tuple[str, ...] = ()
    consent: str | None = None
    time_zone: str | None = None
    etag: str = ""


@dataclass(frozen=True)
class Checked:
    """Verdict on whether something may be said to a user, and on which topics that they want left alone it is."""

    may_be_said: bool
    topics: tuple[str, ...]


@dataclass(frozen=True)
class Proof:
    """Proof of what was removed of a user and what is left, by place; `clean` says that nothing is, and
    that it is shown of every place: `notes` say otherwise of which it is not."""

    removed: Mapping[str, Any]
    left: Mapping[str, Any]
    notes: tuple[str, ...]
    clean: bool


@dataclass(frozen=True)
class Event:
    """Something that happened to a memory. `id` is where to go on from; a `gap` says that events before it are gone.
    The data of others have `event_id`, a number that stays theirs when they are told again, and `at`, its time."""

    id: str
    name: str
    data: Mapping[str, Any]


def memory_of(body: Mapping[str, Any]) -> Memory:
    """Return the memory that a JSON object is."""
    return Memory(**_fields(body))


def hit_of(body: Mapping[str, Any]) -> Hit:
    """Return the hit that a JSON object is."""
    return Hit(**_fields(body), similarity=body["similarity"], score=body["score"], why=body.get("why"))


def page_of(body: Mapping[str, Any]) -> Page:
    """Return the page that a JSON object is."""
    return Page(tuple(memory_of(item) for item in body["items"]), body["cursor"])


def remembered_of(body: Mapping[str, Any]) -> Remembered:
    """Return what a JSON object says of a statement."""
    return Remembered(body["outcome"], memory_of(body["memory"]) if body["memory"] else None)


def context_of(body: Mapping[str, Any]) -> Context:
    """Return the context block that a JSON object is."""
    # A service before documents says nothing of them.
    return Context(body["text"], tuple(body["used"]), body["etag"], body["tokens"], tuple(body.get("documents", ())))


def preferences_of(body: Mapping[str, Any]) -> Preferences:
    """Return the preferences that a JSON object is."""
    return Preferences(
        tuple(body.get("blocked_topics", ())),
        tuple(body.get("unmentioned_topics", ())),
        body.get("consent"),
        body.get("time_zone"),
        body.get("etag", ""),
    )


def checked_of(body: Mapping[str, Any]) -> Checked:
    """Return what a JSON object says of a text."""
    return Checked(body["may_be_said"], tuple(body["topics"]))


def proof_of(body: Mapping[str, Any]) -> Proof:
    """Return the proof that a JSON object is."""
    return Proof(body["removed"], body["left"], tuple(body["notes"]), body["clean"])


_MOMENTS = ("occurred_at", "created_at", "updated_at", "last_accessed")
_LISTS = ("tags", "supersedes")


def _fields(body: Mapping[str, Any]) -> dict[str, Any]:
    known = {name: body[name] for name in Memory.__dataclass_fields__ if name != "attachments"}
    known |= {name: datetime.fromisoformat(body[name]) for name in _MOMENTS}
    known["attachments"] = tuple(Attachment(**pointer) for pointer in body.get("attachments", ()))
    return known | {name: tuple(body[name]) for name in _LISTS}
