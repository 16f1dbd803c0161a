"""The graph in Apache AGE, compared with the catalog's tables and made from them again.

A graph that was switched on when there were memories already is empty; one that was switched off meanwhile is behind.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

from sqlalchemy import Connection, Engine, func, select, text

import stores.catalog.tables as tables
from schema import Memory, Status, Subject
from schema.health import HealthCheck, failed, fine, warning
from stores.catalog.rows import memory_of
from stores.catalog.statements import of_subject
from stores.graph.base import Relation
from stores.graph.sql import facts_of

_MEMORIES_A_TRANSACTION = 50
"""Some 2 ms a fact: the subject's writers wait no longer than that takes."""
_REINDEX = "run `afterturn reindex --graph`: it fills in what is missing while the fleet works"

ReadFacts = Callable[[Connection, Subject], list[Relation]]
WriteFacts = Callable[[Connection, Subject, Sequence[Memory], Iterable[uuid.UUID]], None]


def rebuild(engine: Engine, subject: Subject, read: ReadFacts, write: WriteFacts) -> int:
    """Let the graph have what the catalog has of a subject; answers of how many memories it did not.

    `read` reads the subject's facts from the graph; `write` drops those of the memories of these ids, and then takes
    over those of the active ones among them.
    """
    done: set[uuid.UUID] = set()
    while True:
        with engine.begin() as connection:
            _lock(connection, subject)
            there = _by_memory(read(connection, subject))
            wanted = _by_memory(facts_of(connection, subject))
            differing = sorted(id_ for id_ in there.keys() | wanted if there.get(id_) != wanted.get(id_))
            # What stays different after it was written once is not written for ever.
            batch = [id_ for id_ in differing if id_ not in done][:_MEMORIES_A_TRANSACTION]
            if not batch:
                return len(done)
            write(connection, subject, _memories(connection, subject, batch), batch)
        done.update(batch)


def check_health(engine: Engine, graph: str, indexes: Iterable[str]) -> Iterator[HealthCheck]:
    """Yield the health checks of the graph of this name, each kind of whose nodes needs a unique index."""
    with engine.connect() as connection:
        version = connection.execute(text("SELECT extversion FROM pg_extension WHERE extname = 'age'")).scalar()
        there = set(
            connection.execute(
                text(
                    "SELECT c.relname FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid "
                    "JOIN pg_namespace n ON n.oid = c.relnamespace "
                    "WHERE n.nspname = :graph AND i.indisunique AND i.indisvalid"
                ),
                {"graph": graph},
            ).scalars()
        )
        if lacking := sorted(set(indexes) - there):
            yield failed(
                "graph",
                f"Apache AGE {version}, without the unique index {', '.join(lacking)}: the same node can be made twice",
                "DROP INDEX it where it is invalid, and look again: a start makes what is missing",
            )
            return
        yield fine("graph", f"Apache AGE {version}, unique indexes on every kind of node")
        facts, memories = tables.facts, tables.memories
        wanted = connection.execute(
            select(func.count())
            .select_from(facts.join(memories, memories.c.id == facts.c.memory_id))
            .where(memories.c.status == Status.ACTIVE)
        ).scalar_one()
        held = connection.execute(text(f'SELECT count(*) FROM {graph}."Fact"')).scalar_one()
    if held != wanted:
        yield warning("graph facts", f"{held}, and the catalog has {wanted}", _REINDEX)
    else:
        yield fine("graph facts", f"{held}, as many as the catalog has")


def _lock(connection: Connection, subject: Subject) -> None:
    """Let nobody else write for the subject until the transaction ends."""
    connection.execute(select(tables.subjects.c.fence).where(of_subject(tables.subjects, subject)).with_for_update())


def _by_memory(relations: Iterable[Relation]) -> dict[uuid.UUID, set[Relation]]:
    grouped: dict[uuid.UUID, set[Relation]] = {}
    for relation in relations:
        grouped.setdefault(relation.memory_id, set()).add(
            replace(relation, sources=tuple(sorted(set(relation.sources))))
        )
    return grouped


def _memories(connection: Connection, subject: Subject, ids: Sequence[uuid.UUID]) -> list[Memory]:
    table = tables.memories
    documents = connection.execute(
        select(table.c.document).where(of_subject(table, subject), table.c.id.in_(ids))
    ).scalars()
    return [memory_of(document) for document in documents]
