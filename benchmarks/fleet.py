"""What order costs and buys: open-loop arrivals through the fleet, beside one plain Celery task a turn.

Turns arrive at the moments of a file of offsets, scaled to 70% of the fleet's measured capacity, whether or not the
ones before are done. Capacity is the rate at which the fleet works off turns of which each is another user's: pending
turns of one user are taken together, and a backlog of many of each would be worked off faster than turns that come one
by one. The language model is a stub that takes 300 ms. Lag is from the turn's arrival in its mailbox to
its commit in the catalog; for the plain task, which writes nothing, to the end of the model's call.
"""

from __future__ import annotations

import csv
import gzip
import os
import random
import tempfile
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated

import typer
from redis import Redis
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from benchmarks.processes import running, wait_for
from benchmarks.stub_llm import LOG, SECONDS, read_log
from interfaces.local.broker import embedded_broker
from interfaces.local.progress import percentile
from producers import Producer
from schema import Message, Turn
from schema.settings import Settings, load_settings
from stores.catalog import open_catalog
from stores.queue import create_celery, open_mailbox, send_turn

console = Console()
_LOAD = 0.7
_BUSIEST_SHARE = 0.05


@dataclass(frozen=True)
class _Measured:
    name: str
    turns_per_second: float
    lags: list[float]
    calls_a_turn: float
    overlaps: int
    misorders: int
    ideal_p95: float | None = None
    """Of a single queue that serves at the measured capacity and costs nothing else: what the bursts alone take."""


def main(
    arrivals: Annotated[
        Path | None,
        typer.Option(
            help="CSV, plain or gzip, with a column offset_s; evenly random arrivals if left out.", exists=True
        ),
    ] = None,
    turns: Annotated[int, typer.Option(help="Turns in each run.", min=100)] = 2000,
    subjects: Annotated[int, typer.Option(help="Users that they are of.", min=1)] = 1000,
    workers: Annotated[str, typer.Option(help="Numbers of worker processes, one run each.")] = "1,2,4",
    llm_seconds: Annotated[float, typer.Option(help="How long the stub takes for a call.", min=0)] = 0.3,
    port: Annotated[int, typer.Option(help="Port of the benchmark's own broker.")] = 6399,
) -> None:
    """Measure the fleet under open-loop arrivals beside a plain task a turn. Takes some minutes."""
    offsets = _offsets(arrivals, turns)
    rows = []
    with tempfile.TemporaryDirectory() as name, Progress(console=console, transient=True) as progress:
        folder = Path(name)
        url = f"redis://127.0.0.1:{port}/0"
        os.environ |= {
            "AFTERTURN_BROKER_URL": url,
            "AFTERTURN_DATA_DIR": str(folder / "data"),
            "AFTERTURN_LLM": "benchmarks.stub_llm:open_provider",
            "AFTERTURN_EXTRACTOR": "benchmarks.stub_llm:open_extractor",
            "AFTERTURN_LOG_LEVEL": "error",
            # The one tenant of the benchmark may have all slots.
            "AFTERTURN_TENANT_SLOTS": "1000",
            SECONDS: str(llm_seconds),
        }
        settings = load_settings()
        counts = [int(count) for count in workers.split(",")]
        task = progress.add_task("", total=2 * len(counts) + 1)
        with embedded_broker(url, folder / "broker"):
            for count in counts:
                progress.update(task, advance=1, description=f"capacity of {count} workers")
                capacity = _fleet(settings, folder, count, _one_each(turns), [0.0] * turns, f"capacity{count}")
                rows.append(capacity)
                progress.update(task, advance=1, description=f"{count} workers at {_LOAD:.0%} of it")
                at = _at(offsets, capacity.turns_per_second * _LOAD)
                paced = _fleet(settings, folder, count, _turns(turns, subjects), at, f"paced{count}")
                ideal = percentile(_ideal_lags(at, capacity.turns_per_second, llm_seconds), 0.95)
                rows.append(replace(paced, ideal_p95=ideal))
            progress.update(task, advance=1, description="a plain task a turn, at the same rate as 1 worker")
            rate = rows[0].turns_per_second * _LOAD
            rows.append(_plain(settings, folder, _turns(turns, subjects), _at(offsets, rate)))
    _report(rows, turns, subjects, llm_seconds)


def _offsets(path: Path | None, count: int) -> list[float]:
    if path is None:
        chance = random.Random(11)
        return sorted(chance.uniform(0, count) for _ in range(count))
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt") as lines:
        found = [float(row["offset_s"]) for row in csv.DictReader(lines)]
    if len(found) < count:
        raise typer.BadParameter(f"{path} has {len(found)} arrivals, and --turns asks for {count}")
    return found[:count]


def _at(offsets: Sequence[float], rate: float) -> list[float]:
    """Return the offsets from their first one on, stretched to a mean rate a second."""
    span = offsets[-1] - offsets[0]
    return [(offset - offsets[0]) / span * len(offsets) / rate for offset in offsets]


def _ideal_lags(at: Sequence[float], capacity: float, llm_seconds: float) -> list[float]:
    lags, free_at = [], 0.0
    for moment in at:
        free_at = max(free_at, moment) + 1 / capacity
        lags.append(free_at - moment + llm_seconds)
    return sorted(lags)


def _turns(count: int, subjects: int) -> list[Turn]:
    chance = random.Random(5)
    return [
        _turn(number, 0 if chance.random() < _BUSIEST_SHARE else chance.randrange(1, subjects + 1), chance)
        for number in range(count)
    ]


def _one_each(count: int) -> list[Turn]:
    chance = random.Random(5)
    return [_turn(number, number, chance) for number in range(count)]


def _turn(number: int, user: int, chance: random.Random) -> Turn:
    return Turn(
        turn_id=f"t{number}",
        tenant_id="bench",
        user_id=f"user{user:05d}",
        conversation_id="c",
        sequence=number,
        messages=(Message(role="user", content=f"I bought {chance.choice(_THINGS)} in {chance.choice(_CITIES)}"),),
        occurred_at=_START + timedelta(seconds=number),
    )


_START = datetime(2026, 3, 2, 8, 0, tzinfo=UTC)
_THINGS = ["a lamp", "two chairs", "a coat", "old records", "a map", "green tea", "a bicycle", "paint"]
_CITIES = ["Lisbon", "Berlin", "Oslo", "Madrid", "Vienna", "Prague", "Athens", "Dublin"]


def _fleet(
    settings: Settings, folder: Path, workers: int, turns: Sequence[Turn], at: Sequence[float], name: str
) -> _Measured:
    run = settings.model_copy(update={"data_dir": folder / name})
    log = folder / f"{name}.log"
    environment = {**os.environ, "AFTERTURN_DATA_DIR": str(run.data_dir), LOG: str(log)}
    redis = Redis.from_url(run.broker_url)
    redis.flushdb()
    celery = create_celery(run)
    catalog, mailbox = open_catalog(run), open_mailbox(run, redis, celery)
    with ExitStack() as stack, Producer(run) as producer:
        for number in range(workers):
            command = ["-m", "interfaces.cli", "worker", "--name", f"worker{number}@%h"]
            stack.enter_context(running(command, environment))
        wait_for(lambda: len(celery.control.ping(timeout=0.5) or []) >= workers)
        since, started = datetime.now(UTC), time.monotonic()
        for turn, offset in zip(turns, at, strict=True):
            time.sleep(max(0.0, started + offset - time.monotonic()))
            producer.enqueue(turn)
        wait_for(lambda: mailbox.pending_subjects() == 0 and sum(catalog.count_turns().values()) == len(turns))
        seconds = time.monotonic() - started
    lags = sorted(catalog.lags(since))
    catalog.close()
    redis.close()
    calls, overlaps, misorders = read_log(log)
    kind = "all at once, of a user each" if not any(at) else f"at {_LOAD:.0%} of that"
    label = f"{workers} worker{'s' if workers > 1 else ''}, {kind}"
    return _Measured(label, len(turns) / seconds, lags, calls / len(turns), overlaps, misorders)


def _plain(settings: Settings, folder: Path, turns: Sequence[Turn], at: Sequence[float]) -> _Measured:
    log = folder / "plain.log"
    log.touch()
    environment = {**os.environ, LOG: str(log)}
    redis = Redis.from_url(settings.broker_url)
    redis.flushdb()
    app = create_celery(settings)
    sent: dict[int, float] = {}
    with running(["-m", "celery", "-A", "benchmarks.plain", "worker", "-Q", "memory_ingest_queue"], environment):
        wait_for(lambda: bool(app.control.ping(timeout=0.5)))
        started = time.monotonic()
        for turn, offset in zip(turns, at, strict=True):
            time.sleep(max(0.0, started + offset - time.monotonic()))
            sent[turn.sequence or 0] = time.monotonic()
            send_turn(app, turn)
        wait_for(lambda: log.read_bytes().count(b"\n") >= len(turns))
        seconds = time.monotonic() - started
    redis.close()
    lags = []
    for line in log.read_text().splitlines():
        _, sequence, _, end = line.split(",")
        lags.append(float(end) - sent[int(sequence)])
    calls, overlaps, misorders = read_log(log)
    return _Measured(
        "plain task a turn, 1 worker", len(turns) / seconds, sorted(lags), calls / len(turns), overlaps, misorders
    )


def _report(rows: Sequence[_Measured], turns: int, subjects: int, llm_seconds: float) -> None:
    what = f"{turns} turns of {subjects} users, one of them with {_BUSIEST_SHARE:.0%}; LLM {llm_seconds * 1000:.0f} ms"
    table = Table(title=what, title_justify="left")
    for column in (
        "run",
        "turns/s",
        "p50 ms",
        "p95 ms",
        "p99 ms",
        "ideal p95",
        "LLM calls/turn",
        "overlaps",
        "misordered",
    ):
        table.add_column(column, justify="left" if column == "run" else "right")
    for row in rows:
        p50, p95, p99 = (f"{percentile(row.lags, share) * 1000:.0f}" for share in (0.5, 0.95, 0.99))
        ideal = "" if row.ideal_p95 is None else f"{row.ideal_p95 * 1000:.0f}"
        counts = (ideal, f"{row.calls_a_turn:.2f}", str(row.overlaps), str(row.misorders))
        table.add_row(row.name, f"{row.turns_per_second:.0f}", p50, p95, p99, *counts)
    console.print(table)
    console.print("Ideal: one queue that serves at the capacity above and costs nothing else.")
    console.print("Goal at 70% of capacity: p95 below 1 s with everyday arrivals, below 3 s with bursts.")
    console.print("Again: python -m benchmarks.fleet --arrivals FILE")


if __name__ == "__main__":
    typer.run(main)
