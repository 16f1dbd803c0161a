"""Records of processed turns: the ledger's line, the audit's, and the words that were kept."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Row, select

import stores.catalog.tables as tables
from schema import AuditEntry, Subject, Turn
from stores.catalog.changes import LedgerEntry, Outcome
from stores.catalog.rows import from_row, subject_of
from stores.catalog.statements import of_subject
from stores.catalog.store import Reader


@dataclass(frozen=True)
class TurnRecord:
    """A turn that was processed. `audit` are the lines that name it, oldest first; `source` are its words, as they were
    kept, None where nothing that is known came of it."""

    entry: LedgerEntry
    audit: tuple[AuditEntry, ...]
    source: Turn | None


class TurnRecords(Reader):
    """Reads what became of turns, over one database."""

    def subjects_with(self, turn_id: str, *, limit: int = 10) -> list[Subject]:
        """Return whose turns of an id were processed: it is unique within a subject. Slow, for people."""
        table = tables.ledger
        query = (
            select(table.c.tenant_id, table.c.subject_id)
            .where(table.c.turn_id == turn_id)
            .order_by(table.c.tenant_id, table.c.subject_id)
            .limit(limit)
        )
        return [subject_of(row) for row in self._rows(query)]

    def read(self, subject: Subject, turn_ids: Sequence[str]) -> dict[str, TurnRecord]:
        """Return what is known of those of a subject's turns that were processed, by turn_id."""
        ledger, audit, sources = tables.ledger, tables.audit, tables.sources
        with self._engine.connect() as connection:
            rows = connection.execute(
                select(ledger).where(of_subject(ledger, subject), ledger.c.turn_id.in_(turn_ids))
            ).all()
            named = of_subject(audit, subject), audit.c.turn_id.in_(turn_ids)
            lines: dict[str, list[AuditEntry]] = defaultdict(list)
            for line in connection.execute(select(audit).where(*named).order_by(audit.c.id)):
                lines[line.turn_id].append(AuditEntry.model_validate(dict(line._mapping)))
            kept = select(sources.c.turn).where(of_subject(sources, subject), sources.c.turn_id.in_(turn_ids))
            words = {turn.turn_id: turn for turn in map(Turn.model_validate, connection.execute(kept).scalars())}
        return {row.turn_id: TurnRecord(_entry(row), tuple(lines[row.turn_id]), words.get(row.turn_id)) for row in rows}


def _entry(row: Row[Any]) -> LedgerEntry:
    return from_row(LedgerEntry, row, outcome=Outcome(row.outcome), reasons=tuple(row.reasons))
