"""Feedback on answers: which memories helped. Safe to call from many threads and processes."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import JSON, Column, Connection, Float, Index, String, Table, delete, select

from schema import Subject
from stores.catalog.columns import UtcTime, metadata, subject_columns
from stores.catalog.rows import from_row
from stores.catalog.statements import insert_new, of_subject
from stores.catalog.store import Store

feedback = Table(
    "feedback",
    metadata,
    *subject_columns(primary_key=True),
    Column("request_id", String(200), primary_key=True),
    Column("useful", JSON, nullable=False),
    Column("score", Float),
    Column("by", String(200), nullable=False),
    Column("at", UtcTime, nullable=False),
    Index(None, "at"),
)


@dataclass(frozen=True)
class Feedback:
    """Feedback on one answer: the memories that helped, and how good it was, from 0 to 1 where that was said."""

    request_id: str
    useful: tuple[uuid.UUID, ...]
    score: float | None
    by: str
    at: datetime


class FeedbackStore(Store):
    """Feedback on answers about all subjects."""

    def note(self, subject: Subject, given: Feedback) -> bool:
        """Keep feedback on an answer, and answer whether it is the first on it: a later one changes nothing."""
        row = {**subject.model_dump(), **vars(given), "useful": [str(id_) for id_ in given.useful]}

        def work(connection: Connection) -> int:
            return connection.execute(insert_new(connection.dialect.name, feedback).values(row)).rowcount

        return self._writers.write(work) == 1

    def of(self, subject: Subject, *, limit: int = 100) -> Sequence[Feedback]:
        """Return the feedback on answers about a subject, latest first."""
        query = select(feedback).where(of_subject(feedback, subject)).order_by(feedback.c.at.desc()).limit(limit)
        return [from_row(Feedback, row, useful=tuple(map(uuid.UUID, row.useful))) for row in self._rows(query)]

    def drop_old(self, before: datetime) -> int:
        """Delete what was said before a moment, and answer how much it was."""
        return self._run(delete(feedback).where(feedback.c.at < before))
