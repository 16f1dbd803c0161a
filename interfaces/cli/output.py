"""Output of the command: tables for people, JSON for programs."""

from __future__ import annotations

import json
import os
import shlex
import sys
from collections.abc import Iterable, Mapping
from operator import attrgetter
from pathlib import Path
from typing import Any

import typer
from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from schema import Memory, Status, Subject
from schema.control_characters import CONTROL_CHARACTERS, escaped_in_json
from schema.urls import without_password


class PlainConsole(Console):
    """Prints what users said as they wrote it: nothing of it is markup, and nothing of it commands the terminal."""

    def __init__(self, *, stderr: bool = False) -> None:
        super().__init__(stderr=stderr, markup=False, emoji=False)

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """Yield the segments of what is printed, control characters in it shown as `\\x1b`."""
        for segment in super().render(renderable, options):
            if segment.control or not CONTROL_CHARACTERS.search(segment.text):
                yield segment
            else:
                yield Segment(harmless(segment.text), segment.style)


def harmless(text: str) -> str:
    """Return a text with the characters shown as `\\x1b` that a terminal would obey."""
    return CONTROL_CHARACTERS.sub(lambda match: repr(match[0])[1:-1], text)


console = PlainConsole()
errors = PlainConsole(stderr=True)

_WIDE = 110
_STATUS_STYLE = {
    Status.ACTIVE: "green",
    Status.PROVISIONAL: "yellow",
    Status.SUPERSEDED: "dim",
    Status.ARCHIVED: "dim",
    Status.DELETED: "red",
}


def own_command() -> str:
    """Return what another shell in this folder calls this command by, with what it sets to find the same fleet."""
    ours = ("AFTERTURN_DATA_DIR", "AFTERTURN_BROKER_URL", "AFTERTURN_CATALOG_URL", "AFTERTURN_HTTP_PORT")
    given = {name: os.environ[name] for name in ours if name in os.environ}
    # What is printed may be read by others, or lie in a log: whoever copies it puts the password in.
    shown = {name: without_password(value) if name.endswith("_URL") else value for name, value in given.items()}
    variables = [f"{name}={shlex.quote(value)}" for name, value in shown.items()]
    command = Path(sys.executable).with_name("afterturn")
    near = command.relative_to(Path.cwd()) if command.is_relative_to(Path.cwd()) else command
    return " ".join((*variables, shlex.quote(str(near))))


def print_json(value: Any) -> None:
    """Write one JSON value on standard output."""
    text = json.dumps(value, ensure_ascii=False, indent=2, default=str)
    typer.echo(escaped_in_json(text))


def print_result(value: Any, shown: RenderableType, *, as_json: bool, soft_wrap: bool = False) -> None:
    """Print a value for programs, or what is shown of it to people."""
    if as_json:
        print_json(value)
    else:
        console.print(shown, soft_wrap=soft_wrap)


def grid(rows: Mapping[str, str]) -> Table:
    """Return names and what each has, a row each; those that have nothing are left out."""
    table = Table.grid(padding=(0, 2))
    table.add_column(style="dim", no_wrap=True)
    table.add_column()
    for name, value in rows.items():
        if value:
            table.add_row(name, Text(value))
    return table


def memory_json(memory: Memory) -> dict[str, Any]:
    return memory.model_dump(mode="json")


def short(id_: object) -> str:
    """Return the start of an id, enough for a person to name it by."""
    return str(id_)[:8]


def standing(memory: Memory) -> str:
    """Return a memory's status, and what else holds of it: "active, pinned"."""
    marks = ("pinned", memory.pinned), ("suppressed", memory.suppressed), ("private", memory.private)
    return ", ".join([memory.status.value, *(name for name, is_so in marks if is_so)])


def memory_table(subject: Subject, memories: Iterable[Memory]) -> Table:
    """Return what is known of a subject, for people, latest first; the finer columns where the terminal is wide."""
    wide = console.width >= _WIDE
    table = Table(title=f"What is known about {subject.subject_id}", title_justify="left", expand=True)
    table.add_column("id", no_wrap=True, style="cyan")
    table.add_column("summary", ratio=1)
    table.add_column("when", no_wrap=True)
    table.add_column("status", no_wrap=True)
    if wide:
        for name in ("category", "type", "importance"):
            table.add_column(name, no_wrap=True)
    for memory in sorted(memories, key=attrgetter("occurred_at"), reverse=True):
        style = _STATUS_STYLE[memory.status]
        finer = (memory.category, memory.type.value, f"{memory.importance:.2f}") if wide else ()
        table.add_row(
            short(memory.id),
            Text(memory.summary, style="" if memory.status is Status.ACTIVE else style),
            f"{memory.occurred_at:%Y-%m-%d}",
            Text(standing(memory), style=style),
            *finer,
        )
    return table
