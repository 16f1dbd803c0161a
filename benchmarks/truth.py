"""Is what is remembered true? Some hundred turns of people whose facts change on the way, beside mem0 in the same run.

    python -m benchmarks.truth

The language model is an oracle: it always extracts right, at once or after 300 ms, so that what goes wrong is the
memory's own doing. In the last rows it fails as real ones do: a tenth of its answers is cut off, a fifth of its calls
throttled. Both memories get the same turns in the same order, the same model and the same embedder, and each a new
database with pgvector in the same Postgres, which is this benchmark's own. With --embedded Afterturn keeps its memories
in its default files instead.

mem0 is installed from PyPI into an environment of its own, once. Nothing else leaves the machine.
"""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import product
from pathlib import Path
from typing import Annotated

import typer
from redis import Redis
from rich import box
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

import benchmarks
from benchmarks.mem0 import mem0_environment
from benchmarks.processes import running, wait_for
from benchmarks.stores_parts import durable_postgres
from benchmarks.truth_oracle import Calls, read_calls
from benchmarks.truth_parts import FAULTY, LOG, SECONDS
from benchmarks.truth_world import Saying, Score, World, make_world, score
from interfaces.local.broker import embedded_broker
from interfaces.local.progress import percentile
from producers import Producer
from schema import Message, Subject, Turn
from schema.settings import Settings, load_settings
from stores.catalog import Outcome, open_catalog
from stores.catalog.engine import create_catalog_engine
from stores.catalog.revisions import migrate
from stores.queue import create_celery, open_mailbox

_TENANT = "truth"
_WORKERS = 2
_GIVE_UP_SECONDS = 900.0
console = Console()


@dataclass(frozen=True)
class Conditions:
    """How many turns are in work at a time, and what the model is like."""

    in_flight: int
    seconds: float
    faulty: bool = False

    @property
    def llm(self) -> str:
        return f"{self.seconds * 1000:.0f} ms{', faulty' if self.faulty else ''}"


@dataclass(frozen=True)
class _Cost:
    """What a run took, all turns being handed over at once.

    Lags are seconds from a turn's handing over to its end; `cpu` is what the memory's own processes spent, in seconds,
    its database not; `raised` counts failed calls that the caller had to try again, `lost` turns of which nothing came
    in the end: dead letters, or calls that failed every time.
    """

    seconds: float
    cpu: float
    lags: list[float]
    calls: Calls
    lost: int
    raised: int = 0


@dataclass(frozen=True)
class Run:
    """One memory over one world."""

    name: str
    conditions: Conditions
    turns: int
    cost: _Cost
    score: Score

    @property
    def turns_per_second(self) -> float:
        return self.turns / self.cost.seconds


def main(
    users: Annotated[int, typer.Option(help="People, of about 17 turns each.", min=1)] = 24,
    seed: Annotated[int, typer.Option(help="Another seed makes other people.")] = 1,
    in_flight: Annotated[str, typer.Option(help="Turns in work at a time: one run each.")] = "1,8,32",
    llm_ms: Annotated[str, typer.Option(help="Milliseconds that the model takes: one run each.")] = "0,300",
    mem0: Annotated[bool, typer.Option(help="Run mem0 beside it; installs it first.")] = True,
    environments: Annotated[Path, typer.Option(help="Folder for mem0's own environment.")] = Path("data/benchmarks"),
    embedded: Annotated[bool, typer.Option("--embedded", help="Keep Afterturn's memories in SQLite.")] = False,
    port: Annotated[int, typer.Option(help="Port of the benchmark's own broker.")] = 6398,
) -> None:
    """Count stale, double and missing facts, and measure speed and cost. Takes about six minutes with mem0."""
    world = make_world(users, seed=seed)
    flights, times = ([int(number) for number in text.split(",")] for text in (in_flight, llm_ms))
    planned = [Conditions(flight, ms / 1000) for ms in times for flight in flights]
    planned += [Conditions(flight, max(times) / 1000, faulty=True) for flight in sorted({flights[0], flights[-1]})]
    python = mem0_environment(environments, console) if mem0 else None
    runs = []
    with tempfile.TemporaryDirectory() as name, Progress(console=console, transient=True) as progress:
        folder = Path(name)
        url = f"redis://127.0.0.1:{port}/0"
        task = progress.add_task("", total=len(planned) * (2 if python else 1))
        with embedded_broker(url, folder / "broker"), durable_postgres(folder / "postgres") as postgres:
            for number, conditions in enumerate(planned):
                progress.update(task, description=f"Afterturn, {conditions.in_flight} in flight, {conditions.llm}")
                database = None if embedded else postgres.database()
                runs.append(_afterturn(world, conditions, url, folder / f"ours{number}", database))
                progress.advance(task)
                if python:
                    progress.update(task, description=f"mem0, {conditions.in_flight} in flight, {conditions.llm}")
                    runs.append(_mem0(world, conditions, python, folder / f"mem0{number}", postgres.database()))
                    progress.advance(task)
    _report(runs, world, seed)


def _afterturn(world: World, conditions: Conditions, url: str, folder: Path, database: str | None) -> Run:
    log = folder / "calls.log"
    workers = min(_WORKERS, conditions.in_flight)
    os.environ |= {
        "AFTERTURN_BROKER_URL": url,
        "AFTERTURN_DATA_DIR": str(folder),
        "AFTERTURN_LLM": "benchmarks.truth_parts:open_provider",
        "AFTERTURN_EXTRACTOR": "llm",
        "AFTERTURN_LOG_LEVEL": "error",
        # All turns are handed over at once, faster than a chat backend would: none shall go by the spool.
        "AFTERTURN_ENQUEUE_BUDGET_MS": "5000",
        "AFTERTURN_WORKER_SLOTS": str(conditions.in_flight // workers),
        SECONDS: str(conditions.seconds),
        FAULTY: str(int(conditions.faulty)),
        LOG: str(log),
    }
    if database is not None:
        os.environ |= {"AFTERTURN_CATALOG_URL": database, "AFTERTURN_INDEX": "pgvector"}
        engine = create_catalog_engine(database)
        migrate(engine)
        engine.dispose()
    settings = load_settings()
    redis = Redis.from_url(url)
    redis.flushdb()
    celery = create_celery(settings)
    catalog, mailbox = open_catalog(settings), open_mailbox(settings, redis, celery)
    turns = [_turn(saying, number) for number, saying in enumerate(world.sayings)]
    with ExitStack() as stack, Producer(settings) as producer:
        commands = [["worker", "--name", f"worker{number}@%h"] for number in range(workers)]
        commands.append(["beat"])
        cpus = [
            stack.enter_context(running(["-m", "interfaces.cli", *command], dict(os.environ))) for command in commands
        ]
        wait_for(lambda: len(celery.control.ping(timeout=0.5) or []) >= workers)
        since, started, before = datetime.now(UTC), time.monotonic(), sum(cpu() for cpu in cpus)
        for turn in turns:
            producer.enqueue(turn)
        wait_for(lambda: sum(catalog.count_turns().values()) == len(turns), _GIVE_UP_SECONDS)
        seconds = time.monotonic() - started
        spent = sum(cpu() for cpu in cpus) - before
        wait_for(lambda: mailbox.pending_subjects() == 0)
    lags = sorted(catalog.lags(since))
    rows = {user: _active(user, settings) for user in world.truth}
    lost = catalog.count_turns().get(Outcome.DEAD, 0)
    catalog.close()
    redis.close()
    return _run("Afterturn", world, conditions, _Cost(seconds, spent, lags, read_calls(log), lost), rows)


def _active(user: str, settings: Settings) -> list[str]:
    catalog = open_catalog(settings)
    try:
        memories = catalog.list_memories(Subject(tenant_id=_TENANT, subject_id=user), limit=10_000)
        return [memory.summary for memory in memories]
    finally:
        catalog.close()


def _turn(saying: Saying, number: int) -> Turn:
    return Turn(
        turn_id=f"{saying.user}-{saying.number}",
        tenant_id=_TENANT,
        user_id=saying.user,
        conversation_id=f"{saying.user}-c",
        sequence=saying.number,
        messages=(Message(role="user", content=saying.text), Message(role="assistant", content="Noted.")),
        occurred_at=datetime(2026, 3, 2, 8, 0, tzinfo=UTC) + timedelta(minutes=number),
    )


def _mem0(world: World, conditions: Conditions, python: Path, folder: Path, database: str) -> Run:
    folder.mkdir()
    job, result = folder / "job.json", folder / "result.json"
    job.write_text(
        json.dumps(
            {
                "folder": str(folder),
                "result": str(result),
                "database": database.replace("postgresql+psycopg://", "postgresql://"),
                "in_flight": conditions.in_flight,
                "seconds": conditions.seconds,
                "faulty": conditions.faulty,
                "users": list(world.truth),
                "turns": [(saying.user, saying.text) for saying in world.sayings],
            }
        )
    )
    house = Path(benchmarks.__file__).parents[1]
    environment = {**os.environ, "PYTHONPATH": str(house), "MEM0_TELEMETRY": "False"}
    subprocess.run([python, "-m", "benchmarks.truth_mem0", job], env=environment, check=True, cwd=folder)
    answer = json.loads(result.read_text())
    rows: Mapping[str, list[str]] = answer["rows"]
    calls = read_calls(folder / "calls.log")
    cost = _Cost(answer["seconds"], answer["cpu"], sorted(answer["lags"]), calls, answer["lost"], answer["raised"])
    return _run("mem0", world, conditions, cost, rows)


def _run(name: str, world: World, conditions: Conditions, cost: _Cost, rows: Mapping[str, list[str]]) -> Run:
    return Run(name, conditions, len(world.sayings), cost, score(world, rows))


_COLUMNS = (
    *("memory", "in flight", "LLM", "rows", "stale", "double", "missing", "wrong"),
    *("turns/s", "CPU ms/turn", "p50 s", "p95 s", "calls/turn", "chars/turn", "raised", "lost"),
)
_WIDTH = 150


def _report(runs: Sequence[Run], world: World, seed: int) -> None:
    facts, changed = (sum(map(len, of.values())) for of in (world.truth, world.outdated))
    title = f"{len(world.sayings)} turns of {len(world.truth)} people; {facts} true facts, {changed} of them changed"
    table = Table(title=f"{title} (seed {seed})", title_justify="left", box=box.SIMPLE_HEAD)
    for column in _COLUMNS:
        table.add_column(column, justify="left" if column in ("memory", "LLM") else "right")
    for run in runs:
        table.add_row(*_cells(run))
    wide = Console(width=max(console.width, _WIDTH))
    wide.print(table)
    for ours, theirs in product(runs, runs):
        if (ours.name, theirs.name, theirs.conditions) == ("Afterturn", "mem0", ours.conditions):
            ratio = ours.turns_per_second / theirs.turns_per_second
            cpu = theirs.cost.cpu / ours.cost.cpu
            conditions = f"{ours.conditions.in_flight} in flight, {ours.conditions.llm}"
            console.print(f"{conditions}: {ratio:.1f} times mem0's turns a second, 1/{cpu:.1f} of its CPU")
    console.print(
        "Goals: stale, double, missing 0; 10 times mem0's turns/s at 300 ms; 0.8 calls and 6,000 chars a turn."
    )
    console.print(f"Again: python -m benchmarks.truth --users {len(world.truth)} --seed {seed}")


def _cells(run: Run) -> list[str]:
    of, cost = run.score, run.cost
    counts = [str(n) for n in (of.rows, of.stale, of.duplicates, of.missing, of.wrong)]
    speed = [f"{run.turns_per_second:.1f}", f"{cost.cpu / run.turns * 1000:.1f}"]
    lags = [f"{percentile(cost.lags, share):.2f}" for share in (0.5, 0.95)]
    calls = [f"{cost.calls.count / run.turns:.2f}", f"{cost.calls.characters / run.turns:,.0f}"]
    calls += [str(cost.raised), str(cost.lost)]
    return [run.name, str(run.conditions.in_flight), run.conditions.llm, *counts, *speed, *lags, *calls]


if __name__ == "__main__":
    typer.run(main)
