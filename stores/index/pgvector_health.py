"""Health checks of the index in Postgres."""

from __future__ import annotations

from collections.abc import Iterator

from sqlalchemy import Connection, Engine, Table, text

from schema.health import HealthCheck, failed, fine, warning
from stores.index.pgvector_schema import graphs, sizes_from

LEAST_VERSION = (0, 8)
"""The first with iterative scans: a filter would leave too few of what a graph finds before it."""
_NAMED = 3


def check_health(engine: Engine, table: Table, dimensions: int, hnsw_from: int) -> Iterator[HealthCheck]:
    """Check a table of vectors, its extension and its graphs. May take a while for millions of
    entries."""
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        yield from _extension(connection)
        yield from _vectors(connection, table, dimensions)
        yield from _graphs(connection, table, hnsw_from)


def _extension(connection: Connection) -> Iterator[HealthCheck]:
    version = str(
        connection.execute(text("SELECT extversion FROM pg_extension WHERE extname = 'vector'")).scalar_one_or_none()
    )
    if tuple(int(part) for part in version.split(".")[:2] if part.isdigit()) < LEAST_VERSION:
        least = ".".join(map(str, LEAST_VERSION))
        hint = f"install pgvector {least} or newer on the server, then ALTER EXTENSION vector UPDATE"
        yield failed("pgvector", f"version {version}", hint)
    else:
        yield fine("pgvector", f"version {version}")


def _vectors(connection: Connection, table: Table, dimensions: int) -> Iterator[HealthCheck]:
    wide, entries, size = connection.execute(
        text(
            "SELECT (SELECT vector_dims(vector) FROM {0} LIMIT 1), (SELECT count(*) FROM {0}), "
            "pg_total_relation_size('{0}')".format(f'"{table.name}"')
        )
    ).one()
    if wide not in {None, dimensions}:
        yield failed(
            "index vectors",
            f"the table {table.name} holds vectors of {wide} numbers, and says {dimensions}",
            "set AFTERTURN_INDEX_NAME to a new name and run `afterturn reindex`",
        )
    else:
        yield fine("index vectors", f"{entries} of {dimensions} numbers in {table.name}, {size / 1e6:.1f} MB")


def _graphs(connection: Connection, table: Table, hnsw_from: int) -> Iterator[HealthCheck]:
    there = frozenset(graphs(connection, table).values())
    large = sizes_from(connection, table, hnsw_from)
    lacking = [subject for subject in large if subject not in there]
    if lacking:
        examples = ", ".join(subject.key for subject in lacking[:_NAMED]) + (", ..." if len(lacking) > _NAMED else "")
        hint = "run `afterturn doctor --optimize`: it builds them while the fleet works, some minutes each"
        yield warning("HNSW", f"{len(lacking)} users have {hnsw_from} memories or more and no graph: {examples}", hint)
    else:
        yield fine("HNSW", f"{len(there)} graphs; {len(large)} users have {hnsw_from} memories or more")
