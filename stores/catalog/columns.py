"""Types, names and index conditions that the catalog's tables share."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, Final

from sqlalchemy import BigInteger, Column, Dialect, Integer, MetaData, String, TypeDecorator, text

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    }
)


class UtcTime(TypeDecorator[datetime]):
    """A moment, as ISO 8601 text in UTC with microseconds.

    SQLite has no type that keeps a zone, and one form for all databases keeps their rows and order alike.
    """

    impl = String(32)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> str | None:  # noqa: ARG002
        return None if value is None else value.astimezone(UTC).isoformat(timespec="microseconds")

    def process_result_value(self, value: Any, dialect: Dialect) -> datetime | None:  # noqa: ARG002
        return None if value is None else datetime.fromisoformat(value)


def identifier(name: str, **options: Any) -> Column[str]:
    return Column(name, String(200), nullable=False, **options)


def subject_columns(**options: Any) -> tuple[Column[str], Column[str]]:
    """Return the columns that say whose a row is."""
    return identifier("tenant_id", **options), identifier("subject_id", **options)


row_id = BigInteger().with_variant(Integer, "sqlite")

STANDING: Final = {
    "sqlite": text("(pinned OR importance >= 0.95 OR json_extract(document, '$.explicit') = 1)"),
    "postgresql": text("(pinned OR importance >= 0.95 OR (document ->> 'explicit') = 'true')"),
}
"""The condition on what stands in every context block, by the database's name: what is pinned, what somebody asked to
be remembered, and what is more important than any kind of memory is by itself. A query must say it in these words to
use the index."""
where_standing: Final[dict[str, Any]] = {f"{database}_where": stands for database, stands in STANDING.items()}
