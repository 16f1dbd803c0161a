"""Brings the catalog's tables to the form that this version writes."""

from __future__ import annotations

from sqlalchemy import Connection, Engine, inspect, text
from sqlalchemy.exc import DBAPIError

from schema.errors import CatalogUnavailable
from stores.catalog.head import HEAD, SCRIPTS
from stores.catalog.writers import Writers
from stores.postgres import LOCK_SECONDS, explain

_MIGRATING = 0x41465452
"""The advisory lock of Postgres under which one process at a time migrates; any number that nobody else takes."""


def revision(engine: Engine) -> str | None:
    """Return the revision of the catalog's tables; None where there are none.

    Raises:
        CatalogUnavailable: the database of a server cannot be used; the message says what to do.
    """
    try:
        with engine.connect() as connection:
            if not inspect(connection).has_table("alembic_version"):
                return None
            return connection.execute(text("SELECT version_num FROM alembic_version")).scalar_one_or_none()
    except DBAPIError as error:
        if engine.dialect.name == "sqlite":
            raise
        raise CatalogUnavailable(explain(error, engine.url)) from error


def migrate(engine: Engine, to: str = HEAD) -> None:
    """Run the migrations that the catalog has not seen, to a revision. Safe to call from several processes at once.

    Raises:
        CatalogUnavailable: the database of a server cannot be used; the message says what to do.
        CatalogOutage: somebody holds a table for longer than `LOCK_SECONDS`; nothing was changed.
    """
    if (revision(engine) or "") >= to:
        return
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(SCRIPTS))
    try:
        with Writers(engine).transaction() as connection:
            if engine.dialect.name == "postgresql":
                _take_turns(connection)
            config.attributes["connection"] = connection
            command.upgrade(config, to)
    except DBAPIError as error:
        if engine.dialect.name == "sqlite":
            raise
        raise CatalogUnavailable(explain(error, engine.url)) from error


def _take_turns(connection: Connection) -> None:
    """Wait until nobody else migrates, however long they do, and let each statement of this transaction take its time:
    an index over all that is known is not built in the seconds that a statement of a worker has."""
    connection.execute(text("SET LOCAL statement_timeout = 0"))
    connection.execute(text("SET LOCAL lock_timeout = 0"))
    connection.execute(text("SELECT pg_advisory_xact_lock(:migrating)"), {"migrating": _MIGRATING})
    # Whoever waits for a table lets nobody else at it: behind a backup of an hour the fleet would stand still so long.
    connection.execute(text(f"SET LOCAL lock_timeout = '{LOCK_SECONDS}s'"))


def check_revision(engine: Engine) -> None:
    """Check that the tables have what this version writes; those of a newer one have that too.

    Raises:
        CatalogUnavailable: they are older, or there are none.
    """
    current = revision(engine)
    if (current or "") < HEAD:
        state = "has no tables yet" if current is None else f"is at revision {current}, this version writes {HEAD}"
        raise CatalogUnavailable(f"the catalog {state}; run `afterturn migrate`")
