"""How the command prints: tables for people, JSON for programs."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import typer
from rich.table import Table
from rich.text import Text

from interfaces.cli.neutral import neutral_console, neutral_json
from schema import Memory, Status, Subject

console = neutral_console()
errors = neutral_console(stderr=True)

_WIDE = 110
_STATUS_STYLE = {
    Status.ACTIVE: "green",
    Status.PROVISIONAL: "yellow",
    Status.SUPERSEDED: "dim",
    Status.ARCHIVED: "dim",
    Status.DELETED: "red",
}


def print_json(value: Any) -> None:
    """One JSON value on standard output."""
    typer.echo(neutral_json(json.dumps(value, ensure_ascii=False, indent=2, default=str)))


def memory_json(memory: Memory) -> dict[str, Any]:
    return memory.model_dump(mode="json")


def short(id_: object) -> str:
    """Return the start of an id, enough for a person to name it by."""
    return str(id_)[:8]


def memory_table(subject: Subject, memories: Iterable[Memory]) -> Table:
    """Return what is known of a subject, for people; the finer columns only where the terminal is wide enough."""
    wide = console.width >= _WIDE
    table = Table(title=f"What is known about {subject.subject_id}", title_justify="left", expand=True)
    table.add_column("id", no_wrap=True, style="cyan")
    table.add_column("summary", ratio=1)
    table.add_column("when", no_wrap=True)
    table.add_column("status", no_wrap=True)
    if wide:
        for name in ("category", "type", "importance"):
            table.add_column(name, no_wrap=True)
    for memory in memories:
        style = _STATUS_STYLE[memory.status]
        finer = (memory.category, memory.type.value, f"{memory.importance:.2f}") if wide else ()
        table.add_row(
            short(memory.id),
            Text(memory.summary, style="" if memory.status is Status.ACTIVE else style),
            f"{memory.occurred_at:%Y-%m-%d}",
            Text(memory.status.value, style=style),
            *finer,
        )
    return table
