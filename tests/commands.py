"""The subcommands of `afterturn`, all of them imported."""

from __future__ import annotations

from functools import cache

from typer import Context
from typer.core import TyperGroup
from typer.main import get_group

from interfaces.cli.main import app


@cache
def all_commands() -> TyperGroup:
    """The group of all subcommands, which takes a tenth of a second to make."""
    group = get_group(app)
    group.list_commands(Context(group))
    return group
