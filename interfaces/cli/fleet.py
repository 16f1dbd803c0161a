"""The fleet: `run`, `worker`, `beat`."""

from __future__ import annotations

import ctypes
import faulthandler
import os
import signal
import sys
from pathlib import Path
from typing import Annotated

import typer

from interfaces.cli.output import console
from schema.settings import load_settings
from stores.queue import INGEST_QUEUE, NIGHTLY_QUEUE
from stores.redis import translating

_PR_SET_PDEATHSIG = 1
_NIGHT_NICENESS = 10

EndWithParent = Annotated[bool, typer.Option("--end-with-parent", hidden=True)]


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
    events: Annotated[
        bool, typer.Option("--events", "-E", help="Send task events from the start, for Flower; they cost CPU.")
    ] = False,
    name: Annotated[
        str, typer.Option("--name", "-n", help="Its name in the fleet; several on one host need one each.")
    ] = "celery@%h",
    end_with_parent: EndWithParent = False,
) -> None:
    """Start a worker of the fleet. SIGTERM lets it finish what it has in hand, within AFTERTURN_SHUTDOWN_SECONDS."""
    if unknown := set(queues.split(",")) - {INGEST_QUEUE, NIGHTLY_QUEUE}:
        raise typer.BadParameter(f"{', '.join(sorted(unknown))}: work is on {INGEST_QUEUE} and {NIGHTLY_QUEUE}")
    if end_with_parent:
        ask_kernel_to_end_with_parent()
    # Where native code ends the process, the log has the lines it was called from.
    faulthandler.enable()
    from worker.app import app as celery

    if queues == NIGHTLY_QUEUE:
        # What has a night to itself lets the machine's other processes go first.
        os.nice(_NIGHT_NICENESS)
    arguments = ["worker", "--hostname", name, "--queues", queues, "--without-gossip", "--without-mingle"]
    celery.worker_main([*arguments, "--task-events"] if events else arguments)


def beat(end_with_parent: EndWithParent = False) -> None:
    """Start the scheduler. More than one may run: one leads, another takes over when it dies."""
    if end_with_parent:
        ask_kernel_to_end_with_parent()
    from worker.app import app as celery

    # It sends tasks by their names, and needs nothing of what they import: a second of the processor.
    celery.conf.include = ()
    # A worker tries for ever to connect. Of a beat whose broker goes while it takes the lead, that would make one that
    # neither schedules nor ends.
    celery.conf.broker_connection_max_retries = 1
    with translating(load_settings().broker_shown):
        celery.start(["beat"])


def ask_kernel_to_end_with_parent() -> None:
    """Have this process end when the one that started it does, where the system can."""
    # A supervisor that is killed cannot stop its children. Linux can do it; elsewhere they have to be ended by hand.
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
