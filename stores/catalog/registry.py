"""Lists for staff of one tenant: subjects, audit, reviews, holds, erasures and members, page by page.

Every query names the tenant. Pages go on behind what never changes of the last row, so they miss nothing that is there
all the time while others write.
"""

from __future__ import annotations

import uuid
from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Column, ColumnElement, Select, and_, func, insert, or_, select, tuple_

import stores.catalog.document_tables as document_tables
import stores.catalog.tables as tables
from schema import AuditAction, AuditEntry, Membership, Memory, Review, ReviewStatus, Scope, Status, Subject
from stores.catalog.reviews import review_of
from stores.catalog.rows import subject_of
from stores.catalog.statements import of_subject
from stores.catalog.store import Store


@dataclass(frozen=True)
class SubjectRow:
    """A subject with how many memories of each status there are, and when one was changed last."""

    subject: Subject
    counts: Mapping[Status, int]
    changed_at: datetime | None


@dataclass(frozen=True)
class AuditRow:
    """A line of the audit, and its number."""

    id: int
    entry: AuditEntry


@dataclass(frozen=True)
class ErasureRow:
    """An erasure: of a whole subject, or of a conversation or turn by its id; `ended_at` is when a second look found
    nothing any more."""

    subject: Subject
    scope: Scope
    key: str
    at: datetime
    ended_at: datetime | None

    @property
    def position(self) -> tuple[datetime, str, str, str]:
        """Return where the next page goes on."""
        return self.at, self.subject.subject_id, self.scope.value, self.key


class Registry(Store):
    """Subjects and keys of one tenant. Safe to call from many threads and processes."""

    def knows(self, subject: Subject) -> bool:
        """Return whether a worker ever wrote for a subject, or it has members."""
        return any(
            self._values(select(table.c.subject_id).where(of_subject(table, subject)).limit(1))
            for table in (tables.subjects, tables.memories, tables.memberships)
        )

    def subjects(self, tenant_id: str, *, begins: str = "", after: str = "", limit: int = 50) -> list[SubjectRow]:
        """Return subjects whose ids begin with something, in the order of their ids, from behind `after` on."""
        table = tables.subjects
        query = select(table.c.subject_id).where(table.c.tenant_id == tenant_id, table.c.subject_id > after)
        if begins:
            query = query.where(_begins(table.c.subject_id, begins))
            if self._engine.dialect.name == "sqlite":
                # SQLite compares bytes, and would look at all that comes before.
                query = query.where(table.c.subject_id >= begins)
        with self._engine.connect() as connection:
            ids = list(connection.execute(query.order_by(table.c.subject_id).limit(limit)).scalars())
            counts: dict[str, dict[Status, int]] = defaultdict(dict)
            changed: dict[str, datetime] = {}
            for row in connection.execute(_counts(tenant_id, ids)) if ids else ():
                counts[row.subject_id][Status(row.status)] = row.memories
                changed[row.subject_id] = max(row.changed_at, changed.get(row.subject_id, row.changed_at))
        return [SubjectRow(Subject(tenant_id=tenant_id, subject_id=id_), counts[id_], changed.get(id_)) for id_ in ids]

    def audit(
        self,
        tenant_id: str,
        *,
        subject_id: str = "",
        by: str = "",
        action: AuditAction | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        before: int | None = None,
        limit: int = 50,
    ) -> list[AuditRow]:
        """Return lines of the audit, latest first, from behind `before` on; `by` is how the name of who did it
        begins."""
        table = tables.audit
        query = select(table).where(table.c.tenant_id == tenant_id)
        if subject_id:
            query = query.where(table.c.subject_id == subject_id)
        if by:
            query = query.where(_begins(table.c.by, by))
        if action is not None:
            query = query.where(table.c.action == action)
        if since is not None:
            query = query.where(table.c.at >= since)
        if until is not None:
            query = query.where(table.c.at < until)
        if before is not None:
            query = query.where(table.c.id < before)
        rows = self._rows(query.order_by(table.c.id.desc()).limit(limit))
        return [AuditRow(row.id, AuditEntry.model_validate(dict(row._mapping))) for row in rows]

    def reviews(
        self, tenant_id: str, *, after: tuple[datetime, uuid.UUID] | None = None, limit: int = 50
    ) -> list[Review]:
        """Return what waits for a person, longest first, from behind `after` on."""
        table = tables.reviews
        query = select(table).where(table.c.tenant_id == tenant_id, table.c.status == ReviewStatus.OPEN)
        if after is not None:
            query = query.where(tuple_(table.c.opened_at, table.c.id) > after)
        rows = self._rows(query.order_by(table.c.opened_at, table.c.id).limit(limit))
        return [review_of(row) for row in rows]

    def holds(
        self,
        tenant_id: str,
        *,
        subject_id: str = "",
        after: tuple[str, uuid.UUID] | None = None,
        limit: int = 50,
    ) -> list[Memory]:
        """Return the memories under legal hold, by whose they are, from behind `after` on; of one subject if it is
        named."""
        table = tables.memories
        query = _held(select(table.c.document), (table.c.subject_id, table.c.id), tenant_id, subject_id, after)
        return self._memories(query.limit(limit))

    def held_documents(
        self, tenant_id: str, *, subject_id: str = "", after: tuple[str, str] | None = None, limit: int = 50
    ) -> list[tuple[Subject, str]]:
        """Return whose documents are under legal hold, and their ids, in the order of these, from behind `after` on; of
        one subject if it is named."""
        table = document_tables.documents
        order = (table.c.subject_id, table.c.document_id)
        query = _held(select(table.c.tenant_id, *order), order, tenant_id, subject_id, after)
        return [(subject_of(row), row.document_id) for row in self._rows(query.limit(limit))]

    def held_lines(
        self, tenant_id: str, subject_ids: Collection[str], memories: Collection[uuid.UUID], documents: Collection[str]
    ) -> list[AuditEntry]:
        """Return the lines of the audit that say that one of these was put under legal hold, oldest first."""
        table = tables.audit
        query = select(table).where(
            table.c.tenant_id == tenant_id,
            table.c.subject_id.in_(subject_ids),
            table.c.action == AuditAction.HELD,
            or_(table.c.memory_id.in_(memories), and_(table.c.memory_id.is_(None), table.c.document_id.in_(documents))),
        )
        return [AuditEntry.model_validate(dict(row._mapping)) for row in self._rows(query.order_by(table.c.id))]

    def erasures(
        self,
        tenant_id: str,
        *,
        subject_id: str = "",
        before: tuple[datetime, str, str, str] | None = None,
        limit: int = 50,
    ) -> list[ErasureRow]:
        """Return erasures, latest first, from behind `before` on; of one subject if it is named."""
        table = tables.tombstones
        order = (table.c.at, table.c.subject_id, table.c.scope, table.c.key)
        query = select(table).where(table.c.tenant_id == tenant_id)
        if subject_id:
            query = query.where(table.c.subject_id == subject_id)
        if before is not None:
            query = query.where(tuple_(*order) < before)
        rows = self._rows(query.order_by(*(column.desc() for column in order)).limit(limit))
        return [ErasureRow(subject_of(row), Scope(row.scope), row.key, row.at, row.ended_at) for row in rows]

    def members(self, tenant_id: str, *, after: tuple[str, str] | None = None, limit: int = 50) -> list[Membership]:
        """Return who is a member of what, by subjects and users, from behind `after` on."""
        table = tables.memberships
        query = select(table).where(table.c.tenant_id == tenant_id)
        if after is not None:
            query = query.where(tuple_(table.c.subject_id, table.c.user_id) > after)
        rows = self._rows(query.order_by(table.c.subject_id, table.c.user_id).limit(limit))
        return [Membership.model_validate({**row._mapping, "subject": subject_of(row)}) for row in rows]

    def note(self, line: AuditEntry) -> None:
        """Write a line in the audit that goes with no change."""
        self._run(insert(tables.audit), [line.model_dump()])


def _held(
    query: Select[Any], order: tuple[Column[Any], ...], tenant_id: str, subject_id: str, after: tuple[Any, ...] | None
) -> Select[Any]:
    """Return the part of a query that asks for what is under legal hold, from behind a place on."""
    table = order[0].table
    query = query.where(table.c.legal_hold, table.c.tenant_id == tenant_id)
    if subject_id:
        query = query.where(table.c.subject_id == subject_id)
    if after is not None:
        query = query.where(tuple_(*order) > after)
    return query.order_by(*order)


def _begins(column: ColumnElement[str], text: str) -> ColumnElement[bool]:
    """Return whether a text begins with another, letter case and all: LIKE knows no case in SQLite, and does in
    Postgres."""
    return func.substr(column, 1, len(text)) == text


def _counts(tenant_id: str, subject_ids: list[str]) -> Select[Any]:
    table = tables.memories
    return (
        select(
            table.c.subject_id,
            table.c.status,
            func.count().label("memories"),
            func.max(table.c.updated_at).label("changed_at"),
        )
        .where(table.c.tenant_id == tenant_id, table.c.subject_id.in_(subject_ids))
        .group_by(table.c.subject_id, table.c.status)
    )
