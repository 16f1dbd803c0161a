"""Turns in: `ingest`, `say`."""

from __future__ import annotations

import logging
import shlex
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer
from rich.progress import Progress
from rich.text import Text

from interfaces.cli.arguments import JsonOption, TenantOption, UserArgument
from interfaces.cli.output import console, errors, own_command, print_json
from interfaces.turn_file import BadLine, read_turns
from producers import Accepted, Producer
from schema.errors import ConflictingTurn, InvalidTurn
from schema.settings import Settings, load_settings

_FLUSH_SECONDS = 10.0
"""For how long a broker may take what lies in the spool: a busy machine's takes a turn later than `enqueue` waits."""


def ingest(
    file: Annotated[Path, typer.Argument(help="JSON lines, one turn a line.", exists=True, dir_okay=False)],
    as_json: JsonOption = False,
) -> None:
    """Enqueue every turn of a file.

    In a line `user_id` and `messages` are enough. One that is no turn is reported with its number and its wrong fields
    and skipped; the rest go in, and the exit code is 1. Turns that were enqueued before are no work: the same file may
    be ingested again. What the broker does not take within ten
    seconds stays in this machine's spool for the next producer; the exit code is 1 then too.
    """
    settings = load_settings()
    counts = dict.fromkeys(Accepted, 0)
    bad: list[BadLine] = []
    with (
        _untold_by_log(),
        Producer(settings) as producer,
        Progress(console=errors, transient=True, disable=as_json) as progress,
    ):
        task = progress.add_task("enqueuing", total=_count_lines(file))
        for number, turn in read_turns(file):
            if isinstance(turn, BadLine):
                bad.append(turn)
            else:
                try:
                    counts[producer.enqueue(turn)] += 1
                except (ConflictingTurn, InvalidTurn) as error:
                    bad.append(BadLine(number, str(error)))
            progress.update(task, completed=number)
        spooled = producer.flush(_FLUSH_SECONDS)
    enqueued = counts[Accepted.ADDED] + counts[Accepted.SPOOLED]
    if as_json:
        print_json(
            {
                "enqueued": enqueued,
                "waiting_already": counts[Accepted.PENDING],
                "processed_already": counts[Accepted.DONE],
                "in_the_spool": spooled,
                "bad_lines": [{"line": line.number, "reason": line.reason} for line in bad],
            }
        )
    else:
        report_bad_lines(bad)
        console.print(
            f"{enqueued} enqueued, {counts[Accepted.PENDING]} waiting already, "
            f"{counts[Accepted.DONE]} processed already, {len(bad)} bad lines skipped"
        )
    _report_spooled(spooled, settings)
    if bad or spooled:
        raise typer.Exit(1)


def say(
    user: UserArgument,
    text: Annotated[str, typer.Argument(help="What they say.")],
    tenant: TenantOption = "default",
    as_json: JsonOption = False,
) -> None:
    """Enqueue a turn of one message, as if a user said it just now.

    What the broker does not take within ten seconds stays in this machine's spool for the next producer; the exit code
    is 1 then.
    """
    if not text.strip():
        raise typer.BadParameter("it is empty: give what they say, in quotes", param_hint="TEXT")
    settings, turn_id = load_settings(), f"say:{uuid.uuid4()}"
    with _untold_by_log(), Producer(settings) as producer:
        accepted = producer.enqueue(
            turn_id=turn_id, tenant_id=tenant, user_id=user, messages=[{"role": "user", "content": text}]
        )
        spooled = producer.flush(_FLUSH_SECONDS) if accepted is Accepted.SPOOLED else 0
    if as_json:
        print_json({"turn_id": turn_id, "accepted": accepted, "in_the_spool": spooled})
    else:
        whose = "" if tenant == "default" else f" --tenant {shlex.quote(tenant)}"
        why = f"what becomes of it: {own_command()} why {turn_id} --user {shlex.quote(user)}{whose}"
        console.print(Text(why), soft_wrap=True)
    _report_spooled(spooled, settings)
    if spooled:
        raise typer.Exit(1)


@contextmanager
def _untold_by_log() -> Iterator[None]:
    """Keep the log from telling of a broker that fails: the command does, and only where it took nothing in the end."""
    log = logging.getLogger("afterturn.producers")
    level = log.level
    log.setLevel(logging.ERROR)
    try:
        yield
    finally:
        log.setLevel(level)


def _report_spooled(turns: int, settings: Settings) -> None:
    if turns:
        message = (
            f"no broker took turns at {settings.broker_shown} within {settings.enqueue_budget_ms:g} ms, nor in the "
            f"{_FLUSH_SECONDS:g} s after: {turns} lie in {settings.effective_spool_dir}, and go in with the next turn "
            "enqueued from this machine once one does"
        )
        errors.print(Text(message, style="red"), soft_wrap=True)


def _count_lines(file: Path) -> int:
    with file.open("rb") as lines:
        return sum(1 for _ in lines)


def report_bad_lines(bad: list[BadLine]) -> None:
    """Say on standard error which lines were skipped and why."""
    for line in bad:
        errors.print(Text(f"line {line.number}: {line.reason}", style="red"), soft_wrap=True)
