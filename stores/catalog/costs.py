"""Costs of language models, call by call, as the audit tells it: each of its lines names the tokens of the
one call of its batch. A call of which nothing was kept, changed or refused left no line, and is not in it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby

from sqlalchemy import select

import stores.catalog.tables as tables
from stores.catalog.store import Reader


@dataclass(frozen=True)
class CountedCall:
    """One call: for whom, when, its tokens, and how many turns of each conversation it is known to be about. A turn
    whose raw text is not kept any more is of the conversation None."""

    subject_id: str
    at: datetime
    prompt_tokens: int
    completion_tokens: int
    turns: dict[str | None, int]


class Costs(Reader):
    """Reads what was asked for from one database."""

    def calls(self, tenant_id: str, since: datetime, subject_id: str | None = None) -> Iterator[CountedCall]:
        """Yield the calls for a tenant, or for one user of it, from a moment on; those of a user in order of time."""
        audit, sources = tables.audit, tables.sources
        prompt, completion = (audit.c.details[f"batch_{name}_tokens"].as_integer() for name in ("prompt", "completion"))
        is_its_turn = (
            (sources.c.tenant_id == audit.c.tenant_id)
            & (sources.c.subject_id == audit.c.subject_id)
            & (sources.c.turn_id == audit.c.turn_id)
        )
        query = (
            select(
                audit.c.subject_id,
                audit.c.at,
                prompt.label("prompt"),
                completion.label("completion"),
                audit.c.turn_id,
                sources.c.turn["conversation_id"].as_string().label("conversation"),
            )
            .select_from(audit.outerjoin(sources, is_its_turn))
            .where(audit.c.tenant_id == tenant_id, audit.c.at >= since, prompt.is_not(None))
            .order_by(audit.c.subject_id, audit.c.at, prompt, completion)
        )
        if subject_id is not None:
            query = query.where(audit.c.subject_id == subject_id)
        with self._engine.connect() as connection:
            rows = connection.execute(query)
            for call, lines in groupby(rows, key=lambda row: (row[0], row[1], row[2], row[3])):
                conversations = {line.turn_id: line.conversation for line in lines}
                subject, at, prompt_tokens, completion_tokens = call
                turns = dict(Counter(conversations.values()))
                yield CountedCall(subject, at, int(prompt_tokens), int(completion_tokens or 0), turns)
