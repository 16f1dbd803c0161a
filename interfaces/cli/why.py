"""`why`: what became of a turn, step by step."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from datetime import UTC
from typing import Annotated, Any, Final

import typer
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from interfaces.cli.arguments import JsonOption, TenantOption
from interfaces.cli.output import console, grid, print_json, short
from interfaces.cli.seen import seen
from recall.turn_story import Step, TurnStory, turn_stories
from schema import FORGET_IN_DOUBT, Asker, AuditAction, Review, ReviewStatus, Subject, utc_iso
from schema.errors import BrokerFailed
from schema.settings import Settings, load_settings
from stores.catalog import Catalog, Outcome, open_catalog
from stores.dead_letters import read_dead_letters
from stores.mailbox import ParkedTurn
from stores.queue import create_celery, open_mailbox
from stores.redis import open_redis

_OUTCOMES: Final = {
    Outcome.KEPT: "something was remembered",
    Outcome.SKIPPED: "there was nothing in it worth remembering",
    Outcome.REFUSED: "what there was is not kept, or not before a person has looked at it",
    Outcome.FORGOTTEN: "something was forgotten, as it asked",
    Outcome.HIDDEN: "what it may have asked to forget is hidden",
    Outcome.DEAD: "it could not be processed: `afterturn dead-letters list`",
}
_NOT_KEPT: Final = "not kept: nothing that is known came of it"
_MASKED: Final = "(masked whole: a secret, or what is told of somebody else, stood in it)"
_WISH: Final = "not kept: it asked for something to be forgotten"
_WISHES: Final = frozenset({Outcome.FORGOTTEN, Outcome.HIDDEN})
_SINCE: Final = {ReviewStatus.APPROVED: "forgotten since", ReviewStatus.REJECTED: "told again since"}
"""Fate of what a wish to forget hid, once it is decided."""
_LATER: Final = frozenset({AuditAction.SUPERSEDED, AuditAction.DELETED, AuditAction.ERASED, AuditAction.ARCHIVED})
"""Deeds of other turns, people and nights to what came of a turn."""
_TOLD: Final = {AuditAction.CREATED: ("remembered", "green"), AuditAction.UPDATED: ("known", "cyan")}
_CHANGED: Final = ("changed", "yellow")
_HELD: Final = {
    AuditAction.REFUSED: ("refused", ""),
    AuditAction.QUARANTINED: ("held back", ", until a person has looked at it"),
}


def why(
    turn: Annotated[str, typer.Argument(help="The turn_id that it was enqueued with.")],
    user: Annotated[
        str | None, typer.Option("--user", "-u", help="Whose turn it is: finds one that waits, too.")
    ] = None,
    tenant: TenantOption = "default",
    as_json: JsonOption = False,
) -> None:
    """Tell what became of a turn: whether it was looked at and why, what was remembered, and what happened to that."""
    settings = load_settings()
    with closing(open_catalog(settings, makes_catalog=False)) as catalog:
        subject = Subject(tenant_id=tenant, subject_id=user) if user else _whose(turn, catalog)
        story = turn_stories(subject, [turn], catalog).get(turn) if subject else None
    if subject and story:
        _tell(subject, story, as_json=as_json)
        return
    waiting = _waiting(subject, turn, settings) if subject else None
    if waiting is None:
        raise typer.BadParameter(_nowhere(turn, user, settings))
    if as_json:
        print_json({"turn_id": turn, "waits_since": utc_iso(waiting.arrived_at), "failures": waiting.failures})
    else:
        taken = f"; it failed {waiting.failures} times and is tried again" if waiting.failures else ""
        console.print(f"turn {turn} waits in its mailbox since {utc_iso(waiting.arrived_at)}{taken}")


def outcome_of(story: TurnStory) -> str:
    """Return in a line what became of a turn."""
    outcome = story.record.entry.outcome
    reasons = _words(story.record.entry.reasons)
    hid = [_until(review) for review in story.reviews if review.asked_by is Asker.FORGETTING]
    if outcome is Outcome.HIDDEN:
        return ", ".join((_OUTCOMES[outcome], *hid))
    if outcome is Outcome.FORGOTTEN and hid:
        return f"{_OUTCOMES[outcome]}; what else it may have meant is hidden, {', '.join(hid)}"
    if outcome is Outcome.REFUSED and not any(review.status is ReviewStatus.OPEN for review in story.reviews):
        return "what there was is not kept"
    return _OUTCOMES[outcome] + (f" ({reasons})" if outcome is Outcome.SKIPPED and reasons else "")


def _until(review: Review) -> str:
    return _SINCE.get(review.status, f"until somebody decides: review {short(review.id)}")


def lines_of(story: TurnStory) -> list[Text]:
    """Return what a turn did, a line each and none twice: what was remembered, and instead of what."""
    lines = list[Text]()
    for step in story.steps:
        line = _line(step) if step.entry.reason != FORGET_IN_DOUBT else None
        if line is not None and line not in lines:
            lines.append(line)
    if lines and story.record.entry.outcome not in _WISHES:
        return lines
    return [*lines, Text(outcome_of(story), style="dim")]


def _line(step: Step) -> Text | None:
    action, memory, reason = step.entry.action, step.memory, step.entry.reason.replace("_", " ")
    if action in _HELD:
        word, more = _HELD[action]
        return Text.assemble((f"{word:12}", "red"), reason + more)
    if action not in _TOLD:
        return None
    if memory is None:
        return Text("remembered, and forgotten since", style="dim")
    word, style = _CHANGED if step.instead_of and action is AuditAction.CREATED else _TOLD[action]
    before = " ".join(replaced.summary for replaced in step.instead_of) if word == _CHANGED[0] else ""
    told_again_in = memory.source_turn_ids[-1:] if step.entry.turn_id in memory.source_turn_ids[:-1] else ()
    return Text.assemble(
        (f"{word:12}", style),
        memory.summary,
        (
            f" (It was said again in turn {told_again_in[0]}, and reads as it does since then.)"
            if told_again_in
            else "",
            "dim",
        ),
        (f" Before: {before}" if before else "", "dim"),
    )


def _whose(turn: str, catalog: Catalog) -> Subject | None:
    subjects = catalog.turn_records.subjects_with(turn)
    if len(subjects) > 1:
        names = ", ".join(f"{subject.subject_id} (tenant {subject.tenant_id})" for subject in subjects)
        raise typer.BadParameter(f"several users have a turn {turn!r}: {names}. Say which with --user and --tenant")
    return subjects[0] if subjects else None


def _waiting(subject: Subject, turn: str, settings: Settings) -> ParkedTurn | None:
    with closing(open_redis(settings, timeout=2.0, retries=0)) as redis:
        try:
            return open_mailbox(settings, redis, create_celery(settings)).parked(subject).get(turn)
        except BrokerFailed:
            return None


def _nowhere(turn: str, user: str | None, settings: Settings) -> str:
    """Return what to say of a turn that was not processed and does not wait, as far as is known."""
    with closing(open_redis(settings, timeout=2.0, retries=0)) as redis:
        try:
            letters = [letter for letter in read_dead_letters(redis) if letter.turn_id == turn]
        except BrokerFailed:
            return f"no turn {turn!r} was processed, and no broker answers that could tell whether it waits"
    if letters:
        return f"turn {turn!r} is a dead letter: {letters[0].reason}. `afterturn dead-letters list` has it whole"
    more = "" if user else ", or --user USER to look into the user's mailbox"
    return f"no turn {turn!r} was processed or waits here: was it enqueued? See `afterturn status`{more}"


def _tell(subject: Subject, story: TurnStory, *, as_json: bool) -> None:
    if as_json:
        print_json(_as_json(subject, story))
        return
    entry, source = story.record.entry, story.record.source
    not_kept = _WISH if entry.outcome in _WISHES else _NOT_KEPT
    wish = next((review.wish for review in story.reviews if review.wish), not_kept)
    words = f"{utc_iso(source.occurred_at)}: {source.text_of('user') or _MASKED}" if source else wish
    lag = (entry.processed_at - entry.arrived_at).total_seconds()
    rows = {
        "said": words,
        "arrived": f"{utc_iso(entry.arrived_at)}, processed {lag:.1f} s later",
        "seen in it": seen(entry.reasons),
        "outcome": outcome_of(story),
    }
    title = f"turn {entry.turn_id} of {subject.subject_id} (tenant {subject.tenant_id})"
    console.print(Panel(grid(rows), title=Text(title), title_align="left"))
    if story.steps:
        console.print(_steps_table(story.steps))


def _steps_table(steps: Sequence[Step]) -> Table:
    table = Table(title="What was done, and since then to what came of it", title_justify="left", expand=True)
    table.add_column("when (UTC)", no_wrap=True)
    table.add_column("what", no_wrap=True)
    table.add_column("memory", ratio=3)
    table.add_column("why", ratio=2)
    table.add_column("by", no_wrap=True)
    for step in steps:
        table.add_row(
            f"{step.entry.at.astimezone(UTC):%Y-%m-%d %H:%M}",
            step.entry.action.value,
            _memory_cell(step),
            Text(step.entry.reason.replace("_", " ")),
            Text(str(step.entry.details.get("model") or step.entry.by)),
        )
    return table


def _memory_cell(step: Step) -> Text:
    if step.memory is None:
        return Text("forgotten since" if step.entry.memory_id else "", style="dim")
    cell = Text.assemble((f"{short(step.memory.id)} ", "cyan"), step.memory.summary)
    for old in step.instead_of if step.entry.action not in _LATER else ():
        cell.append("\ninstead of ", style="dim").append(f"{short(old.id)} ", style="cyan").append(old.summary)
    return cell


def _as_json(subject: Subject, story: TurnStory) -> dict[str, Any]:
    entry, source = story.record.entry, story.record.source
    return {
        **subject.model_dump(),
        "turn_id": entry.turn_id,
        "outcome": entry.outcome,
        "reasons": entry.reasons,
        "arrived_at": utc_iso(entry.arrived_at),
        "processed_at": utc_iso(entry.processed_at),
        "source": source.model_dump(mode="json", exclude_none=True) if source else None,
        "steps": [
            {
                **step.entry.model_dump(mode="json", include={"at", "action", "reason", "by", "memory_id", "details"}),
                "summary": step.memory.summary if step.memory else None,
                "instead_of": [str(old.id) for old in step.instead_of] if step.entry.action not in _LATER else [],
            }
            for step in story.steps
        ],
    }


def _words(reasons: Sequence[str]) -> str:
    return ", ".join(reason.replace("_", " ") for reason in reasons)
