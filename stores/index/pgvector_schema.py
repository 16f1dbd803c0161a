"""The tables of the index in Postgres, and the graphs of its large subjects."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping

from sqlalchemy import Connection, Engine, Table, inspect, text
from sqlalchemy.exc import DBAPIError
from sqlalchemy.schema import CreateTable

from schema import Subject
from schema.errors import CatalogUnavailable
from stores.postgres import explain, state_of

_MAKING = 0x41465456
"""The advisory lock under which one process at a time makes tables."""
_NO_SUCH_FILE, _NO_PERMISSION = "58P01", ("42501",)
_COMPLETE = 'ALTER TABLE "{}" ADD COLUMN IF NOT EXISTS version integer NOT NULL DEFAULT 0'
"""The column that a table of an older Afterturn does not have yet."""
_M, _EF_CONSTRUCTION = 16, 64
"""pgvector's own defaults, written down so that they stay what was measured."""


def make(engine: Engine, table: Table, required: Mapping[str, str]) -> dict[str, str]:
    """Make a table of vectors where it is missing, and answer what it was made for.

    Raises:
        CatalogUnavailable: the database has no pgvector, or the user may not make tables.
    """
    try:
        with engine.begin() as connection:
            made_for = _made_for(connection, table.name)
            if made_for and _is_complete(connection, table):
                return made_for
            connection.execute(text("SELECT pg_advisory_xact_lock(:making)"), {"making": _MAKING})
            if made_for:
                connection.execute(text(_COMPLETE.format(table.name)))
                return made_for
            # Somebody may have made it while we waited.
            return _made_for(connection, table.name) or _make(connection, table, required)
    except DBAPIError as error:
        raise CatalogUnavailable(_explain(error, engine)) from error


def _explain(error: DBAPIError, engine: Engine) -> str:
    state = state_of(error)
    if state in {_NO_SUCH_FILE, "0A000"}:
        return (
            "AFTERTURN_INDEX=pgvector, and this Postgres has no pgvector: install it on the server "
            "(Debian: postgresql-17-pgvector; containers: the image pgvector/pgvector)"
        )
    if state in _NO_PERMISSION:
        return (
            "AFTERTURN_INDEX=pgvector, and the user of AFTERTURN_CATALOG_URL may not make the extension or its tables: "
            f"let a superuser run CREATE EXTENSION vector in the database {engine.url.database}, and GRANT CREATE ON "
            "SCHEMA public"
        )
    return explain(error, engine.url)


def _made_for(connection: Connection, name: str) -> dict[str, str]:
    if not inspect(connection).has_table("vector_tables"):
        return {}
    row = connection.execute(
        text("SELECT dimensions, metric, model FROM vector_tables WHERE name = :name"), {"name": name}
    ).one_or_none()
    return {} if row is None else {"dimensions": str(row.dimensions), "metric": row.metric, "model": row.model}


def _is_complete(connection: Connection, table: Table) -> bool:
    there = {column["name"] for column in inspect(connection).get_columns(table.name)}
    return there >= {column.name for column in table.columns}


def _make(connection: Connection, table: Table, required: Mapping[str, str]) -> dict[str, str]:
    if not connection.execute(text("SELECT 1 FROM pg_extension WHERE extname = 'vector'")).scalar():
        connection.execute(text("CREATE EXTENSION vector"))
    connection.execute(
        text(
            "CREATE TABLE IF NOT EXISTS vector_tables (name varchar PRIMARY KEY, dimensions integer NOT NULL, "
            "metric varchar NOT NULL, model varchar NOT NULL)"
        )
    )
    connection.execute(CreateTable(table))
    connection.execute(
        text("INSERT INTO vector_tables VALUES (:name, CAST(:dimensions AS integer), :metric, :model)"),
        {"name": table.name, **required},
    )
    return dict(required)


def drop(engine: Engine, table: str) -> None:
    """Remove a table of vectors, if it is there."""
    with engine.begin() as connection:
        connection.execute(text(f'DROP TABLE IF EXISTS "{table}"'))
        if inspect(connection).has_table("vector_tables"):
            connection.execute(text("DELETE FROM vector_tables WHERE name = :name"), {"name": table})


# -- graphs of large subjects -----------------------------------------------------------------------------------------


def large_subjects(engine: Engine, table: Table) -> frozenset[Subject]:
    """Return the subjects that have a graph of their own."""
    with engine.connect() as connection:
        return frozenset(graphs(connection, table).values())


def optimize(engine: Engine, table: Table, hnsw_from: int) -> Iterator[tuple[str, Subject]]:
    """Give a graph to every subject that has grown past `hnsw_from` entries, and take it from those that fell below
    half of it; says what it is about to do. Writers and readers go on meanwhile.
    """
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.exec_driver_sql("SET statement_timeout = 0")
        there = {subject: name for name, subject in graphs(connection, table).items()}
        sizes = sizes_from(connection, table, max(1, hnsw_from // 2))
        for subject, name in there.items():
            if subject not in sizes:
                yield "drop", subject
                connection.exec_driver_sql(f'DROP INDEX CONCURRENTLY IF EXISTS "{name}"')
        for subject, entries in sizes.items():
            if entries >= hnsw_from and subject not in there:
                yield "build", subject
                _build(connection, table, subject)
        connection.exec_driver_sql("RESET statement_timeout")


def sizes_from(connection: Connection, table: Table, least: int) -> dict[Subject, int]:
    """Return the subjects that have so many entries or more, and how many: reads the whole primary key."""
    rows = connection.execute(
        text(
            f'SELECT tenant_id, subject_id, count(*) AS entries FROM "{table.name}" '
            "GROUP BY tenant_id, subject_id HAVING count(*) >= :least"
        ),
        {"least": least},
    )
    return {Subject(tenant_id=row.tenant_id, subject_id=row.subject_id): row.entries for row in rows}


def _build(connection: Connection, table: Table, subject: Subject) -> None:
    name = f"hnsw_{hashlib.sha256(f'{table.name}:{subject.key}'.encode()).hexdigest()[:24]}"
    # One that was cut off in the middle stays behind, invalid, under the same name.
    connection.exec_driver_sql(f'DROP INDEX CONCURRENTLY IF EXISTS "{name}"')
    tenant, who = (_quoted(connection, value) for value in (subject.tenant_id, subject.subject_id))
    connection.exec_driver_sql(
        f'CREATE INDEX CONCURRENTLY "{name}" ON "{table.name}" USING hnsw (vector vector_ip_ops) '
        f"WITH (m = {_M}, ef_construction = {_EF_CONSTRUCTION}) WHERE tenant_id = {tenant} AND subject_id = {who}"
    )
    comment = _quoted(connection, subject.key)
    connection.exec_driver_sql(f'COMMENT ON INDEX "{name}" IS {comment}')


def _quoted(connection: Connection, value: str) -> str:
    """Return a literal, quoted by the server: DDL takes no parameters."""
    quoted: str = connection.execute(text("SELECT quote_literal(:value)"), {"value": value}).scalar_one()
    return quoted.replace("%", "%%")


def graphs(connection: Connection, table: Table) -> dict[str, Subject]:
    """Return the finished graphs of a table by the names of their indexes; each says in its comment whose it is."""
    rows = connection.execute(
        text(
            "SELECT c.relname AS name, obj_description(c.oid) AS subject FROM pg_index i "
            "JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_am a ON a.oid = c.relam "
            "WHERE i.indrelid = CAST(:table AS regclass) AND a.amname = 'hnsw' AND i.indisvalid"
        ),
        {"table": f'"{table.name}"'},
    )
    return {row.name: Subject.from_key(row.subject) for row in rows if row.subject}
