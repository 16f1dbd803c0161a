"""Memories page by page, for lists that are complete while others write."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import Engine, select

import stores.catalog.tables as tables
from schema import Memory, MemoryType, Status, Subject
from stores.catalog.rows import memory_of
from stores.catalog.statements import of_subject

_table = tables.memories


class MemoryPages:
    """The memories of subjects, latest created first. When a memory was created and its id never change, so pages that
    go on behind them miss none that is there all the time, and repeat none."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def of(
        self,
        subject: Subject,
        *,
        statuses: Sequence[Status],
        types: Sequence[MemoryType] = (),
        before: tuple[datetime, uuid.UUID] | None = None,
        limit: int = 100,
    ) -> list[Memory]:
        """Return memories of these statuses and types (of all types where none is named) that were created before a
        moment, those of the same moment by their ids."""
        query = select(_table.c.document).where(of_subject(_table, subject), _table.c.status.in_(statuses))
        if types:
            query = query.where(_table.c.type.in_(types))
        if before is not None:
            created_at, id_ = before
            same_moment = (_table.c.created_at == created_at) & (_table.c.id < id_)
            query = query.where((_table.c.created_at < created_at) | same_moment)
        ordered = query.order_by(_table.c.created_at.desc(), _table.c.id.desc()).limit(limit)
        with self._engine.connect() as connection:
            return [memory_of(document) for document in connection.execute(ordered).scalars()]
