"""The subcommands of `afterturn`, all of them imported."""

from __future__ import annotations

from typer import Context
from typer.core import TyperGroup
from typer.main import get_group

from interfaces.cli.main import app


def all_commands() -> TyperGroup:
    """The group of all subcommands."""
    group = get_group(app)
    group.list_commands(Context(group))
    return group
