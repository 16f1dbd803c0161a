"""Columns and tables that are kept for the sake of older versions, and go once none of them runs: the second half of a
change of tables, of which migrations are the first (docs/decisions/0033-expand-then-contract.md)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from sqlalchemy import Column, Connection, Engine, String, Table, delete, func, inspect, select, text

from schema.errors import CatalogUnavailable
from stores.catalog.columns import UtcTime, metadata
from stores.catalog.head import HEAD
from stores.catalog.statements import insert_new
from stores.catalog.writers import Writers

contractions = Table(
    "contractions",
    metadata,
    Column("name", String(200), primary_key=True),
    Column("needs", String(4), nullable=False),
    Column("at", UtcTime, nullable=False),
)


@dataclass(frozen=True)
class Unused:
    """A column, or with None a whole table, that versions which know the revision `needs` neither read nor write."""

    table: str
    column: str | None
    needs: str

    @property
    def name(self) -> str:
        return f"{self.table}.{self.column}" if self.column else self.table


UNUSED: Final[tuple[Unused, ...]] = ()
"""All that is to go. A line stays for as long as some catalog may have what it names."""


def left_over(engine: Engine, unused: Sequence[Unused] = UNUSED) -> list[Unused]:
    """Return what of the unused is still there."""
    looked = inspect(engine)
    there = set(looked.get_table_names())
    return [
        item
        for item in unused
        if item.table in there
        and (item.column is None or item.column in {column["name"] for column in looked.get_columns(item.table)})
    ]


def require_not_contracted(engine: Engine) -> None:
    """Refuse tables from which something is gone, or is about to go, that this version needs.

    Raises:
        CatalogUnavailable: it is.
    """
    with engine.connect() as connection:
        needed = connection.execute(select(func.max(contractions.c.needs))).scalar_one()
    if needed is not None and needed > HEAD:
        raise CatalogUnavailable(
            f"the catalog's tables are without what older versions need: this one knows revision {HEAD}, and they are "
            f"for versions that know {needed}; start a newer one"
        )


def announce(engine: Engine, going: Sequence[Unused], now: datetime) -> None:
    """Let no older process start from now on. `withdraw` takes that back."""
    rows = [{"name": item.name, "needs": item.needs, "at": now} for item in going]
    with Writers(engine).transaction() as connection:
        connection.execute(insert_new(engine.dialect.name, contractions), rows)


def withdraw(engine: Engine, going: Sequence[Unused]) -> None:
    """Take back that something goes: older processes may start again."""
    with Writers(engine).transaction() as connection:
        connection.execute(delete(contractions).where(contractions.c.name.in_([item.name for item in going])))


def drop(engine: Engine, going: Sequence[Unused]) -> None:
    """Drop what was announced, all or nothing."""
    with Writers(engine).transaction() as connection:
        for item in going:
            _drop(connection, item)


def older_sessions(engine: Engine, needs: str) -> list[str]:
    """Return the sessions of a Postgres that processes hold which do not know a revision, each by the name that it
    gives itself and from where it came. Versions before 0019 say no revision."""
    if engine.dialect.name != "postgresql":
        return []
    sessions = text(
        "SELECT application_name, COALESCE(host(client_addr), 'the server itself'), count(*) FROM pg_stat_activity "
        "WHERE datname = current_database() AND backend_type = 'client backend' "
        "AND application_name LIKE 'afterturn%' GROUP BY 1, 2 ORDER BY 1, 2"
    )
    with engine.connect() as connection:
        rows: Sequence[Any] = connection.execute(sessions).all()
    return [f"{count} sessions of {name} from {host}" for name, host, count in rows if name.partition("/")[2] < needs]


def _drop(connection: Connection, item: Unused) -> None:
    quoted = connection.dialect.identifier_preparer.quote
    if item.column is None:
        connection.execute(text(f"DROP TABLE {quoted(item.table)}"))
    else:
        connection.execute(text(f"ALTER TABLE {quoted(item.table)} DROP COLUMN {quoted(item.column)}"))
