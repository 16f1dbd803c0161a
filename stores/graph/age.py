"""The graph in Apache AGE, in the database of the catalog and in its transactions."""

from __future__ import annotations

import json
import uuid
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from sqlalchemy import Connection, Engine, text
from sqlalchemy.exc import DBAPIError, IntegrityError

from schema import Memory, Status, Subject
from schema.errors import CatalogUnavailable, ConcurrentChange
from schema.health import HealthCheck
from stores.graph.age_rebuild import check_health, rebuild
from stores.graph.base import Relation, folded_name, ordered, walk
from stores.postgres import explain, state_of

_GRAPH = "afterturn_graph"
"""A graph is a schema: named like the user, it would come first in the search path, and new tables would lie in it."""
_MAKING = 0x41465447
_NODES = {"Entity": ("subject", "name"), "Fact": ("subject", "memory", "ordinal"), "Source": ("subject", "turn")}
_EDGES = ("SAYS", "NAMES", "FROM")
_NOT_THERE = {"58P01", "0A000", "22023"}

_ADD_FACT = """
MERGE (e:Entity {subject: $subject, name: $entity})
MERGE (o:Entity {subject: $subject, name: $named})
CREATE (e)-[:SAYS {verb: $verb}]->(:Fact {subject: $subject, memory: $memory, ordinal: $ordinal, verb: $verb,
    entity: $entity, object: $object, attribute: $attribute, sources: $sources})-[:NAMES]->(o)
"""
_ADD_SOURCE = """
MATCH (f:Fact {subject: $subject, memory: $memory, ordinal: $ordinal})
MERGE (s:Source {subject: $subject, turn: $turn})
CREATE (f)-[:FROM]->(s)
"""
_DROP_FACTS = "MATCH (f:Fact {subject: $subject, memory: $memory}) DETACH DELETE f"
_ALL_FACTS = "MATCH (f:Fact {subject: $subject}) RETURN properties(f)"
_FACTS_OF = "MATCH (f:Fact {subject: $subject, memory: $memory}) RETURN properties(f)"
_FACTS_SAID_IN = "MATCH (s:Source {subject: $subject, turn: $turn})<-[:FROM]-(f:Fact) RETURN properties(f)"
# With a direction each: without one the whole graph is read.
_SAID_OF = "MATCH (e:Entity {subject: $subject, name: $name})-[:SAYS]->(f:Fact) RETURN properties(f)"
_NAMING = "MATCH (e:Entity {subject: $subject, name: $name})<-[:NAMES]-(f:Fact) RETURN properties(f)"


class AgeGraph:
    """Nodes `Entity`, `Fact` and `Source`, edges SAYS, NAMES and FROM, each node with its subject.

    Every write happens under the lock of its subject's row, so that two never make the same node; a unique index
    refuses what would, and the loser tries again.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def ensure(self) -> None:
        """Make the graph where it is missing.

        Raises:
            CatalogUnavailable: the database has no Apache AGE, or the user may not make a graph.
        """
        try:
            with self._engine.begin() as connection:
                connection.execute(text("SELECT pg_advisory_xact_lock(:making)"), {"making": _MAKING})
                connection.exec_driver_sql("CREATE EXTENSION IF NOT EXISTS age")
                with _in_age(connection):
                    existing = connection.execute(
                        text("SELECT 1 FROM ag_catalog.ag_graph WHERE name = :name"), {"name": _GRAPH}
                    )
                    if not existing.scalar():
                        _make(connection)
                    # To ask for an index that is there would wait for every writer all the same.
                    if not _has_indexes(connection):
                        _index(connection)
        except DBAPIError as error:
            if state_of(error) in _NOT_THERE:
                raise CatalogUnavailable(
                    "AFTERTURN_GRAPH=age, and this Postgres has no Apache AGE: install it on the server "
                    "(https://age.apache.org), or set AFTERTURN_GRAPH=sql"
                ) from error
            if state_of(error) == "42501":
                raise CatalogUnavailable(
                    "AFTERTURN_GRAPH=age, and the user of AFTERTURN_CATALOG_URL may not use it: let a superuser run "
                    "CREATE EXTENSION age and GRANT USAGE ON SCHEMA ag_catalog, with session_preload_libraries = 'age'"
                ) from error
            if isinstance(error, IntegrityError):
                raise CatalogUnavailable(
                    f"AFTERTURN_GRAPH=age, and its graph {_GRAPH} has nodes twice, made while a unique index was "
                    f"missing: drop it (SELECT ag_catalog.drop_graph('{_GRAPH}', true)), and run "
                    "`afterturn reindex --graph`"
                ) from error
            raise CatalogUnavailable(explain(error, self._engine.url)) from error

    def write_in_transaction(self, connection: Connection, written: Sequence[Memory], gone: Sequence[Memory]) -> None:
        """Take over the facts of memories as they are written, and drop those of memories that go.

        Raises:
            ConcurrentChange: somebody else made the same node at the same time; nothing of the transaction stays.
        """
        if not (gone or any(memory.facts or memory.version > 1 for memory in written)):
            return
        with _in_age(connection):
            try:
                for memory in (*written, *gone):
                    if memory.version > 1 or memory in gone:
                        _run(connection, _DROP_FACTS, {"subject": memory.subject.key, "memory": str(memory.id)})
                for memory in written:
                    if memory.status is Status.ACTIVE:
                        _add(connection, memory)
                for subject in {memory.subject for memory in (*gone, *(m for m in written if m.version > 1))}:
                    _drop_lonely(connection, subject)
            except IntegrityError as error:
                raise ConcurrentChange from error

    def about(self, subject: Subject, names: Collection[str], *, hops: int = 1, limit: int = 200) -> list[Relation]:
        if hops < 1:
            return []
        with self._reading() as connection:
            first = _touching(connection, subject, frozenset(map(folded_name, names)))
            return walk(first, hops - 1, limit, lambda more: _touching(connection, subject, more))

    def facts_of_memories(
        self, subject: Subject, memory_ids: Collection[uuid.UUID], *, hops: int = 0, limit: int = 200
    ) -> list[Relation]:
        with self._reading() as connection:
            first = [
                relation
                for id_ in memory_ids
                for relation in _facts(connection, _FACTS_OF, {"subject": subject.key, "memory": str(id_)})
            ]
            return walk(first, hops, limit, lambda names: _touching(connection, subject, names))

    def facts_said_in(self, subject: Subject, turn_ids: Collection[str], *, limit: int = 200) -> list[Relation]:
        with self._reading() as connection:
            relations = {
                (relation.memory_id, relation.ordinal): relation
                for turn in turn_ids
                for relation in _facts(connection, _FACTS_SAID_IN, {"subject": subject.key, "turn": turn})
            }
        return ordered(relations.values())[:limit]

    def facts_of_subject(self, subject: Subject, *, limit: int = 200) -> list[Relation]:
        return ordered(self.facts(subject))[:limit]

    def facts(self, subject: Subject) -> list[Relation]:
        """Return all facts that it has of a subject, whatever the catalog has."""
        with self._engine.connect() as connection:
            return _all_facts(connection, subject)

    def rebuild(self, subject: Subject) -> int:
        """Make the subject's facts those of the catalog, and answer of how many memories they were not. Writers of the
        subject wait meanwhile; what is right already stays as it is."""
        return rebuild(self._engine, subject, _all_facts, _rewrite)

    def check_health(self) -> Iterator[HealthCheck]:
        """Look at the extension, at the unique indexes, and whether all facts of the catalog are here."""
        return check_health(self._engine, _GRAPH, [_key_of(label) for label in _NODES])

    @contextmanager
    def _reading(self) -> Iterator[Connection]:
        with self._engine.connect() as connection, _in_age(connection):
            yield connection


@contextmanager
def _in_age(connection: Connection) -> Iterator[None]:
    """Use AGE's names and settings for a part of a transaction."""
    before = connection.exec_driver_sql("SELECT current_setting('search_path')").scalar_one()
    # Its containment operator reads every node; plain comparisons take the index (measured: 2 ms a triple, not 8).
    connection.exec_driver_sql(
        "LOAD 'age'; SET LOCAL search_path = ag_catalog, public; SET LOCAL age.enable_containment = off"
    )
    yield
    connection.execute(text("SELECT set_config('search_path', :before, true)"), {"before": before})


def _make(connection: Connection) -> None:
    connection.execute(text("SELECT ag_catalog.create_graph(:name)"), {"name": _GRAPH})
    for make, labels in (("create_vlabel", tuple(_NODES)), ("create_elabel", _EDGES)):
        for label in labels:
            connection.execute(text(f"SELECT ag_catalog.{make}(:graph, :label)"), {"graph": _GRAPH, "label": label})


def _has_indexes(connection: Connection) -> bool:
    return all(
        connection.execute(text("SELECT to_regclass(:name)"), {"name": f'{_GRAPH}."{_key_of(label)}"'}).scalar()
        for label in _NODES
    )


def _index(connection: Connection) -> None:
    for label, properties in _NODES.items():
        columns = ", ".join(
            f"ag_catalog.agtype_access_operator(VARIADIC ARRAY[properties, '\"{name}\"'::ag_catalog.agtype])"
            for name in properties
        )
        connection.exec_driver_sql(
            f'CREATE UNIQUE INDEX IF NOT EXISTS "{_key_of(label)}" ON {_GRAPH}."{label}" ({columns})'
        )
    for label in _EDGES:
        for end in ("start_id", "end_id"):
            connection.exec_driver_sql(f'CREATE INDEX IF NOT EXISTS "{label}_{end}" ON {_GRAPH}."{label}" ({end})')


def _key_of(label: str) -> str:
    """Return the name of the index by which a node of this kind is made once."""
    return f"{label}_key"


def _all_facts(connection: Connection, subject: Subject) -> list[Relation]:
    with _in_age(connection):
        return list(_facts(connection, _ALL_FACTS, {"subject": subject.key}))


def _rewrite(connection: Connection, subject: Subject, memories: Sequence[Memory], ids: Iterable[uuid.UUID]) -> None:
    with _in_age(connection):
        for id_ in ids:
            _run(connection, _DROP_FACTS, {"subject": subject.key, "memory": str(id_)})
        for memory in memories:
            if memory.status is Status.ACTIVE:
                _add(connection, memory)
        _drop_lonely(connection, subject)


def _run(connection: Connection, cypher: str, values: Mapping[str, Any]) -> list[Any]:
    rows = connection.exec_driver_sql(
        f"SELECT * FROM ag_catalog.cypher('{_GRAPH}', $cypher$ {cypher} $cypher$, %s) AS (answer ag_catalog.agtype)",
        (json.dumps(values),),
    )
    return [json.loads(row.answer) for row in rows]


def _add(connection: Connection, memory: Memory) -> None:
    for ordinal, fact in enumerate(memory.facts):
        which = {"subject": memory.subject.key, "memory": str(memory.id), "ordinal": ordinal}
        _run(
            connection,
            _ADD_FACT,
            which
            | {
                "entity": _kept(folded_name(fact.entity)),
                "named": _kept(folded_name(fact.object)),
                "verb": _kept(fact.verb),
                "object": _kept(fact.object),
                "attribute": fact.attribute,
                "sources": sorted(memory.source_turn_ids),
            },
        )
        for turn in memory.source_turn_ids:
            _run(connection, _ADD_SOURCE, which | {"turn": turn})


def _drop_lonely(connection: Connection, subject: Subject) -> None:
    """Remove the entities and sources of a subject that no fact has any more: nothing is left of what was erased."""
    for label, pattern in (("Entity", "(n)-[]-()"), ("Source", "(n)<-[:FROM]-()")):
        _run(
            connection,
            f"MATCH (n:{label} {{subject: $subject}}) WHERE NOT EXISTS({pattern}) DELETE n",
            {"subject": subject.key},
        )


def _touching(connection: Connection, subject: Subject, names: frozenset[str]) -> list[Relation]:
    relations = {
        (relation.memory_id, relation.ordinal): relation
        for name in sorted(names)
        for cypher in (_SAID_OF, _NAMING)
        for relation in _facts(connection, cypher, {"subject": subject.key, "name": _kept(name)})
    }
    return list(relations.values())


def _facts(connection: Connection, cypher: str, values: Mapping[str, Any]) -> Iterator[Relation]:
    for fact in _run(connection, cypher, values):
        yield Relation(
            memory_id=uuid.UUID(fact["memory"]),
            ordinal=fact["ordinal"],
            entity=fact["entity"],
            verb=fact["verb"],
            object=fact["object"],
            attribute=fact.get("attribute"),
            sources=tuple(fact["sources"]),
        )


def _kept(value: str) -> str:
    """Return a text as Postgres can hold it: without the character of the code 0."""
    return value.replace("\0", "")
