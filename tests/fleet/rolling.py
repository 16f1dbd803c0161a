"""A rolling update: workers and beats of an earlier revision and of this checkout, on one Redis and one catalog.

    python -m tests.fleet.rolling --before REVISION

Both versions take turns of the same users while workers of either are killed; at the end everything is counted as in
every test of the fleet: lost, doubled, out of order.
"""

from __future__ import annotations

import signal
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from tests.fleet.broker import Broker
from tests.fleet.fleet import ORACLE, ROOT, Fleet, stop
from tests.fleet.load import names, talk
from tests.fleet.state import Tally, lasting_keys, left_in_mailboxes, tally

_TURNS_A_USER = 20


@contextmanager
def checkout(revision: str, folder: Path) -> Iterator[Path]:
    """Check a revision of this repository out beside it for as long as the block takes."""
    place = folder / "before"
    git = ["git", "-C", str(ROOT), "worktree"]
    subprocess.run([*git, "add", "--quiet", "--detach", str(place), revision], check=True)
    try:
        yield place
    finally:
        subprocess.run([*git, "remove", "--force", str(place)], check=True)


def run(
    before: Annotated[str, typer.Option(help="The revision whose workers are updated.")],
    turns: Annotated[int, typer.Option(help="How many turns are sent in all.")] = 4_000,
    a_second: Annotated[float, typer.Option(help="Turns enqueued a second.")] = 40,
) -> None:
    """Let workers of two versions share one fleet, and count what was lost, doubled, misordered or crossed."""
    console = Console()
    load = talk(names(max(1, turns // _TURNS_A_USER)), _TURNS_A_USER)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name, checkout(before, Path(name)) as old:
        folder = Path(name)
        broker = Broker(folder / "broker")
        fleet = Fleet(broker.url, folder, llm_timeout_seconds=2, **ORACLE)
        for root in (old, ROOT):
            fleet.start("beat", root)
        workers = [fleet.launch_worker(root) for root in (old, ROOT, old, ROOT)]
        fleet.wait_until_ready(workers)
        with fleet.feeding(load, a_second):
            for number, root in enumerate((old, ROOT, old, ROOT)):
                fleet.wait_for_more(len(load) // 6)
                console.print(f"{fleet.processed():6} processed  a worker of {'before' if root == old else 'now'} dies")
                stop(workers[number], signal.SIGKILL)
                fleet.wait_until_ready([fleet.launch_worker(root)])
        fleet.wait_until_idle()
        found, left = tally(fleet), [*left_in_mailboxes(fleet), *lasting_keys(fleet)]
        fleet.close()
        broker.close()
    console.print(found, soft_wrap=True)
    if found != Tally(found.turns) or left:
        console.print(f"not as it must be; left in Redis: {left}", style="red")
        raise typer.Exit(1)


if __name__ == "__main__":
    typer.run(run)
