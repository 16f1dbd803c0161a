"""Drop what older versions left in the catalog's tables, while the fleet works, once no process of them runs."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from sqlalchemy import Engine

from interfaces.fleet_report import read_workers
from schema.errors import ContractionRefused
from schema.settings import Settings
from stores.catalog.contractions import UNUSED, Unused, announce, drop, left_over, older_sessions, withdraw

_PATIENCE_SECONDS: Final = 3.0


def contract(settings: Settings, engine: Engine, now: datetime, unused: Sequence[Unused] = UNUSED) -> list[str]:
    """Drop what no version needs any more that runs, and return its names.

    First no older process may start any more; then it is looked which run; only then something goes.

    Raises:
        ContractionRefused: older processes run; the message names them, nothing was dropped, and they may go on.
        BrokerFailed: it cannot be known which workers run.
    """
    going = left_over(engine, unused)
    if not going:
        return []
    names = [contraction.name for contraction in going]
    announce(engine, going, now)
    try:
        older = older_processes(settings, engine, max(contraction.needs for contraction in going))
        if not older:
            drop(engine, going)
    finally:
        withdraw(engine, left_over(engine, going))
    if older:
        raise ContractionRefused(
            f"older processes run that may need {', '.join(names)}: {'; '.join(older)}. Update or stop them, and try "
            "again"
        )
    return names


def older_processes(settings: Settings, engine: Engine, needs: str) -> list[str]:
    """Return which processes do not know a revision: workers by their names, and whoever else is connected to a
    Postgres by its sessions. Those on an embedded catalog that are no workers are not known.

    Raises:
        BrokerFailed: the broker does not answer.
    """
    workers = [
        f"worker {worker['name']} ({worker.get('revision') or 'a version before 0019'})"
        for worker in read_workers(settings, _PATIENCE_SECONDS)["workers"]
        if str(worker.get("revision") or "") < needs
    ]
    return [*workers, *older_sessions(engine, needs)]
