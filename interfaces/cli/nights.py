"""The nights: `nights` shows the runs, `night` does a job now or says what it would do."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from interfaces.cli.arguments import MOST_ROWS, JsonOption, TenantOption, UserOption
from interfaces.cli.output import console, errors, print_json, print_result, short
from memory.leases import LeaseKeeper
from schema import Subject, utc_iso
from schema.settings import load_settings
from stores.catalog import NightRun, open_catalog
from stores.queue import create_celery
from worker.context import WorkerContext, open_worker_context
from worker.nights.base import Job, JobName, Step, preview
from worker.nights.dispatch import begin, request_pages
from worker.nights.jobs import NIGHTLY_JOBS
from worker.nights.subject_run import Busy, run_for_subject

_NOT_ASKED = "the language model is not asked in a dry run: what it will write or judge is shown as the rules do it"
_SHOWN = 200


def nights(
    limit: Annotated[
        int, typer.Option("--limit", "-n", min=1, max=MOST_ROWS, help="How many runs to show at most.")
    ] = 20,
    as_json: JsonOption = False,
) -> None:
    """Show the runs of the nightly jobs, latest first: how far they are, and what they did."""
    catalog = open_catalog(load_settings(), makes_catalog=False)
    runs = catalog.nights.runs(limit)
    catalog.close()
    if as_json:
        print_json([_json(run) for run in runs])
        return
    if not runs:
        console.print("no night has begun yet; `afterturn settings` says when they do (AFTERTURN_NIGHT_...)")
        return
    table = Table(expand=True)
    table.add_column("run", no_wrap=True, style="cyan")
    for column in ("began", "took", "users"):
        table.add_column(column, no_wrap=True, justify="right" if column == "users" else "left")
    table.add_column("what was done", ratio=1)
    for run in runs:
        took = str(run.finished_at - run.began_at).partition(".")[0] if run.finished_at else "goes on"
        table.add_row(run.id, utc_iso(run.began_at), took, str(run.subjects), _counts(run.results))
    console.print(table)


def night(
    job: Annotated[JobName, typer.Argument(help="consolidate, promote or forget.")],
    user: UserOption = None,
    tenant: TenantOption = "default",
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would be done and why, and do nothing.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Do a nightly job now. For all users the fleet does it: see `afterturn nights`."""
    settings = load_settings()
    context = open_worker_context(settings, create_celery(settings), makes_catalog=False)
    subject = Subject(tenant_id=tenant, subject_id=user) if user else None
    try:
        if dry_run:
            if context.llm and job != "forget":
                errors.print(Text(_NOT_ASKED), soft_wrap=True)
            _show(job, _planned(NIGHTLY_JOBS[job], subject, context), "would be done", as_json=as_json)
        elif subject:
            steps = _done(NIGHTLY_JOBS[job], subject, context)
            _show(job, iter([(subject, steps)] if steps else []), "was done", as_json=as_json)
        else:
            _say_begun(_begun(job, context, datetime.now(UTC)), as_json=as_json)
    finally:
        context.close()


def _planned(job: Job, subject: Subject | None, context: WorkerContext) -> Iterator[tuple[Subject, tuple[Step, ...]]]:
    for whose in [subject] if subject else context.catalog.every_subject():
        if steps := preview(job, whose, context, datetime.now(UTC)):
            yield whose, steps


def _done(job: Job, subject: Subject, context: WorkerContext) -> tuple[Step, ...]:
    settings = context.settings
    leases = LeaseKeeper(context.mailbox, settings.lease_seconds, settings.turn_deadline_seconds)
    try:
        plan = run_for_subject(subject, job, context, leases, datetime.now(UTC))
    except Busy:
        raise typer.BadParameter(
            f"{subject.subject_id} has turns that are not processed yet: they go first, try again in a moment"
        ) from None
    finally:
        leases.stop()
    return plan.steps if plan else ()


def _show(job: str, planned: Iterator[tuple[Subject, tuple[Step, ...]]], tense: str, *, as_json: bool) -> None:
    counts: Counter[str] = Counter()
    shown: list[tuple[Subject, Step]] = []
    for subject, steps in planned:
        counts.update(step.action for step in steps)
        shown += [(subject, step) for step in steps[: max(0, _SHOWN - len(shown))]]
    if as_json:
        print_json({"job": job, "counts": counts, "steps": [_step_json(*shown_step) for shown_step in shown]})
        return
    if not counts:
        console.print(f"{job}: nothing {tense}")
        return
    table = Table(expand=True)
    for name in ("user", "what", "id"):
        table.add_column(name, no_wrap=True, style="cyan" if name == "id" else "")
    table.add_column("memory", ratio=3)
    table.add_column("why", ratio=2)
    for subject, step in shown:
        table.add_row(subject.subject_id, step.action, short(step.memory_id), Text(step.summary), Text(step.why))
    console.print(table)
    more = sum(counts.values()) - len(shown)
    console.print(f"{job}: {tense}: {_counts(counts)}" + (f" ({more} more than shown)" if more else ""))


def _begun(job: JobName, context: WorkerContext, now: datetime) -> list[str]:
    """Begin a run for the users of each time zone, and one for those of whom none is known."""
    moment = f"{now:%Y-%m-%dT%H:%M:%S}-by-hand"
    zones = (None, *context.catalog.nights.zones())
    begun = [run_id for zone in zones if (run_id := begin(job, moment, zone, context, now))]
    if not begun:
        raise typer.BadParameter("such a run has begun within this second; look at `afterturn nights`")
    for run_id in begun:
        request_pages(run_id, context)
    return begun


def _say_begun(run_ids: list[str], *, as_json: bool) -> None:
    print_result(
        {"runs": run_ids},
        f"begun: {', '.join(run_ids)}; the fleet works on it, `afterturn nights` shows how far it is",
        as_json=as_json,
    )


def _counts(counts: Any) -> str:
    return ", ".join(f"{name} {count}" for name, count in sorted(counts.items())) or "nothing yet"


def _json(run: NightRun) -> dict[str, Any]:
    return {
        "id": run.id,
        "job": run.job,
        "zone": run.zone,
        "began_at": run.began_at,
        "finished_at": run.finished_at,
        "chunks": run.chunks,
        "subjects": run.subjects,
        "results": run.results,
    }


def _step_json(subject: Subject, step: Step) -> dict[str, Any]:
    return {
        "tenant_id": subject.tenant_id,
        "user_id": subject.subject_id,
        "action": step.action,
        "memory_id": str(step.memory_id),
        "summary": step.summary,
        "why": step.why,
    }
