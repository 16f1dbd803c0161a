"""The catalog's tables: `migrate`."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated

import typer
from sqlalchemy import Engine

from interfaces.cli.arguments import JsonOption
from interfaces.cli.output import print_result
from schema.settings import Settings, load_settings
from stores.catalog.engine import create_catalog_engine
from stores.catalog.revisions import migrate as migrate_tables
from stores.catalog.revisions import revision


def migrate(
    contract: Annotated[
        bool,
        typer.Option(
            "--contract",
            help="Afterwards drop what only older versions need, if no process of them runs: it says which do.",
        ),
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Bring the catalog's tables to this version. The embedded catalog does so by itself. The fleet may work on."""
    settings = load_settings()
    engine = create_catalog_engine(settings.effective_catalog_url)
    before = revision(engine)
    migrate_tables(engine)
    after = revision(engine)
    dropped = _contracted(settings, engine) if contract else []
    engine.dispose()
    summary = f"catalog tables: {before or 'none'} -> {after}"
    if contract:
        summary += f"; dropped: {', '.join(dropped) or 'nothing, there is nothing that only older versions need'}"
    print_result({"before": before, "after": after, "dropped": dropped}, summary, as_json=as_json)


def _contracted(settings: Settings, engine: Engine) -> list[str]:
    # It asks the workers: Celery is loaded for that alone.
    from interfaces.contracting import contract

    return contract(settings, engine, datetime.now(UTC))
