"""What a night costs: subjects a second and memory for each job, what turns wait while one runs, and what consolidation
does to what a search finds.

Subjects are made with memories of episodes on few themes, half a year old and younger, and the jobs are run as a worker
runs them, by one worker. Memory is that of this process after the first and after the last chunk: it must not grow with
the number of subjects. With `--data`, the conversations of a folder as `benchmarks.quality` reads it are lived through
with a night each week.
"""

from __future__ import annotations

import os
import tempfile
import time
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Final

import typer
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from benchmarks.nights_recall import Weeks, live_through
from benchmarks.nights_subjects import make_subjects
from benchmarks.processes import running, wait_for
from benchmarks.turns import make_turns
from interfaces.local.broker import embedded_broker
from interfaces.local.progress import percentile
from memory.leases import LeaseKeeper
from producers import Producer
from schema.settings import load_settings
from stores.catalog import NightRun
from stores.queue import INGEST_QUEUE, NIGHTLY_QUEUE, create_celery, open_mailbox
from worker.context import WorkerContext, open_worker_context
from worker.nights.dispatch import begin, request_pages
from worker.nights.jobs import NIGHTLY_JOBS
from worker.nights.page import do_page

console = Console()
_WAITING_SUBJECTS, _WAITING_MEMORIES = 600, 60
"""Whose night is under way while turns are measured: more than it gets through meanwhile."""
_WAITS: Final = ("no night", "all three jobs at once", "the same, in a worker of their own")


@dataclass(frozen=True)
class _Cost:
    """One job over all subjects. Memory is in megabytes, after the first and the last chunk."""

    run: NightRun
    seconds: float
    cpu: float
    first_mb: float
    last_mb: float


def main(
    subjects: Annotated[int, typer.Option(help="Users.", min=10)] = 10_000,
    memories: Annotated[int, typer.Option(help="Memories of each.", min=2)] = 200,
    small: Annotated[bool, typer.Option("--small", help="300 users with 40 memories each.")] = False,
    data: Annotated[Path | None, typer.Option(help="Folder of conversations, as for benchmarks.quality.")] = None,
    port: Annotated[int, typer.Option(help="Port of the benchmark's own broker.")] = 6399,
) -> None:
    """Measure the nights. The full size takes some hours and 12 GB of disk, --small some minutes."""
    if small:
        subjects, memories = 300, 40
    with tempfile.TemporaryDirectory() as name:
        url = f"redis://127.0.0.1:{port}/0"
        os.environ |= {
            "AFTERTURN_BROKER_URL": url,
            "AFTERTURN_DATA_DIR": f"{name}/data",
            "AFTERTURN_LOG_LEVEL": "error",
        }
        settings = load_settings()
        with embedded_broker(url, Path(name, "broker")):
            context = open_worker_context(settings, create_celery(settings))
            make_subjects(subjects, memories, context, console)
            costs = [_night(job, subjects, context) for job in NIGHTLY_JOBS]
            _report_costs(costs, subjects, memories)
            context.close()
            _report_waits([_waits(how, Path(name, f"waits{how}")) for how in range(len(_WAITS))])
            if data is not None:
                _report_weeks(live_through(data, url, Path(name, "quality"), console))
    console.print("Again: python -m benchmarks.nights" + (" --small" if small else ""))


def _night(job: str, subjects: int, context: WorkerContext) -> _Cost:
    now = datetime.now(UTC)
    run_id = begin(NIGHTLY_JOBS[job].name, "bench", None, context, now)
    if run_id is None:
        raise RuntimeError(f"the run of {job} has begun before")
    leases = LeaseKeeper(context.mailbox, context.settings.lease_seconds, 86_400.0)
    with Progress(console=console, transient=True) as progress:
        task = progress.add_task(job, total=subjects)
        started, cpu, first = time.monotonic(), time.process_time(), 0.0
        while context.catalog.nights.unfinished(job):
            do_page(run_id, NIGHTLY_JOBS, context, leases)
            first = first or _megabytes()
            progress.update(task, completed=_run(run_id, context).subjects)
    leases.stop()
    return _Cost(_run(run_id, context), time.monotonic() - started, time.process_time() - cpu, first, _megabytes())


def _run(run_id: str, context: WorkerContext) -> NightRun:
    run = context.catalog.nights.run(run_id)
    if run is None:
        raise RuntimeError("the run is gone")
    return run


def _megabytes() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


@dataclass(frozen=True)
class _Waited:
    """Seconds from arrival to commit of turns, in order of length, and how many subjects the night did meanwhile."""

    lags: list[float]
    subjects: int


def _waits(how: int, folder: Path, turns: int = 400, a_second: float = 10.0) -> _Waited:
    """Return what turns at a steady rate wait for, in one of the ways of `_WAITS`, on stores of its own."""
    os.environ["AFTERTURN_DATA_DIR"] = str(folder)
    settings = load_settings()
    context = open_worker_context(settings, create_celery(settings))
    context.redis.flushdb()
    if how:
        make_subjects(_WAITING_SUBJECTS, _WAITING_MEMORIES, context, console)
    producer, mailbox = Producer(settings), open_mailbox(settings, context.redis, context.celery)
    turns_sent = make_turns(turns, 200, kept=0.5, seed=20)
    with ExitStack() as workers:
        queues = ["--queues", INGEST_QUEUE] if _apart(how) else []
        workers.enter_context(running(["-m", "interfaces.cli", "worker", *queues], dict(os.environ)))
        if _apart(how):
            nightly = ["worker", "--queues", NIGHTLY_QUEUE, "--name", "night@%h"]
            workers.enter_context(running(["-m", "interfaces.cli", *nightly], dict(os.environ)))
        producer.enqueue(turns_sent[0])
        wait_for(lambda: mailbox.pending_subjects() == 0)
        since = datetime.now(UTC)
        if how:
            for number, job in enumerate(NIGHTLY_JOBS.values()):
                if run_id := begin(job.name, f"waits-{number}", None, context, since):
                    request_pages(run_id, context)
            wait_for(lambda: any(run.subjects for run in context.catalog.nights.runs()))
        since, started = datetime.now(UTC), time.monotonic()
        for number, turn in enumerate(turns_sent[1:]):
            time.sleep(max(0.0, started + number / a_second - time.monotonic()))
            producer.enqueue(turn)
        wait_for(lambda: mailbox.pending_subjects() == 0)
    waited = _Waited(sorted(context.catalog.lags(since)), sum(run.subjects for run in context.catalog.nights.runs()))
    producer.close()
    context.close()
    return waited


def _apart(how: int) -> bool:
    return how == len(_WAITS) - 1


def _report_costs(costs: list[_Cost], subjects: int, memories: int) -> None:
    table = Table(title=f"One worker, {subjects:,} subjects of {memories} memories", title_justify="left")
    for column in ("job", "subjects/s", "CPU ms/subject", "MB after first chunk", "MB after last"):
        table.add_column(column, justify="right" if column != "job" else "left")
    for cost in costs:
        rate, cpu = cost.run.subjects / cost.seconds, cost.cpu / max(1, cost.run.subjects) * 1000
        table.add_row(cost.run.job, f"{rate:.1f}", f"{cpu:.1f}", f"{cost.first_mb:.0f}", f"{cost.last_mb:.0f}")
    console.print(table)
    for cost in costs:
        done = ", ".join(f"{name} {count:,}" for name, count in sorted(cost.run.results.items()))
        console.print(f"{cost.run.job}: {done}")


def _report_waits(waited: list[_Waited]) -> None:
    table = Table(title="What turns wait, 10 a second", title_justify="left")
    for column in ("", "p50 ms", "p95 ms", "p95 beside no night", "subjects done meanwhile"):
        table.add_column(column, justify="right" if column else "left")
    quiet = percentile(waited[0].lags, 0.95)
    for name, wait in zip(_WAITS, waited, strict=True):
        middle, high = (percentile(wait.lags, share) for share in (0.5, 0.95))
        table.add_row(name, f"{middle * 1000:.0f}", f"{high * 1000:.0f}", f"{high / quiet:.2f}x", f"{wait.subjects:,}")
    console.print(table)


def _report_weeks(weeks: tuple[Weeks, Weeks]) -> None:
    table = Table(title="Conversations, before and after a night each week", title_justify="left")
    for column in ("", "live episodes", "recall@5", "@10", "@20"):
        table.add_column(column, justify="right" if column else "left")
    for name, week in zip(("before", "after"), weeks, strict=True):
        table.add_row(name, str(week.episodes), *(f"{share:.1%}" for share in week.recall))
    console.print(table)


if __name__ == "__main__":
    typer.run(main)
