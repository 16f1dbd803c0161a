"""The catalog's tables: `migrate`."""

from __future__ import annotations

from interfaces.cli.arguments import JsonOption
from interfaces.cli.output import print_result
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
    print_result({"before": before, "after": after}, f"catalog tables: {before or 'none'} -> {after}", as_json=as_json)
