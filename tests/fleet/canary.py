"""Breaks a promise of the product on purpose, one at a time, in a copy of it, and sees the tests fail.

A mutation that no test notices is a promise that nobody keeps watch over: `make canary` names it and fails.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.progress import Progress

from tests.fleet.mutation import Mutation
from tests.fleet.mutations_of_harm import HARM
from tests.fleet.mutations_of_work import WORK

ROOT = Path(__file__).parents[2]
_SECONDS = 900
_ALL_SECONDS = 3_600
"""For all files at once, before any mutation."""
_TOLD_CHARS = 2_000
"""Of what pytest says, from its end."""
_SLOW = ("tests/fleet/", "tests/e2e/")
_WAIT_SECONDS = 40
"""How long a test of the fleet waits for what a mutation may keep from coming."""

MUTATIONS = (*WORK, *HARM)


def main() -> int:
    """Try every mutation, or those whose names have one of the arguments in them; 1 if any survived."""
    mutations = [one for one in MUTATIONS if not sys.argv[1:] or any(part in one.name for part in sys.argv[1:])]
    console = Console()
    if not mutations:
        console.print("no mutation has any of these words in its name", style="red")
        return 1
    console.print("first without any mutation: the tests must pass, or they would notice anything")
    for tests in _unmutated(mutations):
        run = _run(ROOT, tests, _ALL_SECONDS)
        if run.returncode:
            console.print(run.stdout[-_TOLD_CHARS:], markup=False)
            console.print("they fail without a mutation: mend that first", style="red")
            return 1
    survived = []
    with Progress(console=console) as progress:
        task = progress.add_task("", total=len(mutations))
        for mutation in mutations:
            progress.update(task, description=mutation.name)
            if _survives(mutation):
                survived.append(mutation)
                console.print(f"SURVIVED  {mutation.name}", style="red")
            else:
                console.print(f"noticed   {mutation.name}")
            progress.advance(task)
    console.print(f"{len(mutations) - len(survived)} of {len(mutations)} mutations were noticed")
    return 1 if survived else 0


def _unmutated(mutations: Sequence[Mutation]) -> list[Sequence[str]]:
    """What must pass as it is: whole files at once, but of the slow ones only what a mutation asks for."""
    slow = {tuple(mutation.tests) for mutation in mutations if mutation.tests[0].startswith(_SLOW)}
    fast = {test for mutation in mutations for test in mutation.tests if test.endswith(".py")}
    whole = sorted(fast - {tests[0] for tests in slow})
    return [*([whole] if whole else []), *sorted(slow)]


def _survives(mutation: Mutation) -> bool:
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "afterturn"
        shutil.copytree(ROOT, copy, ignore=left_out)
        mutated = copy / mutation.file
        text = mutated.read_text()
        if mutation.before not in text:
            raise LookupError(f"{mutation.file} has changed: mend the mutation {mutation.name!r}")
        mutated.write_text(text.replace(mutation.before, mutation.after, 1))
        return _run(copy, mutation.tests).returncode == 0


def left_out(folder: str, names: list[str]) -> set[str]:
    """Return what a copy does without: environments, caches, and the data of a fleet that ran here, not the tables of a
    room."""
    own = {"data"} if Path(folder) == ROOT else set[str]()
    return own | shutil.ignore_patterns(".venv*", ".git", "*_cache", "__pycache__", "node_modules")(folder, names)


def _run(folder: Path, tests: Sequence[str], seconds: float = _SECONDS) -> subprocess.CompletedProcess[str]:
    """Run tests in a folder; it returns 0 when they pass, 1 when one fails."""
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "--hypothesis-profile=unshrunk", *tests],
        cwd=folder,
        env=os.environ | {"FLEET_WAIT_SECONDS": str(_WAIT_SECONDS)},
        capture_output=True,
        text=True,
        timeout=seconds,
        check=False,
    )
    if run.returncode not in (0, 1):
        told = run.stdout[-_TOLD_CHARS:] + run.stderr[-_TOLD_CHARS:]
        raise RuntimeError(f"{' '.join(tests)} did not run:\n{told}")
    return run


if __name__ == "__main__":
    sys.exit(main())
