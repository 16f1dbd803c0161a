"""Edit one memory as an operator: `edit`, `pin`, `unpin`, `archive`, `restore`, `suppress`, `unsuppress`."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime
from functools import partial
from typing import Annotated

import typer
from pydantic import ValidationError
from rich.text import Text

import memory.edits as edits
from interfaces.cli.arguments import JsonOption, account
from interfaces.cli.knowledge import IdArgument, one_memory
from interfaces.cli.output import console, memory_json, print_json, short, standing
from memory.context import open_memory
from policies.categories import is_category
from schema import Memory
from schema.settings import load_settings
from schema.wrong_fields import wrong_fields


def edit(
    memory: IdArgument,
    summary: Annotated[str | None, typer.Option(help="What it says from now on.")] = None,
    category: Annotated[str | None, typer.Option(help="Its category.")] = None,
    tag: Annotated[list[str] | None, typer.Option(help="Its tags; give it once for each.")] = None,
    importance: Annotated[float | None, typer.Option(min=0, max=1, help="How important it is.")] = None,
    confidence: Annotated[float | None, typer.Option(min=0, max=1, help="How sure it is; 0 archives it.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Change what a memory says or counts. The audit names the fields, not what they held."""
    categories = load_settings().categories
    if category is not None and not is_category(category, categories):
        raise typer.BadParameter(f"{category!r} is no category; there are {', '.join(categories)}")
    wanted = edits.Edit(summary, category, tuple(tag) if tag else None, importance, confidence)
    if not wanted.fields():
        raise typer.BadParameter("say what to change, such as --summary")
    try:
        _change(memory, partial(edits.edit, wanted=wanted, by_hand=True), as_json=as_json)
    except ValidationError as error:
        raise typer.BadParameter(wrong_fields(error)) from error


def _command(verb: edits.Verb, purpose: str) -> Callable[..., None]:
    def command(memory: IdArgument, as_json: JsonOption = False) -> None:
        _change(memory, partial(edits.apply_verb, verb=verb), as_json=as_json)

    command.__doc__ = purpose
    return command


def _change(start: str, change: Callable[..., Memory], *, as_json: bool) -> None:
    with closing(open_memory(load_settings(), makes_catalog=False)) as context:
        memory = one_memory(start, context.catalog)
        changed = change(None, memory.subject, memory.id, context=context, now=datetime.now(UTC), by=account())
    if as_json:
        print_json(memory_json(changed))
        return
    console.print(Text(f"{short(changed.id)} ({standing(changed)}): {changed.summary}"), soft_wrap=True)


pin = _command("pin", "Keep a memory from fading, and put it first in every context block.")
unpin = _command("unpin", "Let a memory fade again like any other.")
archive = _command("archive", "Take a memory out of what is recalled, and keep it for a while.")
restore = _command("restore", "Recall an archived memory again.")
suppress = _command("suppress", 'Keep a memory and never tell it: "don\'t mention this again".')
unsuppress = _command("unsuppress", "Tell a suppressed memory again.")
