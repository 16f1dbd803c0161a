"""The catalog's tables: `migrate`."""

from __future__ import annotations

from interfaces.cli.arguments import JsonOption
from interfaces.cli.output import console, print_json
from schema.settings import load_settings
from stores.catalog.engine import create_catalog_engine
from stores.catalog.revisions import migrate as migrate_tables
from stores.catalog.revisions import revision


def migrate(as_json: JsonOption = False) -> None:
    """Bring the catalog's tables to this version. The embedded catalog does so by itself."""
    engine = create_catalog_engine(load_settings().effective_catalog_url)
    before = revision(engine)
    migrate_tables(engine)
    after = revision(engine)
    if as_json:
        print_json({"before": before, "after": after})
    else:
        console.print(f"catalog tables: {before or 'none'} -> {after}")
