"""Carrying memories: `reindex`, `export`, `import`."""

from __future__ import annotations

import os
import sys
from contextlib import AbstractContextManager, closing, nullcontext
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Literal, TextIO

import typer
from rich.progress import Progress

from interfaces.cli.arguments import JsonOption, TenantOption, UserOption, account
from interfaces.cli.output import console, errors, print_json, print_result
from memory.context import open_memory
from memory.embedding import counted
from memory.export import export as export_lines
from memory.export_lines import NotALine
from memory.imports import import_lines
from memory.mem0 import NotMem0, TakenOver, take_over
from memory.reindex import finish as finish_move
from memory.reindex import give_up, regraph, target_of
from memory.reindex import reindex as rebuild
from schema import Subject
from schema.settings import load_settings, variable_of
from stores.graph import RebuildableGraph
from stores.open import Stores, open_stores
from stores.private_files import tighten


def reindex(
    finish: Annotated[
        bool, typer.Option("--finish", help="All workers have the new settings: take over the last writes and end it.")
    ] = False,
    abandon: Annotated[
        bool,
        typer.Option("--give-up", help="End the move that is under way, to whichever index: that is not to be used."),
    ] = False,
    graph: Annotated[
        bool, typer.Option("--graph", help="Fill the graph from the catalog instead, where it is Apache AGE.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Build the index that the settings name from the catalog, while the fleet works on with what it has.

    For a new embedder or index: run this with the new settings and a new AFTERTURN_INDEX_NAME in its environment,
    then start the workers with them, then run it with --finish. Stopped, it goes on where it was. One index is built
    at a time.
    """
    with closing(open_stores(load_settings(), counted, makes_catalog=False)) as stores:
        if graph:
            _fill_graph(stores, as_json=as_json)
            return
        target = target_of(stores)
        if finish:
            late_writes = finish_move(stores)
            ended = f"{target}: took over {late_writes} late writes; the move is ended"
            print_result({"index": target, "caught_up": late_writes}, ended, as_json=as_json)
            return
        if abandon:
            given_up = [job.index for job in stores.catalog.reindex_jobs.under_way()]
            give_up(stores)
            ended = f"given up: {', '.join(given_up) or 'no move was under way'}"
            print_result({"given_up": given_up}, ended, as_json=as_json)
            return
        total = sum(stores.catalog.count_memories().values())
        with Progress(console=errors, transient=True, disable=as_json) as bar:
            task = bar.add_task(f"indexing into {target}", total=total)
            done = rebuild(stores, lambda number: bar.update(task, completed=number))
    what_next = f"{target}: {done} memories. Start the workers with these settings, then: afterturn reindex --finish"
    print_result({"index": target, "memories": done}, what_next, as_json=as_json)


def _fill_graph(stores: Stores, *, as_json: bool) -> None:
    with Progress(console=errors, transient=True, disable=as_json) as bar:
        task = bar.add_task("filling the graph, subject by subject", total=None)
        mended = regraph(stores, lambda number: bar.update(task, completed=number))
    found = "it lies in the catalog's own tables (AFTERTURN_GRAPH=sql), there is nothing to fill"
    if isinstance(stores.graph, RebuildableGraph):
        found = f"the facts of {mended} memories were not as the catalog has them; now all are"
    print_result({"graph": stores.settings.graph, "mended": mended}, f"graph: {found}", as_json=as_json)


def export(
    file: Annotated[Path | None, typer.Argument(help="Where to write; standard output if left out.")] = None,
    user: UserOption = None,
    tenant: TenantOption = "default",
    vectors: Annotated[bool, typer.Option("--vectors", help="With the vectors, for the same embedder.")] = False,
) -> None:
    """Write memories as JSON lines, with the raw turns they came from, and documents. Whoever reads the file reads
    everything."""
    subject = Subject(tenant_id=tenant, subject_id=user) if user else None
    memories, items, documents = 0, 0, 0
    with (
        _written_to(file) as output,
        closing(open_stores(load_settings(), counted, makes_catalog=False)) as stores,
    ):
        for line in export_lines(stores, subject=subject, vectors=vectors):
            output.write(line + "\n")
            memories += line.startswith('{"memory"')
            items += line.startswith('{"item"')
            documents += line.startswith('{"document"')
    errors.print(f"exported {memories} memories, {items} items of the store and {documents} documents")


def _written_to(file: Path | None) -> AbstractContextManager[TextIO]:
    try:
        return open(file, "w", encoding="utf-8", opener=_private) if file else nullcontext(sys.stdout)
    except OSError as error:
        raise typer.BadParameter(f"cannot write {file}: {error.strerror}") from error


def _private(path: str, flags: int) -> int:
    descriptor = os.open(path, flags, mode=0o600)
    tighten(Path(path))
    return descriptor


def import_(
    file: Annotated[Path, typer.Argument(help="An export.", exists=True, dir_okay=False)],
    source: Annotated[
        Literal["afterturn", "mem0"],
        typer.Option("--from", help="What wrote it: mem0's memories are decided on as what is stated here."),
    ] = "afterturn",
    user: Annotated[
        str | None, typer.Option("--user", help="With --from mem0: whose the rows are that name nobody.")
    ] = None,
    tenant: Annotated[str, typer.Option("--tenant", help="With --from mem0: whose users they are.")] = "default",
    as_json: JsonOption = False,
) -> None:
    """Write the memories and documents of an export that are not here yet. What is here stays as it is; run it again
    after a stop."""
    if source == "mem0":
        _import_from_mem0(file, user, tenant, as_json=as_json)
        return
    try:
        with file.open(encoding="utf-8") as lines, closing(open_memory(load_settings())) as context:
            result = import_lines(lines, context, by=account(), now=datetime.now(UTC))
    except (NotALine, UnicodeDecodeError) as error:
        raise typer.BadParameter(f"{error}; what came before it is written") from error
    if as_json:
        print_json(vars(result))
    else:
        console.print(f"imported {result.written} memories; {result.known} were here already")
        if result.refused:
            rules = ", ".join(f"{rule}: {count}" for rule, count in sorted(result.refused_by.items()))
            console.print(f"{result.refused} were left out, which may not be kept ({rules})", soft_wrap=True)
        if result.masked:
            console.print(
                f"{result.masked} of those imported, or their raw turns, had something masked", soft_wrap=True
            )
        if result.refused_items:
            console.print(f"{result.refused_items} items of the store were left out: consent is withdrawn")
        if result.items or result.known_items:
            console.print(f"and {result.items} items of the store; {result.known_items} were here already")
        if result.documents or result.known_documents:
            console.print(
                f"and {result.documents} documents, which the fleet makes searchable; "
                f"{result.known_documents} were here already"
            )
        if result.refused_documents:
            console.print(
                f"{result.refused_documents} documents were left out: their subject has withdrawn consent, or they are "
                f"longer than {variable_of('document_max_bytes')} allows",
                soft_wrap=True,
            )


def _import_from_mem0(file: Path, user: str | None, tenant: str, *, as_json: bool) -> None:
    try:
        text = file.read_text(encoding="utf-8")
        with closing(open_memory(load_settings())) as context, Progress(console=errors, transient=True) as bar:
            task = bar.add_task("remembering", total=None)
            now = datetime.now(UTC)
            taken = take_over(
                text, context, tenant_id=tenant, user_id=user, now=now, done=lambda: bar.update(task, advance=1)
            )
    except (NotMem0, UnicodeDecodeError) as error:
        raise typer.BadParameter(f"{file}: {error}") from error
    print_json(vars(taken)) if as_json else _show(taken)
    if taken.bad:
        raise typer.Exit(2)


def _show(taken: TakenOver) -> None:
    outcomes = ", ".join(f"{count} {outcome}" for outcome, count in sorted(taken.outcomes.items()))
    console.print(f"imported from mem0: {outcomes or 'nothing'}, {len(taken.bad)} not taken")
    for name, count in sorted(taken.left_out.items()):
        console.print(f"  {name} was left out of {count} rows: nothing here is meant by it")
    for row in taken.bad:
        errors.print(f"not taken: {row}")
