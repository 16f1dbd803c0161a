"""Turns in: `ingest`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.progress import Progress
from rich.text import Text

from interfaces.cli.output import JsonOption, console, errors, print_json
from interfaces.turn_file import BadLine, read_turns
from memory.settings import load_settings
from producers import Appended, ConflictingTurn, Producer


def add_to(app: typer.Typer) -> None:
    app.command()(ingest)


def ingest(
    file: Annotated[Path, typer.Argument(help="JSON lines, one turn a line.", exists=True, dir_okay=False)],
    as_json: JsonOption = False,
) -> None:
    """Enqueue every turn of a file.

    A line that is no turn is reported with its number and skipped; the rest go in, and the exit code is 1. Turns that
    were enqueued before are no work: the same file may be ingested again.
    """
    producer = Producer(load_settings())
    counts = dict.fromkeys(Appended, 0)
    bad: list[BadLine] = []
    with Progress(console=errors, transient=True, disable=as_json) as progress:
        task = progress.add_task("enqueuing", total=_count_lines(file))
        for number, turn in read_turns(file):
            if isinstance(turn, BadLine):
                bad.append(turn)
            else:
                try:
                    counts[producer.enqueue(turn)] += 1
                except ConflictingTurn as error:
                    bad.append(BadLine(number, str(error)))
            progress.update(task, completed=number)
    if as_json:
        print_json(
            {
                "enqueued": counts[Appended.ADDED],
                "waiting_already": counts[Appended.PENDING],
                "processed_already": counts[Appended.DONE],
                "bad_lines": [{"line": line.number, "reason": line.reason} for line in bad],
            }
        )
    else:
        report_bad_lines(bad)
        console.print(
            f"{counts[Appended.ADDED]} enqueued, {counts[Appended.PENDING]} waiting already, "
            f"{counts[Appended.DONE]} processed already, {len(bad)} bad lines skipped"
        )
    if bad:
        raise typer.Exit(1)


def _count_lines(file: Path) -> int:
    with file.open("rb") as lines:
        return sum(1 for _ in lines)


def report_bad_lines(bad: list[BadLine]) -> None:
    """Say on standard error which lines were skipped and why."""
    for line in bad:
        errors.print(Text(f"line {line.number}: {line.reason}", style="red"), soft_wrap=True)
