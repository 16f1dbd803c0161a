"""Summaries for the lexicon: all of a subject's, or those written since a revision."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, bindparam, select

import stores.catalog.tables as tables
from schema import Labels, Status, Subject, Visibility, effective_labels
from stores.catalog.statements import of_bound_subject, subject_parameters

_memories, _subjects = tables.memories, tables.subjects
_REVISION = select(_subjects.c.revision, _subjects.c.removed).where(of_bound_subject(_subjects))
_LABELS = (
    _memories.c.document["visibility"].as_string().label("visibility"),
    _memories.c.document["private"].as_boolean().label("private"),
    _memories.c.document["author_id"].as_string().label("author_id"),
    _memories.c.document["agent_id"].as_string().label("agent_id"),
)
_SAID = select(
    _memories.c.id,
    _memories.c.status,
    _memories.c.document["summary"].as_string().label("summary"),
    _memories.c.document["conversation_id"].as_string().label("conversation_id"),
    _memories.c.document["said_at"].as_string().label("said_at"),
    _memories.c.importance,
    _memories.c.document["trust_score"].as_float().label("trust"),
    _memories.c.last_accessed,
    _memories.c.pinned,
    *_LABELS,
).where(of_bound_subject(_memories))
_ALL_SAID = _SAID.where(_memories.c.status == Status.ACTIVE)
_SAID_SINCE = _SAID.where(_memories.c.revision > bindparam("since"))


@dataclass(frozen=True, slots=True)
class Weight:
    """Values a memory is ranked by beside what was asked: how important it is and how far it is trusted, 0 to 1, when
    it was used last, and whether it is pinned."""

    importance: float
    trust: float
    last_accessed: datetime
    pinned: bool


@dataclass(frozen=True, slots=True)
class Summary:
    """Text of a memory or a chunk, where it was said, and whether it is active."""

    memory_id: uuid.UUID
    text: str
    conversation_id: str | None
    said_at: datetime
    live: bool
    group: Labels | str
    """The key to who may see it: a memory's labels, or of which document it is a chunk."""
    weight: Weight | None = None
    """None of a chunk: it has no importance and does not fade."""


@dataclass(frozen=True, slots=True)
class Summaries:
    """A subject's revision, and what was written since the one that was known; `whole` says that it is everything
    there is, and what was known before is void.

    `living` are the ids of all that there is, where something may have gone since; None where nothing has. `documents`
    says of the documents of chunks who may see them.
    """

    revision: int
    summaries: tuple[Summary, ...]
    whole: bool
    living: frozenset[uuid.UUID] | None = None
    documents: Mapping[str, Labels] = field(default_factory=dict)


def read_summaries(connection: Connection, subject: Subject, since: int | None) -> Summaries:
    """Return the active summaries of a subject, or what changed since a revision.

    A deletion leaves no row to tell of it, so everything is read again after one.
    """
    row = connection.execute(_REVISION, subject_parameters(subject)).one_or_none()
    if row is None:
        return Summaries(0, (), whole=True)
    if row.revision == since:
        return Summaries(row.revision, (), whole=False)
    whole = since is None or not row.removed <= since < row.revision
    rows = (
        connection.execute(_ALL_SAID, subject_parameters(subject))
        if whole
        else connection.execute(_SAID_SINCE, subject_parameters(subject) | {"since": since})
    )
    return Summaries(
        row.revision,
        tuple(
            Summary(
                memory.id,
                memory.summary,
                memory.conversation_id,
                datetime.fromisoformat(memory.said_at),
                memory.status == Status.ACTIVE,
                _labels(memory, subject),
                Weight(memory.importance, memory.trust, memory.last_accessed, memory.pinned),
            )
            for memory in rows
        ),
        whole=whole,
    )


def _labels(row: Any, subject: Subject) -> Labels:
    # A document leaves out what is as it is by default.
    return effective_labels(
        Visibility(row.visibility or Visibility.PRIVATE),
        row.author_id or subject.subject_id,
        row.agent_id,
        is_private=bool(row.private),
    )
