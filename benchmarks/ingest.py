"""How fast turns become memories, and what of the CPU time is ours.

Three things in one run, on one embedded broker: a task that does nothing (the bare broker), the embedder alone, and the
fleet. The stages are measured in this process, of turns that come one by one and all at once, by the counters that
workers keep.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from typing import Annotated

import typer
from redis import Redis
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from benchmarks.processes import running, wait_for
from benchmarks.turns import make_turns
from interfaces.local.broker import embedded_broker
from interfaces.local.progress import percentile
from memory.leases import LeaseKeeper
from memory.metrics import STAGE_CPU
from producers import Producer
from schema import Subject, Turn
from schema.settings import Settings, load_settings
from stores.catalog import Catalog, open_catalog
from stores.embedding import open_embedder
from stores.queue import create_celery, open_mailbox, send_turn
from worker.context import load_models, open_worker_context
from worker.drain import drain

console = Console()
_STAGES = ("admit", "extract", "screen", "score", "embed", "resolve", "commit", "index", "announce")
_REST = "mailbox, reading and what no stage counts"
_ROUNDS = 20
_ROUND = (120, 24)
"""How many turns of how many users a round of the stages has."""
_LOAD = 0.7
_ONE_BY_ONE_MS = 5.0
_ALL_AT_ONCE_MS = 3.0
"""The goals of own CPU a turn."""
_Split = dict[str, float]
"""CPU in milliseconds a turn, by stage."""


@dataclass(frozen=True)
class _Run:
    """One run of worker processes over some turns. CPU is of the worker processes, in milliseconds a turn."""

    turns_per_second: float
    cpu_ms: float
    lags: list[float]


def main(
    turns: Annotated[int, typer.Option(help="Turns to ingest in each run.", min=50)] = 2000,
    users: Annotated[int, typer.Option(help="Users that they are spread over.", min=1)] = 400,
    kept: Annotated[float, typer.Option(help="Share of turns that say something to keep.", min=0, max=1)] = 0.5,
    workers: Annotated[int, typer.Option(help="Worker processes of the fleet.", min=1)] = 1,
    port: Annotated[int, typer.Option(help="Port of the benchmark's own broker.")] = 6399,
) -> None:
    """Measure ingestion beside the bare broker and the bare embedder. Takes about two minutes."""
    sent = make_turns(turns, users, kept=kept)
    with tempfile.TemporaryDirectory() as folder:
        url = f"redis://127.0.0.1:{port}/0"
        os.environ |= {"AFTERTURN_BROKER_URL": url, "AFTERTURN_DATA_DIR": f"{folder}/data"}
        settings = load_settings()
        with embedded_broker(url, Path(folder, "broker")), Progress(console=console, transient=True) as progress:
            task = progress.add_task("the bare broker", total=5)
            bare = _bare_broker(settings, sent, Path(folder))
            progress.update(task, advance=1, description="the bare embedder")
            embedding = _bare_embedder(settings, sent)
            progress.update(task, advance=1, description="the stages")
            one_by_one, all_at_once = _stages(settings, kept)
            progress.update(task, advance=1, description="the fleet, all turns at once")
            full = _fleet(settings, sent, Path(folder), workers, rate=None)
            rate = full.turns_per_second * _LOAD
            progress.update(task, advance=1, description=f"the fleet at {rate:.0f} turns/s")
            later = make_turns(turns, users, kept=kept, seed=8)
            paced = _fleet(settings, later, Path(folder), workers, rate=rate)
    _report_runs(bare, full, paced, workers)
    _report_stages(one_by_one, all_at_once)
    console.print(f"One sentence costs the bare embedder {embedding:.2f} ms.")
    console.print(f"Again: python -m benchmarks.ingest --workers {workers}")


def _bare_broker(settings: Settings, turns: list[Turn], folder: Path) -> _Run:
    marks = folder / "marks"
    marks.touch()
    app = create_celery(settings)
    environment = {**os.environ, "BENCH_MARKS": str(marks)}
    with running(["-m", "celery", "-A", "benchmarks.noop", "worker", "-Q", "memory_ingest_queue"], environment) as cpu:
        send_turn(app, turns[0])
        wait_for(lambda: marks.stat().st_size >= 1)
        before, started = cpu(), time.monotonic()
        for turn in turns:
            send_turn(app, turn)
        wait_for(lambda: marks.stat().st_size >= len(turns) + 1)
        seconds = time.monotonic() - started
        return _Run(len(turns) / seconds, (cpu() - before) / len(turns) * 1000, [])


def _bare_embedder(settings: Settings, turns: list[Turn]) -> float:
    """Return the CPU in milliseconds to embed one short sentence by itself."""
    embedder = open_embedder(settings)
    texts = [turn.text_of("user") for turn in turns[:200]]
    embedder.embed(texts[:1])
    costs = []
    for text in texts:
        before = time.process_time()
        embedder.embed([text])
        costs.append((time.process_time() - before) * 1000)
    return median(costs)


def _stages(settings: Settings, kept: float) -> tuple[_Split, _Split]:
    """Return the CPU in milliseconds a turn of each stage, of turns that come one by one and all at once, without the
    embedder's threads: the lower quartile of many rounds, for what other programs do on the machine makes it larger."""
    context = open_worker_context(settings, create_celery(settings))
    load_models(context)
    leases = LeaseKeeper(context.mailbox, settings.lease_seconds, settings.turn_deadline_seconds)

    def drained(subject: Subject) -> float:
        started = time.thread_time()
        drain(subject, context, leases)
        return time.thread_time() - started

    def appended(turn: Turn) -> float:
        started = time.thread_time()
        context.mailbox.append(turn, look_after=60)
        return time.thread_time() - started

    def one_by_one(turns: list[Turn]) -> float:
        return sum(appended(turn) + drained(turn.subject) for turn in turns)

    def all_at_once(turns: list[Turn]) -> float:
        spent = sum(appended(turn) for turn in turns)
        with ThreadPoolExecutor(settings.worker_slots) as pool:
            return spent + sum(pool.map(drained, dict.fromkeys(turn.subject for turn in turns)))

    def measured(work: Callable[[list[Turn]], float]) -> _Split:
        rounds = []
        for number in range(_ROUNDS + 1):
            turns = [
                _of_round(turn, f"{work.__name__}-{number}") for turn in make_turns(*_ROUND, kept=kept, seed=number)
            ]
            before = _stage_seconds()
            spent = work(turns)
            stages = {stage: after - before[stage] for stage, after in _stage_seconds().items()}
            rounds.append({_REST: spent - sum(stages.values()), **stages})
        # Without the first, in which whatever is built at its first use is built.
        return {
            stage: percentile(sorted(costs[stage] for costs in rounds[1:]), 0.25) / _ROUND[0] * 1000
            for stage in rounds[0]
        }

    splits = measured(one_by_one), measured(all_at_once)
    leases.stop()
    context.close()
    return splits


def _of_round(turn: Turn, name: str) -> Turn:
    return turn.model_copy(update={"user_id": f"{turn.user_id}-{name}", "turn_id": f"{turn.turn_id}-{name}"})


def _stage_seconds() -> dict[str, float]:
    return {stage: STAGE_CPU.labels(stage)._value.get() for stage in _STAGES}


def _fleet(settings: Settings, turns: list[Turn], folder: Path, workers: int, *, rate: float | None) -> _Run:
    """Ingest through worker processes: all at once, or at a rate of turns a second."""
    fresh = folder / f"data-{rate}"
    environment = {**os.environ, "AFTERTURN_DATA_DIR": str(fresh), "AFTERTURN_LOG_LEVEL": "error"}
    run = settings.model_copy(update={"data_dir": fresh})
    redis = Redis.from_url(settings.broker_url)
    redis.flushdb()
    catalog, producer, celery = open_catalog(run), Producer(run), create_celery(run)
    mailbox = open_mailbox(run, redis, celery)
    commands = [["-m", "interfaces.cli", "worker", "--name", f"worker{number}@%h"] for number in range(workers)]
    with ExitStack() as stack:
        cpus = [stack.enter_context(running(command, environment)) for command in commands]
        wait_for(lambda: len(celery.control.ping(timeout=0.5) or []) >= workers)
        producer.enqueue(make_turns(1, 1, seed=1)[0])
        wait_for(lambda: sum(catalog.count_turns().values()) >= 1)
        since, before, started = datetime.now(UTC), sum(cpu() for cpu in cpus), time.monotonic()
        for number, turn in enumerate(turns):
            if rate:
                time.sleep(max(0.0, started + number / rate - time.monotonic()))
            producer.enqueue(turn)
        wait_for(lambda: mailbox.pending_subjects() == 0)
        seconds = time.monotonic() - started
        spent = (sum(cpu() for cpu in cpus) - before) / len(turns) * 1000
    lags = sorted(catalog.lags(since))
    _check_all_are_done(catalog, len(turns) + 1)
    catalog.close()
    redis.close()
    return _Run(len(turns) / seconds, spent, lags)


def _check_all_are_done(catalog: Catalog, expected: int) -> None:
    done = sum(catalog.count_turns().values())
    if done != expected:
        raise RuntimeError(f"{done} turns are in the ledger and {expected} were enqueued")


def _report_runs(bare: _Run, full: _Run, paced: _Run, workers: int) -> None:
    runs = Table(title="Runs", title_justify="left")
    for column in ("what", "turns/s", "worker CPU ms/turn", "p50 ms", "p95 ms"):
        runs.add_column(column, justify="left" if column == "what" else "right")
    runs.add_row("bare broker: a task that does nothing", f"{bare.turns_per_second:.0f}", f"{bare.cpu_ms:.2f}", "", "")
    fleet = "one worker" if workers == 1 else f"{workers} workers"
    for name, run in ((f"{fleet}, all at once", full), (f"{fleet} at {_LOAD:.0%} of that", paced)):
        p50, p95 = (f"{percentile(run.lags, share) * 1000:.0f}" for share in (0.5, 0.95))
        runs.add_row(name, f"{run.turns_per_second:.0f}", f"{run.cpu_ms:.2f}", p50, p95)
    console.print(runs)


def _report_stages(one_by_one: _Split, all_at_once: _Split) -> None:
    split = Table(title=f"Own CPU, ms a turn (lower quartile of {_ROUNDS} rounds)", title_justify="left")
    for column in ("stage", "one by one", "all at once"):
        split.add_column(column, justify="left" if column == "stage" else "right")
    for stage in one_by_one:
        split.add_row(stage, f"{one_by_one[stage]:.2f}", f"{all_at_once[stage]:.2f}")
    split.add_row("together", *(f"{sum(costs.values()):.2f}" for costs in (one_by_one, all_at_once)), style="bold")
    split.add_row("goal", f"{_ONE_BY_ONE_MS:.2f}", f"{_ALL_AT_ONCE_MS:.2f}")
    console.print(split)


if __name__ == "__main__":
    typer.run(main)
