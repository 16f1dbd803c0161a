"""Calls of models and their tokens, added up by subject, conversation, day and purpose: counts and ids, and no word."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, date, datetime
from enum import StrEnum
from functools import cache
from typing import Any, Final

from sqlalchemy import Column, Connection, Float, Index, String, Table, delete, func, select, tuple_

from schema import Subject, Tombstone
from schema.settings import Settings
from schema.tombstone import Scope
from stores.catalog.columns import identifier, metadata, subject_columns
from stores.catalog.statements import of_subject, upsert
from stores.catalog.store import Store
from stores.catalog.tables import subjects, tombstones

COUNTS: Final = (
    "llm_calls",
    "prompt_tokens",
    "completion_tokens",
    "embedding_calls",
    "embedding_texts",
    "embedding_tokens",
)
costs = Table(
    "costs",
    metadata,
    *subject_columns(primary_key=True),
    # Empty where it was for no conversation: a part of a primary key cannot be null.
    identifier("conversation_id", primary_key=True),
    Column("day", String(10), primary_key=True),
    Column("purpose", String(20), primary_key=True),
    # A call about several conversations is a part of a call of each.
    *(Column(name, Float, nullable=False) for name in COUNTS),
    Index(None, "tenant_id", "day"),
)


@dataclass(frozen=True, slots=True)
class Spent:
    """Calls of models for a subject: of one conversation, or of none where it is empty."""

    conversation_id: str
    purpose: str
    llm_calls: float
    prompt_tokens: float
    completion_tokens: float
    embedding_calls: float
    embedding_texts: float
    embedding_tokens: float

    def part(self, share: float) -> Spent:
        """Return a share of it."""
        return Spent(self.conversation_id, self.purpose, *(getattr(self, name) * share for name in COUNTS))


class By(StrEnum):
    """Group by which costs are added up."""

    DAY = "day"
    CONVERSATION = "conversation"
    TENANT = "tenant"
    PURPOSE = "purpose"


@dataclass(frozen=True)
class Prices:
    """Prices of a million tokens, in one currency; 0 where nobody said."""

    prompt: float
    completion: float
    embedding: float

    @classmethod
    def of(cls, settings: Settings) -> Prices:
        """Return what tokens cost by the settings."""
        return cls(settings.llm_price_prompt, settings.llm_price_completion, settings.embedder_price)

    @property
    def is_set(self) -> bool:
        """Return whether anybody said what anything costs."""
        return any((self.prompt, self.completion, self.embedding))


@dataclass(frozen=True)
class Sum:
    """Calls of a group: of a day, a subject and its conversation, a tenant or a purpose. Calls may be parts."""

    group: tuple[str, ...]
    llm_calls: float
    prompt_tokens: float
    completion_tokens: float
    embedding_calls: float
    embedding_texts: float
    embedding_tokens: float

    def cost(self, prices: Prices) -> float | None:
        """Return what it cost by the prices of a million tokens; None where there are none."""
        if not prices.is_set:
            return None
        return (
            self.prompt_tokens * prices.prompt
            + self.completion_tokens * prices.completion
            + self.embedding_tokens * prices.embedding
        ) / 1e6


_GROUPS: Final = {
    By.DAY: (costs.c.day,),
    By.CONVERSATION: (costs.c.tenant_id, costs.c.subject_id, costs.c.conversation_id),
    By.TENANT: (costs.c.tenant_id,),
    By.PURPOSE: (costs.c.purpose,),
}


class Costs(Store):
    """The costs of all subjects. Safe to call from many threads and processes."""

    def note(self, subject: Subject, spent: Sequence[Spent], began: datetime) -> None:
        """Add to what a subject costs for work that began then and changed nothing; nothing of who was erased since."""
        if not spent:
            return
        is_theirs = of_subject(subjects, subject)
        erased = select(tombstones.c.at).where(
            of_subject(tombstones, subject), tombstones.c.scope == Scope.SUBJECT, tombstones.c.at >= began
        )
        with self._writers.transaction() as connection:
            # An erasure holds this row from its beginning to its end.
            connection.execute(select(subjects.c.fence).where(is_theirs).with_for_update())
            if connection.execute(erased).first() is None:
                write_costs(connection, subject, spent, began)

    def added_up(
        self,
        by: By,
        since: date,
        *,
        tenant_id: str | None = None,
        subject_id: str | None = None,
        after: tuple[str, ...] = (),
        limit: int | None = None,
    ) -> list[Sum]:
        """Return the sums from a day (UTC) on, of one tenant or of all, of one user of it or of all; days latest first,
        others by their names. With `after` those behind a group."""
        group = _GROUPS[by]
        query = select(*group, *(func.sum(costs.c[name]) for name in COUNTS)).where(costs.c.day >= since.isoformat())
        if tenant_id is not None:
            query = query.where(costs.c.tenant_id == tenant_id)
        if subject_id is not None:
            query = query.where(costs.c.subject_id == subject_id)
        if after:
            query = query.where(tuple_(*group) < after if by is By.DAY else tuple_(*group) > after)
        order = [column.desc() for column in group] if by is By.DAY else list(group)
        rows = self._rows(query.group_by(*group).order_by(*order).limit(limit))
        return [Sum(tuple(row[: len(group)]), *map(float, row[len(group) :])) for row in rows]

    def drop_before(self, day: date, limit: int) -> int:
        """Drop what was asked for before a day (UTC), at most `limit` rows of each tenant, and return how many.

        There is an index by tenant and day, and none by day alone, which every batch would pay for.
        """
        key = list(costs.primary_key)
        dropped, tenant_id = 0, ""
        while tenant_id := self._value(select(func.min(costs.c.tenant_id)).where(costs.c.tenant_id > tenant_id)):
            is_old = costs.c.tenant_id == tenant_id, costs.c.day < day.isoformat()
            old = select(*key).where(*is_old).limit(limit)
            dropped += self._run(delete(costs).where(tuple_(*key).in_(old)))
        return dropped


@cache
def _add_statement(dialect: str) -> Any:
    statement = upsert(dialect, costs)
    return statement.on_conflict_do_update(
        index_elements=[column.name for column in costs.primary_key],
        set_={name: costs.c[name] + statement.excluded[name] for name in COUNTS},
    )


def write_costs(connection: Connection, subject: Subject, spent: Sequence[Spent], at: datetime) -> None:
    """Add to what a subject costs on the day of a moment."""
    if spent:
        day = {**subject.model_dump(), "day": at.astimezone(UTC).date().isoformat()}
        connection.execute(_add_statement(connection.dialect.name), [{**day, **asdict(spending)} for spending in spent])


def drop_costs(connection: Connection, subject: Subject, tombstones: Iterable[Tombstone]) -> None:
    """Drop what names a conversation that is erased."""
    gone = [tombstone.key for tombstone in tombstones if tombstone.scope is Scope.CONVERSATION]
    if gone:
        connection.execute(delete(costs).where(of_subject(costs, subject), costs.c.conversation_id.in_(gone)))
