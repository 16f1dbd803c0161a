"""Health checks of the catalog's database: its version, its tables, its rights, its limits."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator

from sqlalchemy import Connection, Engine, func, inspect, select, text
from sqlalchemy.exc import DBAPIError

import stores.catalog.tables as tables
from schema.errors import CatalogOutage, CatalogUnavailable
from schema.health import HealthCheck, failed, fine, warning
from stores.catalog.contractions import left_over, require_not_contracted
from stores.catalog.head import HEAD
from stores.catalog.revisions import revision
from stores.postgres import explain

LEAST_POSTGRES = 14
LEAST_SQLITE = (3, 35, 0)
"""The first with RETURNING."""
_PART = "catalog"
_MIGRATE = "run `afterturn migrate`"


def check_catalog(engine: Engine, connections: int) -> Iterator[HealthCheck]:
    """Yield the checks of a catalog that each of the fleet's processes uses by up to `connections` connections."""
    try:
        with engine.connect() as connection:
            yield from _server(connection, connections) if engine.dialect.name == "postgresql" else _file(connection)
        migration = revision(engine)
    except CatalogUnavailable as error:
        yield failed(_PART, "cannot be used", str(error))
        return
    except CatalogOutage as error:
        yield failed(_PART, "does not answer", str(error))
        return
    except DBAPIError as error:
        yield failed(_PART, "does not answer", explain(error, engine.url))
        return
    if (migration or "") < HEAD:
        state = (
            "has no tables yet" if migration is None else f"is at migration {migration}, and this version writes {HEAD}"
        )
        yield failed("catalog tables", state, _MIGRATE)
        return
    try:
        require_not_contracted(engine)
    except CatalogUnavailable as error:
        yield failed("catalog tables", f"migration {migration}", str(error))
        return
    yield from _tables(engine, migration)


def _file(connection: Connection) -> Iterator[HealthCheck]:
    name = connection.engine.url.database
    mode = connection.exec_driver_sql("PRAGMA journal_mode").scalar_one()
    if sqlite3.sqlite_version_info < LEAST_SQLITE:
        least = ".".join(map(str, LEAST_SQLITE))
        yield failed(_PART, f"SQLite {sqlite3.sqlite_version} in {name}", f"take a Python with SQLite {least} or newer")
    elif mode != "wal":
        hint = "move AFTERTURN_DATA_DIR to a disk of this machine, or set AFTERTURN_CATALOG_URL to a Postgres"
        yield failed(_PART, f"the folder of {name} allows no write-ahead log (journal mode {mode})", hint)
    else:
        yield fine(_PART, f"SQLite {sqlite3.sqlite_version} in {name}, write-ahead log")


def _server(connection: Connection, connections: int) -> Iterator[HealthCheck]:
    number = int(connection.exec_driver_sql("SHOW server_version_num").scalar_one())
    version, encoding = f"Postgres {number // 10_000}.{number % 10_000}", _shown(connection, "server_encoding")
    limit = int(_shown(connection, "max_connections"))
    if number < LEAST_POSTGRES * 10_000:
        yield failed(_PART, version, f"update the server to Postgres {LEAST_POSTGRES} or newer")
    elif connection.exec_driver_sql("SELECT pg_is_in_recovery()").scalar_one():
        yield failed(_PART, f"{version}, a replica that takes no writes", "set AFTERTURN_CATALOG_URL to the primary")
    elif encoding != "UTF8":
        yield failed(
            _PART, f"{version}, in {encoding}", "make the database anew: createdb --encoding UTF8 --template template0"
        )
    elif limit < connections:
        hint = f"raise max_connections above {connections} for each worker process, or lower AFTERTURN_WORKER_SLOTS"
        yield warning(_PART, f"{version} lets {limit} connections in, and one worker may ask for {connections}", hint)
    else:
        yield fine(_PART, f"{version}, {encoding}, up to {limit} connections")
    user, may_create, may_change = connection.execute(
        text(
            "SELECT current_user, COALESCE(has_schema_privilege(current_schema(), 'CREATE'), false), "
            "(has_table_privilege(to_regclass('memories'), 'INSERT') "
            "AND has_table_privilege(to_regclass('memories'), 'UPDATE') "
            "AND has_table_privilege(to_regclass('memories'), 'DELETE')) IS NOT FALSE"
        )
    ).one()
    if not may_change:
        yield failed("catalog rights", f"{user} may not write", f"GRANT ALL ON ALL TABLES IN SCHEMA public TO {user}")
    elif not may_create:
        hint = f"GRANT CREATE ON SCHEMA public TO {user}, for `afterturn migrate`, a new index and `afterturn reindex`"
        yield warning("catalog rights", f"{user} may write, and not make tables", hint)
    else:
        yield fine("catalog rights", f"{user} may write and make tables")


def _shown(connection: Connection, setting: str) -> str:
    return str(connection.exec_driver_sql(f"SHOW {setting}").scalar_one())


def _tables(engine: Engine, migration: str | None) -> Iterator[HealthCheck]:
    looked = inspect(engine)
    there = {name: {column["name"] for column in looked.get_columns(name)} for name in looked.get_table_names()}
    missing = [
        f"{table.name}.{column.name}"
        for table in tables.metadata.sorted_tables
        for column in table.columns
        if column.name not in there.get(table.name, ())
    ]
    if missing:
        examples = ", ".join(missing[:3]) + (", ..." if len(missing) > 3 else "")
        hint = "it was made by another version: `afterturn export` with that version, `afterturn import` into a new one"
        yield failed("catalog tables", f"migration {migration}, and {examples} are not there", hint)
        return
    if unused := left_over(engine):
        names = ", ".join(item.name for item in unused)
        hint = "run `afterturn migrate --contract` once no process of an older version runs: it looks itself"
        yield warning("catalog tables", f"they have what only older versions need: {names}", hint)
    with engine.connect() as connection:
        memories = connection.execute(select(func.count()).select_from(tables.memories)).scalar_one()
    newer = "" if migration == HEAD else f", of a newer version: this one knows {HEAD}, and its tables are among them"
    yield fine("catalog tables", f"migration {migration}{newer}, {memories} memories")
