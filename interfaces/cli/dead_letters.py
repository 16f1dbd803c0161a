"""Turns that could not be processed: `dead-letters list`, `show`, `replay`, `drop`."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import Annotated, Any

import typer
from celery import Celery
from redis import Redis
from rich.panel import Panel
from rich.progress import track
from rich.table import Table
from rich.text import Text

from interfaces.cli.arguments import JsonOption
from interfaces.cli.output import console, errors, print_json, print_result, short
from producers.replay import replay as replay_letter
from schema import utc_iso
from schema.errors import ConflictingTurn, InvalidTurn
from schema.settings import Settings, load_settings
from stores.catalog import open_catalog
from stores.dead_letters import DeadLetter, read_dead_letters, remove_dead_letter
from stores.queue import create_celery, open_mailbox
from stores.redis import open_redis

IdsArgument = Annotated[list[str] | None, typer.Argument(help="Ids of letters, or the first characters of them.")]
AllOption = Annotated[bool, typer.Option("--all", help="All of them.")]

app = typer.Typer(
    name="dead-letters",
    help="Turns that could not be processed, kept whole with the reason until they are replayed or dropped.",
    no_args_is_help=True,
)


@dataclass(frozen=True)
class _Office:
    """Connections of these commands."""

    settings: Settings
    redis: Redis
    celery: Celery
    letters: list[DeadLetter]


@contextmanager
def _open() -> Iterator[_Office]:
    settings = load_settings()
    with open_redis(settings, retries=0) as redis:
        yield _Office(settings, redis, create_celery(settings), list(read_dead_letters(redis)))


@app.command("list")
def list_letters(as_json: JsonOption = False) -> None:
    """List them, oldest first, without what they say."""
    with _open() as office:
        letters = office.letters
    if as_json:
        print_json([_head(letter) for letter in letters])
        return
    if not letters:
        console.print("no dead letters")
        return
    table = Table(expand=True)
    table.add_column("id", no_wrap=True, style="cyan")
    table.add_column("since", no_wrap=True)
    table.add_column("turn", no_wrap=True)
    table.add_column("reason", ratio=1)
    for letter in letters:
        table.add_row(short(letter.id), utc_iso(letter.at), letter.turn_id or "", Text(letter.reason))
    console.print(table)
    console.print("`afterturn dead-letters show ID`, then `replay` when the cause is mended, or `drop`")


def _head(letter: DeadLetter) -> dict[str, Any]:
    return {"id": letter.id, "turn_id": letter.turn_id, "reason": letter.reason, "at": letter.at}


@app.command()
def show(
    letter: Annotated[str, typer.Argument(help="The letter's id, or its start.")], as_json: JsonOption = False
) -> None:
    """Show one whole: the reason, and the turn as it came."""
    with _open() as office:
        [chosen] = _chosen(office.letters, [letter], everything=False)
    if as_json:
        print_json(_head(chosen) | {"turn": chosen.turn})
        return
    turn_text = chosen.turn if isinstance(chosen.turn, str) else json.dumps(chosen.turn, ensure_ascii=False, indent=2)
    console.print(
        Panel(Text(turn_text), title=Text(chosen.reason), title_align="left", subtitle=f"since {utc_iso(chosen.at)}")
    )


@app.command()
def replay(ids: IdsArgument = None, everything: AllOption = False, as_json: JsonOption = False) -> None:
    """Enqueue them again. A letter that still cannot go in stays, and the exit code is 1."""
    stayed: list[tuple[DeadLetter, str]] = []
    with _open() as office:
        chosen = _chosen(office.letters, ids, everything=everything)
        mailbox = open_mailbox(office.settings, office.redis, office.celery)
        with closing(open_catalog(office.settings, makes_catalog=False)) as catalog:
            for letter in track(chosen, "replaying", console=errors, transient=True, disable=as_json):
                try:
                    replay_letter(
                        letter,
                        catalog=catalog,
                        mailbox=mailbox,
                        redis=office.redis,
                        celery=office.celery,
                        look_after=office.settings.sweep_seconds,
                    )
                except (InvalidTurn, ConflictingTurn) as error:
                    stayed.append((letter, str(error)))
    if as_json:
        print_json(
            {
                "replayed": len(chosen) - len(stayed),
                "stayed": [_head(letter) | {"because": why} for letter, why in stayed],
            }
        )
    else:
        for letter, why in stayed:
            errors.print(Text(f"{short(letter.id)} stays: {why}", style="red"), soft_wrap=True)
        console.print(f"{len(chosen) - len(stayed)} replayed, {len(stayed)} stay")
    if stayed:
        raise typer.Exit(1)


@app.command()
def drop(
    ids: IdsArgument = None,
    everything: AllOption = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Throw them away for good."""
    with _open() as office:
        chosen = _chosen(office.letters, ids, everything=everything)
        if not (yes or as_json):
            typer.confirm(f"Throw {len(chosen)} dead letters away for good?", abort=True, err=True)
        dropped = sum(remove_dead_letter(office.redis, letter) for letter in chosen)
    print_result({"dropped": dropped}, f"{dropped} dropped", as_json=as_json)


def _chosen(letters: Sequence[DeadLetter], ids: Sequence[str] | None, *, everything: bool) -> list[DeadLetter]:
    if everything:
        return list(letters)
    if not ids:
        raise typer.BadParameter("name letters by their ids (`afterturn dead-letters list`), or say --all")
    chosen = []
    for start in ids:
        matching = [letter for letter in letters if letter.id.startswith(start)]
        if len(matching) != 1:
            description = "several letters" if matching else "no letter"
            raise typer.BadParameter(f"{start!r} names {description}; `afterturn dead-letters list` has the ids")
        chosen += matching
    return chosen
