"""Brings the catalog's tables to the form that this version writes."""

from __future__ import annotations

from sqlalchemy import Engine, inspect, text
from sqlalchemy.exc import DBAPIError

from schema.errors import CatalogUnavailable
from stores.catalog.head import HEAD, SCRIPTS
from stores.catalog.writers import Writers
from stores.postgres import explain

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


def migrate(engine: Engine) -> None:
    """Run the migrations that the catalog has not seen. Safe to call from several processes at once.

    Raises:
        CatalogUnavailable: the database of a server cannot be used; the message says what to do.
    """
    if (revision(engine) or "") >= HEAD:
        return
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(SCRIPTS))
    try:
        with Writers(engine).transaction() as connection:
            if engine.dialect.name == "postgresql":
                connection.execute(text("SELECT pg_advisory_xact_lock(:migrating)"), {"migrating": _MIGRATING})
            config.attributes["connection"] = connection
            command.upgrade(config, "head")
    except DBAPIError as error:
        if engine.dialect.name == "sqlite":
            raise
        raise CatalogUnavailable(explain(error, engine.url)) from error


def check_revision(engine: Engine) -> None:
    """Check that the tables have what this version writes; those of a newer one have that too.

    Raises:
        CatalogUnavailable: they are older, or there are none.
    """
    current = revision(engine)
    if (current or "") < HEAD:
        state = "has no tables yet" if current is None else f"is at revision {current}, this version writes {HEAD}"
        raise CatalogUnavailable(f"the catalog {state}; run `afterturn migrate`")
