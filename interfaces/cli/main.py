"""The command's entry: finds the subcommands and turns known failures into one clear line."""

from __future__ import annotations

import os
import sys
from importlib import import_module
from typing import Any, Final, Literal

import typer
from rich.text import Text
from typer.core import TyperGroup
from typer.main import get_group

from interfaces.cli.output import errors

_MARKUP: Final[Literal["markdown"]] = "markdown"
_COMMANDS: Final = {
    "run": "fleet",
    "serve": "service",
    "mcp": "mcp",
    "page-link": "service",
    "staff-link": "service",
    "ingest": "turns",
    "say": "turns",
    "search": "knowledge",
    "context": "knowledge",
    "memories": "knowledge",
    "show": "knowledge",
    "why": "why",
    "edit": "edits",
    "pin": "edits",
    "unpin": "edits",
    "archive": "edits",
    "restore": "edits",
    "suppress": "edits",
    "unsuppress": "edits",
    "forget": "knowledge",
    "forget-user": "erasing",
    "subject": "subject",
    "reviews": "reviews",
    "holds": "holds",
    "topics": "topics",
    "keys": "keys",
    "members": "members",
    "documents": "documents",
    "examples": "examples",
    "webhooks": "webhooks",
    "graph": "graph",
    "take-apart": "erasing",
    "worker": "fleet",
    "beat": "fleet",
    "status": "status",
    "doctor": "doctor",
    "settings": "configuration",
    "costs": "costs",
    "nights": "nights",
    "night": "nights",
    "dead-letters": "dead_letters",
    "migrate": "migration",
    "backup": "backups",
    "restore-backup": "backups",
    "reindex": "moving",
    "export": "moving",
    "import": "moving",
}
"""The module of this package that adds each command, in the order in which help lists them."""


class _ImportedWhenCalled(TyperGroup):
    """Commands whose modules are imported when they are called or listed: all of them together take two seconds."""

    def list_commands(self, ctx: Any) -> list[str]:
        for module in dict.fromkeys(_COMMANDS.values()):
            self._import(module)
        return sorted(super().list_commands(ctx), key=list(_COMMANDS).index)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if cmd_name in _COMMANDS:
            self._import(_COMMANDS[cmd_name])
        else:
            # Whoever mistyped one is told which are like it.
            self.list_commands(ctx)
        return super().get_command(ctx, cmd_name)

    def _import(self, module: str) -> None:
        of_module = typer.Typer(rich_markup_mode=_MARKUP)
        import_module(f"interfaces.cli.{module}").add_to(of_module)
        self.commands.update(get_group(of_module).commands)


app = typer.Typer(
    name="afterturn",
    cls=_ImportedWhenCalled,
    no_args_is_help=True,
    rich_markup_mode=_MARKUP,
    pretty_exceptions_show_locals=False,
)


@app.callback()
def afterturn() -> None:
    """Run the cold path of an assistant's long-term memory.

    A chat backend enqueues turns; the fleet (`afterturn worker`, `afterturn beat`) remembers what is worth it.
    `afterturn run` starts everything on one machine. Settings are environment variables: `afterturn settings`.
    """


def main() -> None:
    """Run the command. A known failure is one line on standard error and exit code 2, or 1 where it may pass."""
    # What is written here is what people said: only the account that runs the fleet reads it.
    os.umask(0o077)
    try:
        app()
    except Exception as failure:
        from schema.errors import AfterturnError, exit_code_of

        if not isinstance(failure, AfterturnError):
            raise
        errors.print(Text(f"afterturn: {failure}", style="red"), soft_wrap=True)
        sys.exit(exit_code_of(failure))
