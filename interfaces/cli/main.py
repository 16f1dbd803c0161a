"""The command's entry: finds the subcommands and turns known failures into one clear line."""

from __future__ import annotations

import os
import sys
from importlib import import_module
from importlib.metadata import version
from typing import Annotated, Any, Final, Literal

import typer
from rich.text import Text
from typer.core import TyperGroup
from typer.main import get_group

from interfaces.cli.output import errors, harmless

_MARKUP: Final[Literal["markdown"]] = "markdown"
_PANELS: Final = {
    "Start": {
        "run": "fleet:run",
        "worker": "fleet:worker",
        "beat": "fleet:beat",
        "serve": "service:serve",
        "mcp": "mcp:mcp",
        "page-link": "service:page_link",
        "staff-link": "service:staff_link",
    },
    "Turns in": {"say": "turns:say", "ingest": "turns:ingest", "why": "why:why", "dead-letters": "dead_letters:app"},
    "What is known": {
        "memories": "knowledge:memories",
        "search": "knowledge:search",
        "context": "knowledge:context",
        "show": "knowledge:show",
        "graph": "graph:graph",
        "topics": "topics:topics",
        "documents": "documents:app",
        "examples": "examples:app",
    },
    "Change it": {
        "edit": "edits:edit",
        "pin": "edits:pin",
        "unpin": "edits:unpin",
        "archive": "edits:archive",
        "restore": "edits:restore",
        "suppress": "edits:suppress",
        "unsuppress": "edits:unsuppress",
        "take-apart": "erasing:take_apart",
        "reviews": "reviews:app",
        "subject": "subject:app",
    },
    "Erase and keep": {"forget": "knowledge:forget", "forget-user": "erasing:forget_user", "holds": "holds:app"},
    "Who may": {"keys": "keys:app", "members": "members:app", "webhooks": "webhooks:app"},
    "Look after the fleet": {
        "status": "status:status",
        "doctor": "doctor:doctor",
        "settings": "configuration:settings",
        "nights": "nights:nights",
        "night": "nights:night",
        "costs": "costs:costs",
    },
    "Move and keep safe": {
        "backup": "backups:backup",
        "restore-backup": "backups:restore_backup",
        "reindex": "moving:reindex",
        "export": "moving:export",
        "import": "moving:import_",
        "migrate": "migration:migrate",
    },
}
"""Panels of the help, in its order, and where in this package each command is: a function or a Typer of its own."""
_COMMANDS: Final = {command: location for commands in _PANELS.values() for command, location in commands.items()}
_PANEL_OF: Final = {command: panel for panel, commands in _PANELS.items() for command in commands}


class _ImportedWhenCalled(TyperGroup):
    """Commands whose modules are imported when they are called or listed: all of them together take two seconds."""

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002
        for name in _COMMANDS:
            self._import(name)
        return list(_COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if cmd_name in _COMMANDS:
            self._import(cmd_name)
        else:
            # Whoever mistyped one is told which are like it.
            self.list_commands(ctx)
        return super().get_command(ctx, cmd_name)

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except typer.TyperException as error:
            # Typer prints it by a console of its own, and it may name what users called themselves.
            error.message = harmless(error.message)
            raise

    def _import(self, name: str) -> None:
        module, _, attribute = _COMMANDS[name].partition(":")
        command = getattr(import_module(f"interfaces.cli.{module}"), attribute)
        alone = typer.Typer(rich_markup_mode=_MARKUP)
        if isinstance(command, typer.Typer):
            alone.add_typer(command, name=name, rich_help_panel=_PANEL_OF[name])
        else:
            alone.command(name, rich_help_panel=_PANEL_OF[name])(command)
        self.commands.update(get_group(alone).commands)


app = typer.Typer(
    name="afterturn",
    cls=_ImportedWhenCalled,
    no_args_is_help=True,
    rich_markup_mode=_MARKUP,
    pretty_exceptions_show_locals=False,
)


def _print_version(is_asked: bool) -> None:
    if is_asked:
        sys.stdout.write(f"afterturn {version('afterturn')}\n")
        raise typer.Exit


@app.callback()
def afterturn(
    _version: Annotated[
        bool, typer.Option("--version", help="Print the version and exit.", is_eager=True, callback=_print_version)
    ] = False,
) -> None:
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
