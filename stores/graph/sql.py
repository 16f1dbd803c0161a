"""The graph in the tables that the catalog has anyway: `facts` and `provenance`."""

from __future__ import annotations

import uuid
from collections import defaultdict
from collections.abc import Collection, Sequence

from sqlalchemy import Connection, Engine, select

import stores.catalog.tables as tables
from schema import Memory, Status, Subject
from stores.catalog.engine import read_only
from stores.catalog.statements import of_subject
from stores.graph.base import Relation, folded_name, ordered, walk


class SqlGraph:
    """The facts of one subject are read at once and walked here: one way to the database, however many steps."""

    def __init__(self, engine: Engine) -> None:
        self._engine = read_only(engine)

    def write_in_transaction(self, connection: Connection, written: Sequence[Memory], gone: Sequence[Memory]) -> None:
        """Do nothing: the catalog writes the tables itself."""

    def about(self, subject: Subject, names: Collection[str], *, hops: int = 1, limit: int = 200) -> list[Relation]:
        facts = self._facts(subject)
        wanted = frozenset(map(folded_name, names))
        return walk(_touching(facts, wanted), hops - 1, limit, lambda more: _touching(facts, more)) if hops > 0 else []

    def facts_of_memories(
        self, subject: Subject, memory_ids: Collection[uuid.UUID], *, hops: int = 0, limit: int = 200
    ) -> list[Relation]:
        facts = self._facts(subject)
        wanted = frozenset(memory_ids)
        first = [relation for relation in facts if relation.memory_id in wanted]
        return walk(first, hops, limit, lambda names: _touching(facts, names))

    def facts_said_in(self, subject: Subject, turn_ids: Collection[str], *, limit: int = 200) -> list[Relation]:
        facts = self._facts(subject)
        wanted = frozenset(turn_ids)
        return ordered(fact for fact in facts if wanted & frozenset(fact.sources))[:limit]

    def facts_of_subject(self, subject: Subject, *, limit: int = 200) -> list[Relation]:
        return ordered(self._facts(subject))[:limit]

    def _facts(self, subject: Subject) -> list[Relation]:
        with self._engine.connect() as connection:
            return facts_of(connection, subject)


def facts_of(connection: Connection, subject: Subject) -> list[Relation]:
    """Return the facts of the subject's active memories, as the catalog's tables have them."""
    facts, memories, provenance = tables.facts, tables.memories, tables.provenance
    query = (
        select(facts)
        .join(memories, memories.c.id == facts.c.memory_id)
        .where(of_subject(facts, subject), memories.c.status == Status.ACTIVE)
    )
    sources: dict[uuid.UUID, list[str]] = defaultdict(list)
    turns = (
        select(provenance.c.memory_id, provenance.c.turn_id)
        .where(of_subject(provenance, subject))
        .order_by(provenance.c.turn_id)
    )
    rows = connection.execute(query).all()
    for row in connection.execute(turns) if rows else ():
        sources[row.memory_id].append(row.turn_id)
    return [
        Relation(
            memory_id=row.memory_id,
            ordinal=row.ordinal,
            entity=row.entity,
            verb=row.verb,
            object=row.object,
            attribute=row.attribute,
            sources=tuple(sources[row.memory_id]),
        )
        for row in rows
    ]


def _touching(facts: Sequence[Relation], names: frozenset[str]) -> list[Relation]:
    return [relation for relation in facts if relation.names & names]
