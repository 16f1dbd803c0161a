"""What a night costs: subjects a second and memory for each job, what turns wait while one runs, and what consolidation
does to what a search finds.

Subjects are made with memories of episodes on few themes, half a year old and younger, and the jobs are run as a worker
runs them, by one hand. Memory is that of this process after the first and after the last chunk: it must not grow with
the number of subjects. With `--data`, the conversations of a folder as `benchmarks.quality` reads it are lived through
with a night each week.
"""

from __future__ import annotations

import os
import random
import tempfile
import time
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import track
from rich.table import Table

from benchmarks.nights_recall import Weeks, live_through
from benchmarks.processes import running, wait_for
from benchmarks.turns import make_turns
from interfaces.local.broker import embedded_broker
from interfaces.local.progress import percentile
from memory.catalog import Changes, NightRun
from memory.index.base import Entry
from memory.queue import create_celery, open_mailbox
from memory.schema import Kind, Memory, MemoryType, Subject, memory_id
from memory.settings import Settings, load_settings
from producers import Producer
from worker.leases import LeaseKeeper
from worker.nights.chunks import work
from worker.nights.dispatch import begin, ring_for
from worker.nights.jobs import NIGHTLY_JOBS
from worker.parts import Parts, open_parts

console = Console()
_DOINGS = ("went hiking", "went swimming", "cooked pasta", "painted the kitchen", "met an old friend", "read a novel")
_PLACES = ("in the hills", "at the lake", "at home", "in town", "by the sea", "at the station")


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
    """Measure the nights. The full size takes an hour or more, --small some minutes."""
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
            parts = open_parts(settings, create_celery(settings))
            _fill(subjects, memories, parts)
            costs = [_night(job, parts) for job in NIGHTLY_JOBS]
            _report_costs(costs, subjects, memories)
            parts.close()
            _report_waits(_waits(settings, night=False), _waits(settings, night=True))
            if data is not None:
                _report_weeks(live_through(data, url, Path(name, "quality"), console))
    console.print("Again: python -m benchmarks.nights" + (" --small" if small else ""))


def _fill(subjects: int, memories: int, parts: Parts) -> None:
    chance, now = random.Random(3), datetime.now(UTC)
    texts = [f"Maya {doing} {place}." for doing in _DOINGS for place in _PLACES]
    vectors = dict(zip(texts, parts.embedder.embed(texts), strict=True))
    for number in track(range(subjects), "making subjects", console=console, transient=True):
        whose = Subject(tenant_id="bench", subject_id=f"user{number:07}")
        made = [_episode(whose, place, chance.choice(texts), now, chance, parts) for place in range(memories)]
        parts.catalog.commit(Changes(subject=whose, at=now, fence=1, created=tuple(made)))
        parts.index.upsert([Entry.of(memory, vectors[memory.summary]) for memory in made])
        parts.catalog.told(parts.catalog.index_jobs(whose, limit=memories))


def _episode(whose: Subject, number: int, text: str, now: datetime, chance: random.Random, parts: Parts) -> Memory:
    at = now - timedelta(days=chance.uniform(3, 180))
    return Memory(
        id=memory_id(whose, MemoryType.EPISODIC, f"t{number}", 0),
        **whose.model_dump(),
        type=MemoryType.EPISODIC,
        kind=Kind.CONVERSATION_CONTEXT,
        category="Personal",
        summary=text,
        tags=(text.split()[1],),
        source_turn_ids=(f"t{number}",),
        importance=chance.uniform(0.1, 0.6),
        trust_score=0.85,
        confidence=0.7,
        occurred_at=at,
        said_at=at,
        created_at=at,
        updated_at=at,
        last_accessed=at,
        embedding_model=parts.embedder.name,
        policy_version=parts.policy.version,
    )


def _night(job: str, parts: Parts) -> _Cost:
    now = datetime.now(UTC)
    run_id = begin(NIGHTLY_JOBS[job].name, "bench", None, parts, now)
    if run_id is None:
        raise RuntimeError(f"the run of {job} has begun before")
    leases = LeaseKeeper(parts.mailbox, parts.settings.lease_seconds, 86_400.0)
    started, cpu, first = time.monotonic(), time.process_time(), 0.0
    while parts.catalog.nights.unfinished(job):
        work(run_id, NIGHTLY_JOBS, parts, leases)
        first = first or _megabytes()
    leases.stop()
    run = parts.catalog.nights.run(run_id)
    if run is None:
        raise RuntimeError("the run is gone")
    return _Cost(run, time.monotonic() - started, time.process_time() - cpu, first, _megabytes())


def _megabytes() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def _waits(settings: Settings, *, night: bool, turns: int = 400, a_second: float = 10.0) -> list[float]:
    """Seconds from arrival to commit of turns at a steady rate, through one worker process, with a night or without."""
    parts = open_parts(settings, create_celery(settings))
    producer, mailbox = Producer(settings), open_mailbox(settings, parts.redis, parts.celery)
    said = make_turns(turns, 200, kept=0.5, seed=20 + night)
    said = [turn.model_copy(update={"turn_id": f"{night}-{turn.turn_id}"}) for turn in said]
    with running(["-m", "interfaces.cli", "worker"], dict(os.environ)):
        producer.enqueue(said[0])
        wait_for(lambda: mailbox.dirty_subjects() == 0)
        since, started = datetime.now(UTC), time.monotonic()
        if night:
            for number, job in enumerate(NIGHTLY_JOBS.values()):
                run_id = begin(job.name, f"waits-{number}", None, parts, since)
                if run_id is not None:
                    ring_for(run_id, parts, since)
        for number, turn in enumerate(said[1:]):
            time.sleep(max(0.0, started + number / a_second - time.monotonic()))
            producer.enqueue(turn)
        wait_for(lambda: mailbox.dirty_subjects() == 0)
    lags = sorted(parts.catalog.lags(since))
    producer.close()
    parts.close()
    return lags


def _report_costs(costs: list[_Cost], subjects: int, memories: int) -> None:
    table = Table(title=f"One hand, {subjects:,} subjects of {memories} memories", title_justify="left")
    for column in ("job", "subjects/s", "CPU ms/subject", "MB after first chunk", "MB after last", "what was done"):
        table.add_column(column, justify="right" if column not in ("job", "what was done") else "left")
    for cost in costs:
        done = ", ".join(f"{name} {count:,}" for name, count in sorted(cost.run.results.items()))
        rate, cpu = cost.run.subjects / cost.seconds, cost.cpu / max(1, cost.run.subjects) * 1000
        table.add_row(cost.run.job, f"{rate:.0f}", f"{cpu:.2f}", f"{cost.first_mb:.0f}", f"{cost.last_mb:.0f}", done)
    console.print(table)


def _report_waits(quiet: list[float], busy: list[float]) -> None:
    table = Table(title="What turns wait, 10 a second through one worker", title_justify="left")
    for column in ("", "p50 ms", "p95 ms"):
        table.add_column(column, justify="right" if column else "left")
    for name, lags in (("no night", quiet), ("all three jobs at once", busy)):
        table.add_row(name, *(f"{percentile(lags, share) * 1000:.0f}" for share in (0.5, 0.95)))
    console.print(table)
    console.print(f"p95 with a night is {percentile(busy, 0.95) / percentile(quiet, 0.95):.2f} times that without")


def _report_weeks(weeks: tuple[Weeks, Weeks]) -> None:
    table = Table(title="Conversations, before and after a night each week", title_justify="left")
    for column in ("", "live episodes", "recall@5", "@10", "@20"):
        table.add_column(column, justify="right" if column else "left")
    for name, one in zip(("before", "after"), weeks, strict=True):
        table.add_row(name, str(one.episodes), *(f"{share:.1%}" for share in one.recall))
    console.print(table)


if __name__ == "__main__":
    typer.run(main)
