"""The index in Postgres, by pgvector: in the database of the catalog, and in its transactions."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC
from functools import cache
from typing import Any

import numpy as np
from pgvector.sqlalchemy import VECTOR
from sqlalchemy import (
    Column,
    ColumnElement,
    Connection,
    DateTime,
    Dialect,
    Engine,
    Integer,
    MetaData,
    String,
    Table,
    and_,
    func,
    select,
    true,
)
from sqlalchemy import Uuid as Id
from sqlalchemy import or_ as any_of
from sqlalchemy.dialects.postgresql import ARRAY, insert

from schema import Kind, MemoryType, Seen, Status, Subject, Visibility
from schema.health import HealthCheck
from stores.index.base import Entry, Hit, Metric, Vector, Where
from stores.index.checks import batched, checked, checked_limit, must_be_ready, outdated, refuse_another
from stores.index.pgvector_health import check_health
from stores.index.pgvector_schema import large_subjects, make, optimize
from stores.index.snapshot import FILTERS, LABELS

HNSW_FROM = 20_000
"""Entries of one subject from which it is searched by a graph of its own; below it, comparing all is exact and fast
enough (docs/reference/stores.md)."""

_EF_SEARCH = 200
"""Entries that a search of the graph keeps in hand; pgvector's default of 40 is less than recall asks for."""
_KEYS_AT_A_TIME = 5_000


class _Exact(VECTOR):
    """A vector as text of nine digits a number, which are enough for any float32. The library's own text has up to
    nineteen, and takes three times as long to make (0.4 ms for 384 numbers)."""

    cache_ok = True

    def bind_processor(self, dialect: Dialect) -> Any:  # noqa: ARG002
        def text_of(vector: Vector) -> str:
            return _digits(len(vector)) % tuple(vector.tolist())

        return text_of


@cache
def _digits(count: int) -> str:
    return f"[{','.join(['%.9g'] * count)}]"


class PgvectorIndex:
    """An index in a Postgres database. Safe for any number of threads and processes.

    A query compares every entry of its subject, found by the primary key. A subject with `hnsw_from` entries or more
    can have a graph of its own (`optimize`), which finds nearly all of the nearest. Filters are applied while the
    graph is walked; where they leave fewer than were asked for, all entries are compared.
    """

    def __init__(self, engine: Engine, name: str = "main", *, hnsw_from: int = HNSW_FROM) -> None:
        self._engine = engine
        # One statement needs no transaction around it, which would be two more ways to the server and back.
        self._reader = engine.execution_options(isolation_level="AUTOCOMMIT")
        self._name = name
        self._hnsw_from = hnsw_from
        self._dimensions = 0
        self._table = _table(f"vectors_{name}", None)
        self._large: frozenset[Subject] = frozenset()

    @property
    def table(self) -> str:
        """Return the name of its table."""
        return self._table.name

    def ensure(self, dimensions: int, metric: Metric, model: str) -> None:
        """Make the table, or check what it was made for.

        Raises:
            IndexMismatch: it was made for other dimensions, another metric or another model.
            CatalogUnavailable: the database has no pgvector, or the user may not make tables.
        """
        self._table = _table(f"vectors_{self._name}", dimensions)
        required = {"dimensions": str(dimensions), "metric": metric, "model": model}
        made_for = make(self._engine, self._table, required)
        refuse_another(f"the index {self._name!r} in the catalog's database", made_for, required)
        self._dimensions = dimensions
        self._large = large_subjects(self._engine, self._table)

    def upsert(self, entries: Sequence[Entry]) -> list[Entry]:
        """Write as any index does, in one transaction."""
        if entries:
            is_older = self._table.c.version <= insert(self._table).excluded.version
            with self._engine.begin() as connection:
                self._write(connection, entries, is_older)
        return outdated(entries, self.versions)

    def write_in_transaction(
        self, connection: Connection, entries: Sequence[Entry], gone: Sequence[tuple[Subject, uuid.UUID]]
    ) -> None:
        """Write and remove entries in a transaction of the catalog's: they are seen when its memories are.

        Raises:
            ValueError: a vector is not of unit length or not as wide as `ensure` said.
        """
        table = self._table
        if entries:
            # Whatever is newer there was told by a catalog that is no more: this one has just written its newest.
            self._write(connection, entries, true())
        for subject in {subject for subject, _ in gone}:
            keys = [key for whose, key in gone if whose == subject]
            for batch in batched(keys, _KEYS_AT_A_TIME):
                connection.execute(table.delete().where(_of(table, subject), table.c.key.in_(batch)))

    def _write(self, connection: Connection, entries: Sequence[Entry], over: ColumnElement[bool]) -> None:
        # In one order, so that two writers of the same entries wait for each other rather than deadlock.
        rows = sorted((self._row(entry) for entry in entries), key=lambda row: (row["tenant_id"], row["subject_id"]))
        connection.execute(self._upsert_statement(over), rows)

    def query(self, vector: Vector, where: Where, limit: int) -> list[Hit]:
        """Return as any index does; exact within a subject that has no graph."""
        checked_limit(limit)
        table = self._table
        away = table.c.vector.max_inner_product(checked(vector, self._dimensions))
        seen = select(table.c.memory_id, table.c.key, table.c.version, away.label("away")).where(
            _of(table, where.subject), *_conditions(table, where)
        )
        # Plus nothing: an expression that no graph is made for, so that all are compared.
        exact = seen.order_by(away + 0, table.c.key).limit(limit)
        if where.subject not in self._large:
            with self._reader.connect() as connection:
                return _hits(connection.execute(exact))
        with self._engine.connect() as connection:
            # The graph serves one subject: the plan must know which one is asked for.
            connection.exec_driver_sql(
                f"SET LOCAL plan_cache_mode = force_custom_plan; SET LOCAL hnsw.ef_search = {_EF_SEARCH};"
                " SET LOCAL hnsw.iterative_scan = strict_order"
            )
            near = _hits(connection.execute(seen.order_by(away, table.c.key).limit(limit)))
            return near if len(near) == limit else _hits(connection.execute(exact))

    def fetch(self, subject: Subject, keys: Sequence[uuid.UUID]) -> list[Entry]:
        table = self._table
        must_be_ready(self._dimensions)
        with self._reader.connect() as connection:
            return [
                _entry(subject, row._mapping)
                for batch in batched(keys, _KEYS_AT_A_TIME)
                for row in connection.execute(select(table).where(_of(table, subject), table.c.key.in_(batch)))
            ]

    def versions(self, subject: Subject, keys: Sequence[uuid.UUID]) -> dict[uuid.UUID, int]:
        table = self._table
        must_be_ready(self._dimensions)
        with self._reader.connect() as connection:
            return {
                row.key: row.version
                for batch in batched(keys, _KEYS_AT_A_TIME)
                for row in connection.execute(
                    select(table.c.key, table.c.version).where(_of(table, subject), table.c.key.in_(batch))
                )
            }

    def delete(self, subject: Subject, keys: Sequence[uuid.UUID]) -> None:
        must_be_ready(self._dimensions)
        if keys:
            with self._engine.begin() as connection:
                self.write_in_transaction(connection, (), [(subject, key) for key in keys])

    def count(self) -> int:
        """Return how many entries there are in all: reads the whole primary key."""
        must_be_ready(self._dimensions)
        with self._reader.connect() as connection:
            return connection.execute(select(func.count()).select_from(self._table)).scalar_one()

    def optimize(self) -> Iterator[tuple[str, Subject]]:
        """Build graphs for the subjects that have become large, drop those of subjects that are not any more; says
        which before it does. Takes minutes for a large one; writers and readers go on. Other processes use a new
        graph from their next start on.
        """
        must_be_ready(self._dimensions)
        yield from optimize(self._engine, self._table, self._hnsw_from)
        self._large = large_subjects(self._engine, self._table)

    def check_health(self) -> Iterator[HealthCheck]:
        """Check its extension, its table, and the graphs of large subjects: reads the whole primary key."""
        must_be_ready(self._dimensions)
        return check_health(self._engine, self._table, self._dimensions, self._hnsw_from)

    def close(self) -> None:
        """Close the connections that are free; the next use opens them again."""
        self._engine.dispose()

    def _row(self, entry: Entry) -> dict[str, Any]:
        return {
            **entry.subject.model_dump(),
            "key": entry.key,
            "memory_id": entry.memory_id,
            **{name: _kept(getattr(entry, name)) for name in LABELS},
            "created_at": entry.created_at,
            "tags": [_kept(tag) for tag in entry.tags],
            "version": entry.version,
            "vector": checked(entry.vector, self._dimensions),
        }

    def _upsert_statement(self, over: ColumnElement[bool]) -> Any:
        table = self._table
        statement = insert(table)
        written = {column.name: statement.excluded[column.name] for column in table.columns if not column.primary_key}
        # What is the same is not written again: a dead row of 1.7 KB each time, for nothing.
        differs = any_of(*(table.c[name].is_distinct_from(value) for name, value in written.items()))
        return statement.on_conflict_do_update(
            index_elements=list(table.primary_key), set_=written, where=over & differs
        )


def _table(name: str, dimensions: int | None) -> Table:
    return Table(
        name,
        MetaData(),
        Column("tenant_id", String(collation="C"), primary_key=True),
        Column("subject_id", String(collation="C"), primary_key=True),
        Column("key", Id, primary_key=True),
        Column("memory_id", Id, nullable=False),
        *(Column(name, String, nullable=name.endswith("_id")) for name in LABELS),
        Column("created_at", DateTime(timezone=True), nullable=False),
        Column("tags", ARRAY(String), nullable=False),
        Column("version", Integer, nullable=False, server_default="0"),
        Column("vector", _Exact(dimensions), nullable=False),
    )


def _of(table: Table, subject: Subject) -> ColumnElement[bool]:
    return and_(table.c.tenant_id == subject.tenant_id, table.c.subject_id == subject.subject_id)


def _conditions(table: Table, where: Where) -> Iterator[ColumnElement[bool]]:
    for column, name in FILTERS.items():
        if values := getattr(where, name):
            yield table.c[column].in_([_kept(value) for value in values])
    if where.seen_by:
        yield any_of(*(_covered(table, seen) for seen in where.seen_by))
    if where.tags:
        yield table.c.tags.contains([_kept(tag) for tag in where.tags])
    if where.created_since is not None:
        yield table.c.created_at >= where.created_since


def _covered(table: Table, seen: Seen) -> ColumnElement[bool]:
    named = (("author_id", seen.author_id), ("agent_id", seen.agent_id))
    return and_(
        table.c.visibility.in_(seen.visibilities),
        *(table.c[column] == _kept(value) for column, value in named if value is not None),
    )


def _kept(text: str | None) -> str | None:
    """Return a text as Postgres can hold it: without the character of the code 0."""
    return None if text is None else text.replace("\0", "")


def _hits(rows: Iterable[Any]) -> list[Hit]:
    return [Hit(row.memory_id, row.key, max(-1.0, min(1.0, -float(row.away))), row.version) for row in rows]


def _entry(subject: Subject, row: Any) -> Entry:
    return Entry(
        key=row["key"],
        memory_id=row["memory_id"],
        subject=subject,
        vector=np.asarray(row["vector"], dtype=np.float32),
        type=MemoryType(row["type"]),
        kind=Kind(row["kind"]),
        category=row["category"],
        status=Status(row["status"]),
        visibility=Visibility(row["visibility"]),
        created_at=row["created_at"].astimezone(UTC),
        author_id=row["author_id"],
        agent_id=row["agent_id"],
        tags=tuple(row["tags"]),
        version=row["version"],
    )
