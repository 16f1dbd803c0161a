"""Legal holds: `holds list`, `set`, `lift`."""

from __future__ import annotations

import uuid
from collections import defaultdict
from collections.abc import Sequence
from contextlib import closing
from datetime import UTC, datetime
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from interfaces.cli.arguments import ByOption, JsonOption, TenantOption, UserOption
from interfaces.cli.knowledge import one_memory
from interfaces.cli.output import console, memory_json, print_json, short
from memory.context import open_memory
from memory.legal_holds import MAX_WHY_CHARS, set_legal_hold
from schema import Memory, Subject
from schema.settings import load_settings
from stores.catalog import open_catalog

IdsArgument = Annotated[list[str], typer.Argument(help="Ids of memories, or the first characters of them.")]
WhyOption = Annotated[
    str, typer.Option("--why", help="For the audit: the case and its number, say; never what a memory says.")
]

app = typer.Typer(
    name="holds",
    help="Legal holds: a memory under one stays with its raw turns, whatever time, its user or an operator does.",
    no_args_is_help=True,
)


def add_to(whole: typer.Typer) -> None:
    whole.add_typer(app)


@app.command("list")
def list_holds(
    user: UserOption = None,
    tenant: TenantOption = "default",
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, help="How many to show at most.")] = 1000,
    as_json: JsonOption = False,
) -> None:
    """List the memories under legal hold; of all tenants unless a user is named."""
    with closing(open_catalog(load_settings(), makes_catalog=False)) as catalog:
        found = catalog.legal_holds(Subject(tenant_id=tenant, subject_id=user) if user else None, limit=limit)
    if as_json:
        print_json([memory_json(memory) for memory in found])
    elif found:
        console.print(_table(found))
        console.print("`afterturn show ID` says who held it and why")
    else:
        console.print("nothing is under legal hold")


@app.command("set")
def set_holds(memories: IdsArgument, why: WhyOption, by: ByOption, as_json: JsonOption = False) -> None:
    """Put memories under legal hold: from now on nothing deletes them, and an erasure that would is refused."""
    _change(memories, why, by, holds=True, as_json=as_json)


@app.command("lift")
def lift_holds(memories: IdsArgument, why: WhyOption, by: ByOption, as_json: JsonOption = False) -> None:
    """Lift legal holds: the memories fade, and may be erased, as any others."""
    _change(memories, why, by, holds=False, as_json=as_json)


def _change(given: Sequence[str], why: str, by: str, *, holds: bool, as_json: bool) -> None:
    if not 0 < len(why.strip()) <= MAX_WHY_CHARS:
        raise typer.BadParameter(f"say in 1 to {MAX_WHY_CHARS} characters why", param_hint="--why")
    changed: list[Memory] = []
    with closing(open_memory(load_settings(), makes_catalog=False)) as context:
        ids_of: dict[Subject, set[uuid.UUID]] = defaultdict(set)
        for memory in [one_memory(start, context.catalog) for start in given]:
            ids_of[memory.subject].add(memory.id)
        for subject, ids in ids_of.items():
            changed += set_legal_hold(
                subject,
                ids,
                context,
                why=why.strip(),
                by=by,
                now=datetime.now(UTC),
                holds=holds,
            )
    if as_json:
        print_json({"held" if holds else "lifted": [str(memory.id) for memory in changed]})
        return
    state = "under legal hold" if holds else "under legal hold no longer"
    for memory in changed:
        console.print(f"{short(memory.id)}: {state}")
    if not changed:
        console.print(f"nothing to do: {'all of them were' if holds else 'none of them was'} under legal hold")


def _table(memories: Sequence[Memory]) -> Table:
    table = Table(expand=True)
    table.add_column("id", no_wrap=True, style="cyan")
    table.add_column("whose", no_wrap=True)
    table.add_column("status", no_wrap=True)
    table.add_column("summary", ratio=1)
    for memory in memories:
        whose = f"{memory.subject_id} (tenant {memory.tenant_id})"
        table.add_row(short(memory.id), Text(whose), memory.status.value, Text(memory.summary))
    return table
