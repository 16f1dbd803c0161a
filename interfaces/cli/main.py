"""The command's entry: finds the subcommands and turns known failures into one clear line."""

from __future__ import annotations

import os
import sys
from importlib import import_module
from typing import Any, Final, Literal

import typer
from rich.text import Text
from typer.core import TyperCommand, TyperGroup
from typer.main import get_group

from interfaces.cli.output import errors

_MARKUP: Final[Literal["markdown"]] = "markdown"
_PANELS: Final = {
    "Start": {
        "run": "fleet",
        "worker": "fleet",
        "beat": "fleet",
        "serve": "service",
        "mcp": "mcp",
        "page-link": "service",
        "staff-link": "service",
    },
    "Turns in": {"say": "turns", "ingest": "turns", "why": "why", "dead-letters": "dead_letters"},
    "What is known": {
        "memories": "knowledge",
        "search": "knowledge",
        "context": "knowledge",
        "show": "knowledge",
        "graph": "graph",
        "topics": "topics",
        "documents": "documents",
        "examples": "examples",
    },
    "Change it": {
        "edit": "edits",
        "pin": "edits",
        "unpin": "edits",
        "archive": "edits",
        "restore": "edits",
        "suppress": "edits",
        "unsuppress": "edits",
        "take-apart": "erasing",
        "reviews": "reviews",
        "subject": "subject",
    },
    "Erase and keep": {"forget": "knowledge", "forget-user": "erasing", "holds": "holds"},
    "Who may": {"keys": "keys", "members": "members", "webhooks": "webhooks"},
    "Look after the fleet": {
        "status": "status",
        "doctor": "doctor",
        "settings": "configuration",
        "nights": "nights",
        "night": "nights",
        "costs": "costs",
    },
    "Move and keep safe": {
        "backup": "backups",
        "restore-backup": "backups",
        "reindex": "moving",
        "export": "moving",
        "import": "moving",
        "migrate": "migration",
    },
}
"""Panels of the help, in its order, and the module of this package that adds each command."""
_MODULES: Final = {command: module for modules in _PANELS.values() for command, module in modules.items()}
_PANEL_OF: Final = {command: panel for panel, modules in _PANELS.items() for command in modules}


class _ImportedWhenCalled(TyperGroup):
    """Commands whose modules are imported when they are called or listed: all of them together take two seconds."""

    def list_commands(self, ctx: Any) -> list[str]:
        for module in dict.fromkeys(_MODULES.values()):
            self._import(module)
        return sorted(super().list_commands(ctx), key=list(_MODULES).index)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if cmd_name in _MODULES:
            self._import(_MODULES[cmd_name])
        else:
            # Whoever mistyped one is told which are like it.
            self.list_commands(ctx)
        return super().get_command(ctx, cmd_name)

    def _import(self, module: str) -> None:
        of_module = typer.Typer(rich_markup_mode=_MARKUP)
        import_module(f"interfaces.cli.{module}").add_to(of_module)
        for name, command in get_group(of_module).commands.items():
            if isinstance(command, TyperCommand | TyperGroup):
                command.rich_help_panel = _PANEL_OF[name]
            self.commands[name] = command


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
