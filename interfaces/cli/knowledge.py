"""Read and erase memories: `search`, `context`, `memories`, `show`, `forget`."""

from __future__ import annotations

from contextlib import closing
from datetime import UTC, datetime
from typing import Annotated, Final

import typer
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from interfaces.cli.arguments import MOST_ROWS, JsonOption, TenantOption, UserArgument
from interfaces.cli.output import (
    console,
    errors,
    grid,
    memory_json,
    memory_table,
    print_json,
    print_result,
    short,
    standing,
)
from memory.context import open_memory
from memory.erasure.memories import erase_memories
from memory.rights import OPERATOR
from recall import Hit, open_recall
from schema import AuditEntry, Memory, Status, Subject, Turn, utc_iso
from schema.settings import load_settings
from stores.catalog import Catalog, open_catalog

IdArgument = Annotated[str, typer.Argument(help="A memory's id, or the first characters of it.")]
_STAYS_IN_BROKER_FILE: Final = (
    "the broker's append-only file holds the turn that it came of until the broker writes that anew: by default when "
    "it has grown to twice its size and 64 MB, or at once on `redis-cli BGREWRITEAOF`"
)


def search(
    user: UserArgument,
    query: Annotated[str, typer.Argument(help="What to look for, in plain words.")],
    tenant: TenantOption = "default",
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, max=100, help="How many to show at most.")] = 10,
    as_json: JsonOption = False,
) -> None:
    """Find what is known about a user by meaning, best first."""
    subject = Subject(tenant_id=tenant, subject_id=user)
    with open_recall(load_settings()) as recall:
        try:
            hits = recall.search(None, [subject], query, limit=limit)
        except ValueError as error:
            raise typer.BadParameter(str(error)) from error
    print_result(
        [{"score": f.score, "similarity": f.similarity, "memory": memory_json(f.memory)} for f in hits],
        search_table(query, hits) if hits else f"nothing is known about {user} (tenant {tenant}) that answers this",
        as_json=as_json,
    )


def context(
    user: UserArgument,
    question: Annotated[str, typer.Argument(help="What the user asks the assistant.")],
    tenant: TenantOption = "default",
    tokens: Annotated[int, typer.Option("--tokens", min=50, help="How long it may be.")] = 600,
    bullets: Annotated[int | None, typer.Option(min=1, max=20, help="So many lines alone, for a supervisor.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Print what a prompt would be given of what is known about a user: cited, dated, within a budget."""
    with open_recall(load_settings()) as recall:
        subject = Subject(tenant_id=tenant, subject_id=user)
        block = recall.context(None, [subject], question, budget_tokens=tokens, bullets=bullets)
    value = {"text": block.text, "used": block.used, "etag": block.etag, "tokens": block.tokens}
    nothing = f"nothing is known about {user} (tenant {tenant}) that fits"
    print_result(value, Text(block.text) if block.text else nothing, as_json=as_json, soft_wrap=bool(block.text))


def search_table(query: str, hits: list[Hit]) -> Table:
    """Return what a search found, for people."""
    table = Table(title=f"Search: {query}", title_justify="left", expand=True)
    table.add_column("score", justify="right", no_wrap=True)
    table.add_column("similarity", justify="right", no_wrap=True)
    table.add_column("id", no_wrap=True, style="cyan")
    table.add_column("summary", ratio=1)
    for hit in hits:
        table.add_row(f"{hit.score:.2f}", f"{hit.similarity:.2f}", short(hit.memory.id), Text(hit.memory.summary))
    return table


def memories(
    user: UserArgument,
    tenant: TenantOption = "default",
    everything: Annotated[
        bool, typer.Option("--all", "-a", help="Superseded and archived ones too, not only what holds now.")
    ] = False,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, max=MOST_ROWS, help="How many to show at most.")] = 200,
    as_json: JsonOption = False,
) -> None:
    """List what is known about a user, latest first."""
    subject = Subject(tenant_id=tenant, subject_id=user)
    with closing(open_catalog(load_settings(), makes_catalog=False)) as catalog:
        listed = catalog.list_memories(subject, statuses=tuple(Status) if everything else (Status.ACTIVE,), limit=limit)
    print_result(
        [memory_json(memory) for memory in listed],
        memory_table(subject, listed) if listed else f"nothing is known about {user} (tenant {tenant}) yet",
        as_json=as_json,
    )


def show(memory: IdArgument, as_json: JsonOption = False) -> None:
    """Show one memory: what it says, the turns that it came from, and all that was ever done to it."""
    with closing(open_catalog(load_settings(), makes_catalog=False)) as catalog:
        chosen = one_memory(memory, catalog)
        sources = catalog.sources(chosen.subject, chosen.source_turn_ids)
        audit = catalog.audit_of(chosen.subject, chosen.id)
    if as_json:
        print_json(
            {
                "memory": memory_json(chosen),
                "sources": [turn.model_dump(mode="json", exclude_none=True) for turn in sources],
                "audit": [entry.model_dump(mode="json") for entry in audit],
            }
        )
        return
    console.print(_details(chosen))
    for turn in sources:
        console.print(_source(turn))
    console.print(_audit_table(audit))


def one_memory(given: str, catalog: Catalog) -> Memory:
    """Return the memory that a person names by its id or the start of it.

    Raises:
        typer.BadParameter: it names none, or several.
    """
    try:
        ids = catalog.ids_like(given)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from error
    if not ids:
        raise typer.BadParameter(f"there is no memory {given!r}; `afterturn memories USER` lists the ids")
    if len(ids) > 1:
        raise typer.BadParameter(f"{given!r} begins several ids: give more of it ({', '.join(map(str, ids[:5]))} ...)")
    memory = catalog.memory(ids[0])
    if memory is None:
        raise typer.BadParameter(f"memory {ids[0]} was deleted just now")
    return memory


def _details(memory: Memory) -> Panel:
    rows = {
        "id": str(memory.id),
        "whose": f"{memory.subject_id} (tenant {memory.tenant_id})",
        "type": f"{memory.type.value}, {memory.kind.value}, {memory.category}",
        "status": f"{standing(memory)}, under legal hold" if memory.legal_hold else standing(memory),
        "when": utc_iso(memory.occurred_at),
        "written": f"{utc_iso(memory.created_at)}, last changed {utc_iso(memory.updated_at)}",
        "importance": f"{memory.importance:.2f} (trust {memory.trust_score:.2f}, confidence {memory.confidence:.2f})",
        "feeling": f"{memory.valence.value}, {memory.intensity:.2f}",
        "tags": ", ".join(memory.tags),
        "entities": ", ".join(f"{entity.text} ({entity.type})" for entity in memory.entities),
        "facts": "; ".join(f"{fact.entity} {fact.verb} {fact.object}" for fact in memory.facts),
        "attachments": ", ".join(f"{pointer.uri} ({pointer.media_type})" for pointer in memory.attachments),
        "supersedes": ", ".join(map(str, memory.supersedes)),
        "superseded by": str(memory.superseded_by or ""),
        "related": ", ".join(map(short, memory.related_ids)),
        "rules": memory.policy_version,
    }
    return Panel(grid(rows), title=Text(memory.summary, style="bold"), title_align="left")


def _source(turn: Turn) -> Panel:
    lines = [Text.assemble((f"{m.name or m.role}: ", "bold"), m.content or "(masked)") for m in turn.messages]
    lines += [Text(f"{name}: {value}", style="dim") for name, value in turn.metadata.items()]
    spoken = Text("\n").join(lines)
    return Panel(spoken, title=Text(f"came from turn {turn.turn_id}, {utc_iso(turn.occurred_at)}"), title_align="left")


def _audit_table(audit: list[AuditEntry]) -> Table:
    table = Table(title="What was done to it", title_justify="left")
    table.add_column("when (UTC)", no_wrap=True)
    for column in ("what", "by", "why", "rules"):
        table.add_column(column)
    for entry in audit:
        by = " ".join(str(who) for who in (entry.by, *map(entry.details.get, ("model", "prompt_version"))) if who)
        at = entry.at.astimezone(UTC)
        table.add_row(f"{at:%Y-%m-%d %H:%M:%S}", entry.action.value, by, entry.reason, entry.policy_version)
    return table


def forget(
    memory: IdArgument,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Erase one memory for good: its text, its vector, and the raw turns that nothing else needs.

    An audit line without content stays; so does, in the broker's append-only file, the turn as it came, until the
    broker writes that anew. `forget-user` has it do so at once, and waits for it.
    """
    with closing(open_memory(load_settings(), makes_catalog=False)) as context:
        chosen = one_memory(memory, context.catalog)
        if not (yes or as_json):
            errors.print(Text(chosen.summary))
            typer.confirm("Forget this for good?", abort=True, err=True)
        erase_memories(
            chosen.subject, [chosen.id], context, by=OPERATOR, reason="forgotten by command", now=datetime.now(UTC)
        )
    print_result({"forgotten": str(chosen.id)}, f"forgotten: {chosen.id}", as_json=as_json)
    errors.print(Text(_STAYS_IN_BROKER_FILE), soft_wrap=True)
