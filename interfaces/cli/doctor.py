"""`doctor`: check every part, and say how to mend what is broken."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.text import Text

from interfaces.cli.arguments import JsonOption
from interfaces.cli.output import console, print_json
from interfaces.doctor import run_health_checks
from schema.health import HealthCheck, HealthStatus

_SIGNS = {
    HealthStatus.OK: ("✓", "green"),
    HealthStatus.WARNING: ("!", "yellow"),
    HealthStatus.FAILED: ("✗", "red"),
    HealthStatus.SKIPPED: ("-", "dim"),
}


def doctor(
    before_start: Annotated[
        bool,
        typer.Option(
            "--before-start",
            help="No worker and no beat run yet: do not look for them, and make what their start would.",
        ),
    ] = False,
    call_llm: Annotated[
        bool, typer.Option("--call-llm", help="Ask the language model one cheap question; it may cost money.")
    ] = False,
    optimize: Annotated[
        bool,
        typer.Option(
            "--optimize",
            help="Build the HNSW graphs that large users lack (pgvector; takes minutes), tell the index what a move to "
            "it left behind, and have the fleet tell it again of memories that it has otherwise than the catalog.",
        ),
    ] = False,
    tend: Annotated[bool, typer.Option("--tend", hidden=True, help="The former name of --optimize.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Check every part that the settings name, a line each, and say how to mend what is broken.

    With --before-start it makes, like the start of a worker, what is missing in the data folder and the index. The exit
    code is 1 when a check fails.
    """
    checks = run_health_checks(call_llm=call_llm, fleet=not before_start, optimizes=optimize or tend)
    broken = [check for check in checks if check.status is HealthStatus.FAILED]
    if as_json:
        print_json({"ok": not broken, "findings": [_for_json(check) for check in checks]})
    else:
        width = max(len(check.part) for check in checks)
        for check in checks:
            _print(check, width)
        warnings = sum(check.status is HealthStatus.WARNING for check in checks)
        outcome = f"{len(broken)} to mend" if broken else "all works"
        console.print(f"{outcome}{f', {warnings} to look at' if warnings else ''}")
    if broken:
        raise typer.Exit(1)


def _for_json(check: HealthCheck) -> dict[str, str]:
    # The names that scripts read.
    return {"part": check.part, "mark": check.status, "found": check.found, "mend": check.hint}


def _print(check: HealthCheck, width: int) -> None:
    sign, style = _SIGNS[check.status]
    line = Text.assemble(
        (sign, style), f" {check.part:{width}}  ", (check.found, "dim" if check.status is HealthStatus.SKIPPED else "")
    )
    if check.hint:
        line.append(f"\n  {'':{width}}  -> {check.hint}", style=style)
    console.print(line, soft_wrap=True)
