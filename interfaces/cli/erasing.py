"""Erasing much at once, with a proof: `forget-user`; and `take-apart`, which undoes a consolidation."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from interfaces.cli.arguments import JsonOption, TenantOption, UserArgument, identifier
from interfaces.cli.knowledge import IdArgument, one_memory
from interfaces.cli.output import console, errors, memory_json, memory_table, print_json, print_result
from interfaces.erasing import erase
from memory.context import MemoryContext, open_memory
from memory.erasure.proof import Proof, files_with
from memory.rights import OPERATOR
from schema import Scope, Status, Subject
from schema.settings import load_settings
from worker.nights.unconsolidate import NothingToUndo, unconsolidate

_TEXTS = 100_000
_WAIT_SECONDS = 60.0
"""For how long workers are waited for that have the user's turns in hand: some talk on meanwhile."""
_TELLING = 20
"""Characters from which on a text is taken for somebody's own words."""


def forget_user(
    user: UserArgument,
    tenant: TenantOption = "default",
    conversation: Annotated[str | None, typer.Option(help="Only this conversation.", callback=identifier)] = None,
    turn: Annotated[str | None, typer.Option(help="Only this turn, by its id.", callback=identifier)] = None,
    authored: Annotated[
        bool,
        typer.Option(
            "--authored", help="Also the documents in other archives that are personal to them as their author."
        ),
    ] = False,
    check_files: Annotated[
        Path | None,
        typer.Option(help="Read all files of this folder, and say in which the words still stand.", exists=True),
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Erase a user for good, or one conversation or turn, wherever anything of it lies; then look again everywhere.

    What stays is a line in the audit without content, and a tombstone that keeps turns that are still on their way
    from bringing anything back. The exit code is 1 if anything was found again, or is not shown to be gone.
    """
    if conversation and turn:
        raise typer.BadParameter("name a conversation or a turn, not both")
    if authored and (conversation or turn):
        raise typer.BadParameter("documents go with a user, not with a conversation or a turn", param_hint="--authored")
    subject = Subject(tenant_id=tenant, subject_id=user)
    part = f"conversation {conversation} of " if conversation else f"turn {turn} of " if turn else ""
    what = f"{part}{user} (tenant {tenant})"
    if not (yes or as_json):
        typer.confirm(f"Erase {what} for good?", abort=True, err=True)
    context = open_memory(load_settings(), makes_catalog=False)
    try:
        texts = _texts(subject, context) if check_files else set()
        scope = Scope.CONVERSATION if conversation else Scope.TURN if turn else Scope.SUBJECT
        proof = erase(
            subject,
            context,
            by=OPERATOR,
            scope=scope,
            key=conversation or turn or "",
            wait_seconds=_WAIT_SECONDS,
            authored=authored,
        )
        # Of a part of a subject only that may be gone which nothing else says.
        still = _texts(subject, context) if check_files else set()
    finally:
        context.close()
    if check_files:
        file_names = files_with(
            check_files, [text for text in texts if not any(text in kept_text for kept_text in still)]
        )
        proof.left["files"] = len(file_names)
        proof.notes += [
            f"the words still stand in {name}, of this user or of another who said the same" for name in file_names
        ]
    _print(proof, what, as_json=as_json)
    if not proof.is_clean:
        raise typer.Exit(1)


def _texts(subject: Subject, context: MemoryContext) -> set[str]:
    """Return what is kept of what a subject said, in words that are theirs: "ok, thanks" anybody may have said, and
    what the assistant answered it may have answered to others too; it is kept in one place with what it answered."""
    memories = context.catalog.list_memories(subject, statuses=tuple(Status), limit=_TEXTS)
    turns = context.catalog.sources(subject, sorted({id_ for memory in memories for id_ in memory.source_turn_ids}))
    spoken = {message.content for turn in turns for message in turn.messages if message.role == "user"}
    return {text for text in {memory.summary for memory in memories} | spoken if len(text.strip()) >= _TELLING}


def _print(proof: Proof, what: str, *, as_json: bool) -> None:
    if as_json:
        print_json({"removed": proof.removed, "left": proof.left, "notes": proof.notes, "clean": proof.is_clean})
        return
    was_known = any(proof.removed.values()) or not proof.is_clean
    if was_known:
        console.print(_table(proof))
    for note in proof.notes:
        errors.print(Text(note), soft_wrap=True)
    if proof.has_left:
        console.print(Text("something is left: erase again, or see why", "red"))
    elif proof.unshown:
        where = ", ".join(proof.unshown)
        found = f"nothing was found again, but it is not shown to be gone from {where}: erase again, or see why"
        console.print(Text(found, "red"), soft_wrap=True)
    elif was_known:
        console.print("nothing is left")
    else:
        console.print(
            f"nothing was known of {what}, and nothing is left in any place where it might lie", soft_wrap=True
        )


def _table(proof: Proof) -> Table:
    table = Table(title="Erased, and looked for again", title_justify="left")
    for name in ("where", "removed", "still there"):
        table.add_column(name, justify="left" if name == "where" else "right")
    for where in dict.fromkeys((*proof.removed, *proof.left)):
        remaining = proof.left.get(where)
        shown = Text("" if remaining is None else str(remaining), style="red" if remaining else "green")
        table.add_row(where, str(proof.removed.get(where, 0)), shown)
    return table


def take_apart(memory: IdArgument, as_json: JsonOption = False) -> None:
    """Undo a consolidation: its episodes are active again, and no night joins them a second time."""
    context = open_memory(load_settings(), makes_catalog=False)
    try:
        whole = one_memory(memory, context.catalog)
        episodes = unconsolidate(whole.subject, whole.id, context, by=OPERATOR, now=datetime.now(UTC))
    except NothingToUndo as error:
        raise typer.BadParameter(str(error)) from error
    finally:
        context.close()
    print_result([memory_json(episode) for episode in episodes], memory_table(whole.subject, episodes), as_json=as_json)
