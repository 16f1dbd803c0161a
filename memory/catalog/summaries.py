"""What the lexicon reads: the summaries of a subject, all of them or what was written since a revision."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, select

import memory.catalog.tables as tables
from memory.catalog.writing import of_subject
from memory.schema import Status, Subject


@dataclass(frozen=True, slots=True)
class Summary:
    """What a memory says, where it was said, and whether it is active."""

    memory_id: uuid.UUID
    text: str
    conversation_id: str | None
    said_at: datetime
    live: bool


@dataclass(frozen=True, slots=True)
class Summaries:
    """A subject's revision, and what was written since the one that was known; `whole` says that it is everything
    there is, and what was known before is void."""

    revision: int
    summaries: tuple[Summary, ...]
    whole: bool


def read_summaries(connection: Connection, subject: Subject, since: int | None) -> Summaries:
    """The active summaries of a subject, or what changed since a revision.

    A deletion leaves no row to tell of it, so everything is read again after one.
    """
    row = connection.execute(
        select(tables.subjects.c.revision, tables.subjects.c.removed).where(of_subject(tables.subjects, subject))
    ).one_or_none()
    if row is None:
        return Summaries(0, (), whole=True)
    if row.revision == since:
        return Summaries(row.revision, (), whole=False)
    whole = since is None or not row.removed <= since < row.revision
    table = tables.memories
    query = select(
        table.c.id,
        table.c.status,
        table.c.document["summary"].as_string().label("summary"),
        table.c.document["conversation_id"].as_string().label("conversation_id"),
        table.c.document["said_at"].as_string().label("said_at"),
    ).where(of_subject(table, subject))
    query = query.where(table.c.status == Status.ACTIVE) if whole else query.where(table.c.revision > since)
    return Summaries(
        row.revision,
        tuple(
            Summary(
                one.id,
                one.summary,
                one.conversation_id,
                datetime.fromisoformat(one.said_at),
                one.status == Status.ACTIVE,
            )
            for one in connection.execute(query)
        ),
        whole=whole,
    )
