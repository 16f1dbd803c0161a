"""Legal holds: `holds list`, `set`, `lift`."""

from __future__ import annotations

import uuid
from collections import defaultdict
from collections.abc import Sequence
from contextlib import closing
from datetime import UTC, datetime
from typing import Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from interfaces.cli.arguments import MOST_ROWS, ByOption, JsonOption, TenantOption, UserOption
from interfaces.cli.knowledge import one_memory
from interfaces.cli.output import console, memory_json, print_json, short
from memory.context import open_memory
from memory.legal_holds import MAX_WHY_CHARS, set_legal_hold
from schema import KeptDocument, Memory, Subject
from schema.settings import load_settings
from stores.catalog import open_catalog

IdsArgument = Annotated[
    list[str] | None, typer.Argument(help="Ids of memories, or the first characters of them.", show_default=False)
]
DocumentsOption = Annotated[
    list[str] | None, typer.Option("--document", help="A document of --user, by its id; may be given several times.")
]
WhyOption = Annotated[
    str, typer.Option("--why", help="For the audit: the case and its number, say; never what a memory says.")
]

app = typer.Typer(
    name="holds",
    help="Legal holds: a memory under one stays with its raw turns, and a document with what it says, whatever time, "
    "its user or an operator does.",
    no_args_is_help=True,
)


@app.command("list")
def list_holds(
    user: UserOption = None,
    tenant: TenantOption = "default",
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, max=MOST_ROWS, help="How many to show at most.")] = 1000,
    as_json: JsonOption = False,
) -> None:
    """List the memories and documents under legal hold; of all tenants unless a user is named."""
    whose = Subject(tenant_id=tenant, subject_id=user) if user else None
    with closing(open_catalog(load_settings(), makes_catalog=False)) as catalog:
        memories = catalog.legal_holds(whose, limit=limit)
        documents = catalog.documents.under_legal_hold(whose, limit=limit)
    if as_json:
        print_json([*map(memory_json, memories), *map(_document_json, documents)])
    elif memories or documents:
        console.print(_table(memories, documents))
        if memories:
            console.print("`afterturn show ID` says who held a memory and why")
    else:
        console.print("nothing is under legal hold")


@app.command("set")
def set_holds(
    why: WhyOption,
    by: ByOption,
    memories: IdsArgument = None,
    documents: DocumentsOption = None,
    user: UserOption = None,
    tenant: TenantOption = "default",
    as_json: JsonOption = False,
) -> None:
    """Put memories or documents under legal hold: from now on nothing deletes them, and an erasure that would is
    refused."""
    _change(memories or [], _named(documents, user, tenant), why, by, holds=True, as_json=as_json)


@app.command("lift")
def lift_holds(
    why: WhyOption,
    by: ByOption,
    memories: IdsArgument = None,
    documents: DocumentsOption = None,
    user: UserOption = None,
    tenant: TenantOption = "default",
    as_json: JsonOption = False,
) -> None:
    """Lift legal holds: the memories fade, and all may be erased, as any others."""
    _change(memories or [], _named(documents, user, tenant), why, by, holds=False, as_json=as_json)


def _named(documents: Sequence[str] | None, user: str | None, tenant: str) -> tuple[Subject, Sequence[str]] | None:
    if not documents:
        return None
    if user is None:
        raise typer.BadParameter("whose document is it? Name its subject", param_hint="--user")
    return Subject(tenant_id=tenant, subject_id=user), documents


def _change(
    given: Sequence[str],
    documents: tuple[Subject, Sequence[str]] | None,
    why: str,
    by: str,
    *,
    holds: bool,
    as_json: bool,
) -> None:
    if not given and documents is None:
        raise typer.BadParameter("name a memory, or a document with --document")
    if not 0 < len(why.strip()) <= MAX_WHY_CHARS:
        raise typer.BadParameter(f"say in 1 to {MAX_WHY_CHARS} characters why", param_hint="--why")
    with closing(open_memory(load_settings(), makes_catalog=False)) as context:
        ids_of: dict[Subject, set[uuid.UUID]] = defaultdict(set)
        for memory in [one_memory(start, context.catalog) for start in given]:
            ids_of[memory.subject].add(memory.id)
        of_documents = dict([documents]) if documents else {}
        changed = [
            set_legal_hold(
                subject,
                ids_of[subject],
                context,
                document_ids=of_documents.get(subject, ()),
                why=why.strip(),
                by=by,
                now=datetime.now(UTC),
                holds=holds,
            )
            for subject in ids_of.keys() | of_documents.keys()
        ]
    memories = [memory.id for each in changed for memory in each.memories]
    held = [document.document_id for each in changed for document in each.documents]
    if as_json:
        print_json({"held" if holds else "lifted": [str(id_) for id_ in memories], "documents": held})
        return
    state = "under legal hold" if holds else "under legal hold no longer"
    for id_ in memories:
        console.print(f"{short(id_)}: {state}")
    for document_id in held:
        console.print(Text(f"{document_id}: {state}"))
    if not memories and not held:
        console.print(f"nothing to do: {'all of them were' if holds else 'none of them was'} under legal hold")


def _document_json(document: KeptDocument) -> dict[str, Any]:
    shown = {"tenant_id", "subject_id", "document_id", "title", "legal_hold"}
    return document.model_dump(mode="json", include=shown)


def _table(memories: Sequence[Memory], documents: Sequence[KeptDocument]) -> Table:
    table = Table(expand=True)
    table.add_column("id", no_wrap=True, style="cyan")
    table.add_column("whose", no_wrap=True)
    table.add_column("status", no_wrap=True)
    table.add_column("summary", ratio=1)
    for memory in memories:
        whose = f"{memory.subject_id} (tenant {memory.tenant_id})"
        table.add_row(short(memory.id), Text(whose), memory.status.value, Text(memory.summary))
    for document in documents:
        whose = f"{document.subject_id} (tenant {document.tenant_id})"
        table.add_row(Text(document.document_id), Text(whose), document.state.value, Text(document.title or ""))
    return table
