"""Brings the catalog's tables to the form that this version writes."""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import Engine, inspect, text

from memory.catalog.engine import CatalogUnavailable, Writers

HEAD = "0001"
"""The newest revision in `migrations/versions`."""
_SCRIPTS = Path(__file__).parent / "migrations"


def revision(engine: Engine) -> str | None:
    """The revision of the catalog's tables; None where there are none."""
    with engine.connect() as connection:
        if not inspect(connection).has_table("alembic_version"):
            return None
        return connection.execute(text("SELECT version_num FROM alembic_version")).scalar_one_or_none()


def migrate(engine: Engine) -> None:
    """Run the migrations that the catalog has not seen. Safe to call from several processes at once."""
    if revision(engine) == HEAD:
        return
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(_SCRIPTS))
    with Writers(engine).transaction() as connection:
        config.attributes["connection"] = connection
        command.upgrade(config, "head")


def check_revision(engine: Engine) -> None:
    """Raise CatalogUnavailable where the tables are of another version than this code."""
    found = revision(engine)
    if found != HEAD:
        state = "has no tables yet" if found is None else f"is at revision {found}, this version writes {HEAD}"
        raise CatalogUnavailable(f"the catalog {state}; run `afterturn migrate`")
