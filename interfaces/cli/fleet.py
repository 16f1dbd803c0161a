"""The fleet: `run`, `worker`, `beat`, `status`, `migrate`."""

from __future__ import annotations

import ctypes
import signal
import sys
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table

from interfaces.cli.output import JsonOption, console, print_json
from memory.catalog.engine import create_catalog_engine
from memory.catalog.revisions import migrate as migrate_tables
from memory.catalog.revisions import revision
from memory.queue import DEAD_LETTER_QUEUE, INGEST_QUEUE, NIGHTLY_QUEUE, create_celery, open_mailbox
from memory.redis import open_redis
from memory.settings import load_settings
from memory.stores import open_stores

_PING_SECONDS = 1.0
_PR_SET_PDEATHSIG = 1

_EndWithParent = Annotated[bool, typer.Option("--end-with-parent", hidden=True)]


def add_to(app: typer.Typer) -> None:
    for command in (run, worker, beat, status, migrate):
        app.command()(command)


def run(
    file: Annotated[
        Path | None,
        typer.Argument(
            help="JSON lines of turns to feed; a conversation of our own if left out.", exists=True, dir_okay=False
        ),
    ] = None,
    once: Annotated[bool, typer.Option("--once", help="Stop when all turns are processed.")] = False,
) -> None:
    """Start everything on this machine: broker, worker and beat; feed it turns; show what is known. Ctrl-C stops it.

    The exit code is 1 when a line of the file was no turn.
    """
    from interfaces.local.run import run as run_locally

    if not run_locally(load_settings(), file, once=once, console=console):
        raise typer.Exit(1)


def worker(
    queues: Annotated[
        str, typer.Option("--queues", "-Q", help="Queues to work on; scheduled work has one of its own.")
    ] = f"{INGEST_QUEUE},{NIGHTLY_QUEUE}",
    end_with_parent: _EndWithParent = False,
) -> None:
    """Start a worker of the fleet. SIGTERM lets it finish what it has in hand."""
    if end_with_parent:
        _ask_kernel_to_end_with_parent()
    from worker.app import app as celery

    celery.worker_main(["worker", "--queues", queues, "--without-gossip", "--without-mingle"])


def beat(end_with_parent: _EndWithParent = False) -> None:
    """Start the scheduler. More than one may run: one leads, another takes over when it dies."""
    if end_with_parent:
        _ask_kernel_to_end_with_parent()
    from worker.app import app as celery

    celery.start(["beat"])


def _ask_kernel_to_end_with_parent() -> None:
    # A supervisor that is killed cannot stop its children. Linux can do it; elsewhere they have to be ended by hand.
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)


def status(as_json: JsonOption = False) -> None:
    """Show how the fleet is: queues, mailboxes, workers, catalog and index."""
    settings = load_settings()
    redis = open_redis(settings, retries=0)
    redis.ping()
    stores, celery = open_stores(settings), create_celery(settings)
    mailbox = open_mailbox(settings, redis, celery)
    report: dict[str, Any] = {
        "broker": settings.broker_shown,
        "queues": {name: redis.llen(name) for name in (INGEST_QUEUE, NIGHTLY_QUEUE, DEAD_LETTER_QUEUE)},
        "pending_turns": mailbox.pending_turns(),
        "subjects_with_pending_turns": mailbox.dirty_subjects(),
        "workers": sorted(celery.control.inspect(timeout=_PING_SECONDS).ping() or {}),
        "turns": {outcome.value: count for outcome, count in stores.catalog.count_turns().items()},
        "memories": {state.value: count for state, count in stores.catalog.count_memories().items()},
        "indexed": stores.index.count(),
        "waiting_for_the_index": stores.catalog.count_index_jobs(),
    }
    stores.close()
    redis.close()
    if as_json:
        print_json(report)
        return
    table = Table(show_header=False)
    table.add_column(style="dim")
    table.add_column()
    for name, value in report.items():
        table.add_row(name.replace("_", " "), _shown(value))
    console.print(table)
    if not report["workers"]:
        console.print("no worker answers: start one with `afterturn worker`", style="yellow")


def _shown(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} {count}" for name, count in value.items()) or "none"
    if isinstance(value, list):
        return ", ".join(value) or "none"
    return str(value)


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
