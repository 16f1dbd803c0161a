"""The revision that the code writes is that of the newest migration: with an older one, catalogs would stay behind."""

from __future__ import annotations

from pathlib import Path

from alembic.config import Config
from alembic.script import ScriptDirectory

from stores.catalog.revisions import HEAD

MIGRATIONS = Path(__file__).parents[2] / "stores" / "catalog" / "migrations"


def test_a_catalog_is_brought_to_the_newest_migration_there_is() -> None:
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    assert ScriptDirectory.from_config(config).get_heads() == [HEAD]
