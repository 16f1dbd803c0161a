"""Memories page by page: lists that are complete while others write, and what stands in every prompt."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from functools import cache
from typing import Any

from sqlalchemy import Select, and_, bindparam, func, select

import stores.catalog.tables as tables
from schema import Kind, Labels, Memory, MemoryType, Status, Subject, Visibility
from schema.memory import effective_labels
from stores.catalog.columns import STANDING
from stores.catalog.statements import any_of, of_bound_subject, of_subject, subject_parameters
from stores.catalog.store import Reader

_table = tables.memories


@dataclass(frozen=True)
class Count:
    """How many memories are seen by the same people: of this visibility as stated, this author and this agent."""

    visibility: Visibility
    author_id: str
    agent_id: str | None
    is_private: bool
    number: int

    @property
    def labels(self) -> Labels:
        """Return what decides who may see them."""
        return effective_labels(self.visibility, self.author_id, self.agent_id, is_private=self.is_private)


class MemoryPages(Reader):
    """The memories of subjects, latest created first. When a memory was created and its id never change, so pages that
    go on behind them miss none that is there all the time, and repeat none."""

    def of(
        self,
        subject: Subject,
        *,
        statuses: Sequence[Status],
        types: Sequence[MemoryType] = (),
        words: Sequence[str] = (),
        since: datetime | None = None,
        until: datetime | None = None,
        before: tuple[datetime, uuid.UUID] | None = None,
        limit: int = 100,
    ) -> list[Memory]:
        """Return memories of these statuses and types (of all types where none is named) that were created before a
        moment, those of the same moment by their ids.

        `words`, in lower case, and `since` and `until`, of when it was said, leave out what cannot be meant, so that
        little is read whole; whoever asks judges what is left, for it may be more than is meant.
        """
        query = select(_table.c.document).where(of_subject(_table, subject), _table.c.status.in_(statuses))
        if types:
            query = query.where(_table.c.type.in_(types))
        summary = _table.c.document["summary"].as_string()
        if ascii_words := [*filter(str.isascii, words)]:
            # Case is the database's affair in ASCII alone: "straße" has the word "strasse".
            has_all = and_(*(func.lower(summary).contains(word, autoescape=True) for word in ascii_words))
            query = query.where(has_all | self._has_other_letters(summary))
        # As text, with the zone that it was said in: no zone is farther than a day from UTC.
        said_at = _table.c.document["said_at"].as_string()
        if since is not None:
            query = query.where(said_at >= _day(since, -1))
        if until is not None:
            query = query.where(said_at < _day(until, 2))
        if before is not None:
            created_at, id_ = before
            same_moment = (_table.c.created_at == created_at) & (_table.c.id < id_)
            query = query.where((_table.c.created_at < created_at) | same_moment)
        ordered = query.order_by(_table.c.created_at.desc(), _table.c.id.desc()).limit(limit)
        return self._memories(ordered)

    def counts(
        self,
        subject: Subject,
        *,
        statuses: Sequence[Status],
        types: Sequence[MemoryType] = (),
        kinds: Sequence[Kind] = (),
        categories: Sequence[str] = (),
        min_importance: float = 0.0,
    ) -> list[Count]:
        """Return how many memories of these statuses, types, kinds and categories there are (any, where none is named),
        by what decides who may see them; none is read whole."""
        document = _table.c.document
        labels = [document[name].as_string() for name in ("visibility", "author_id", "agent_id")]
        labels.append(document["private"].as_boolean())
        query = (
            select(*labels, func.count())
            .where(of_subject(_table, subject), _table.c.status.in_(statuses), _table.c.importance >= min_importance)
            .group_by(*labels)
        )
        for column, wanted in ((_table.c.type, types), (_table.c.kind, kinds), (_table.c.category, categories)):
            if wanted:
                query = query.where(column.in_(wanted))
        # What a document leaves out is as a memory has it that says nothing of it.
        return [
            Count(
                Visibility(visibility or Memory.model_fields["visibility"].default),
                author_id or subject.subject_id,
                agent_id,
                bool(private),
                number,
            )
            for visibility, author_id, agent_id, private, number in self._rows(query)
        ]

    def standing(self, subject: Subject, types: Sequence[MemoryType], *, limit: int, offset: int = 0) -> list[Memory]:
        """Return active memories of these types that stand in every context block (`STANDING`): pinned ones first, then
        the most important, then the oldest."""
        asked = {"types": types, "limit": limit, "offset": offset}
        return self._memories(_standing(self._engine.dialect.name), subject_parameters(subject) | asked)

    def _has_other_letters(self, text: Any) -> Any:
        """Return that a text has letters beside those of ASCII. SQLite's own GLOB: a regular expression is a call of
        Python for every row there (measured: 10,000 rows took 60 ms of CPU, and with GLOB 12)."""
        if self._engine.dialect.name == "sqlite":
            return text.op("GLOB")("*[^ -~]*")
        return text.regexp_match("[^ -~]")


@cache  # To build a statement costs more than to run it.
def _standing(dialect: str) -> Select[Any]:
    return (
        select(_table.c.document)
        .where(of_bound_subject(_table), _table.c.status == Status.ACTIVE, _table.c.type.in_(any_of("types")))
        .where(STANDING[dialect])
        .order_by(_table.c.pinned.desc(), _table.c.importance.desc(), _table.c.created_at, _table.c.id)
        .limit(bindparam("limit"))
        .offset(bindparam("offset"))
    )


def _day(moment: datetime, days: int) -> str:
    """Return the day, in UTC, some days after a moment's as ISO 8601 text; the first or last there is where that is
    none."""
    day = moment.astimezone(UTC).date()
    farthest = (date.max - day).days if days > 0 else (date.min - day).days
    return (day + timedelta(days=min(days, farthest) if days > 0 else max(days, farthest))).isoformat()
