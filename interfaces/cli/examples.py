"""`examples load`, `search`: how requests are handled, for an orchestrator."""

from __future__ import annotations

from contextlib import closing
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from interfaces.cli.arguments import ByOption, JsonOption, TenantOption
from interfaces.cli.output import console, print_json, print_result
from memory.context import open_memory
from producers.examples import load_examples, read_examples
from recall import open_recall
from recall.examples import FEW, MOST
from schema import Subject
from schema.errors import SettingsError
from schema.settings import Settings, load_settings, variable_of

app = typer.Typer(
    name="examples",
    help="""How requests are handled: what a user might say, and what is done then. Developers keep them in a file, and
    an orchestrator searches them.

    A line of the file: {"input": "How much is left this month?", "actions": ["Budget: sum the month", "Answer"]}
    """,
    no_args_is_help=True,
)


@app.command()
def load(
    file: Annotated[Path, typer.Argument(help="JSON lines, an example a line.", exists=True, dir_okay=False)],
    by: ByOption,
    tenant: TenantOption = "default",
    as_json: JsonOption = False,
) -> None:
    """Put the examples of a file in the place of those that are there. The same again is no work."""
    settings = load_settings()
    whose = Subject(tenant_id=tenant, subject_id=_subject_of(settings))
    examples = read_examples(file)
    with closing(open_memory(settings)) as context:
        outcomes = load_examples(examples, whose, context, by=by, now=datetime.now(UTC))
    counts = ", ".join(f"{count} {outcome}" for outcome, count in sorted(outcomes.items()))
    print_result(dict(outcomes), Text(f"{whose.subject_id}: {counts or 'no examples'}"), as_json=as_json)


@app.command()
def search(
    request: Annotated[str, typer.Argument(help="What a user asks for.")],
    tenant: TenantOption = "default",
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, max=MOST, help="How many to show at most.")] = FEW,
    as_json: JsonOption = False,
) -> None:
    """Find the examples that a request is most like."""
    settings = load_settings()
    _subject_of(settings)
    with open_recall(settings) as recall:
        try:
            examples = recall.examples(None, tenant, request, limit=limit)
        except ValueError as error:
            raise typer.BadParameter(str(error)) from error
    if as_json:
        print_json([asdict(example) for example in examples])
        return
    if not examples:
        console.print("no example is like this")
    for example in examples:
        console.print(Text(f"{example.similarity:.2f} {example.input}", style="bold"))
        for number, action in enumerate(example.actions, start=1):
            console.print(Text(f"     {number}. {action}"))


def _subject_of(settings: Settings) -> str:
    if settings.examples is None:
        raise SettingsError(f"{variable_of('examples')} is not set: name the subject that holds the examples")
    return settings.examples
