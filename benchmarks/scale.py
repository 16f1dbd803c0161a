"""Where a fleet for many turns a second breaks first: service times are measured here, the rest is simulated with them.

    python -m benchmarks.scale --turns-a-second 1000

Measured on real servers, as CPU of the server's own processes: what a turn costs Redis (append, message, lease, commit)
and Postgres (a commit with a memory, its source and its line in the ledger). What a turn costs a worker is given, as
`make bench` measured it. Simulated: turns arrive at random, each of a random user, and stand in line at their user's
shard of Redis, at the workers, at the language model and at their user's partition of Postgres.
"""

from __future__ import annotations

import heapq
import random
import resource
import tempfile
import uuid
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer
from redis import Redis
from rich.console import Console
from rich.table import Table

from interfaces.local.broker import embedded_broker
from schema import Kind, Memory, MemoryType, Message, Subject, Turn
from schema.settings import Settings
from stores.catalog import Catalog, Changes, LedgerEntry, Outcome
from stores.catalog.engine import create_catalog_engine
from stores.catalog.revisions import migrate
from stores.queue import INGEST_QUEUE, create_celery, open_mailbox
from tests.conftest import free_port
from tests.postgres import postgres_server

WORKER_MS = 10.5
"""CPU of a turn in a worker (docs/reference/measured.md: turns that come one by one, no language model, load 10)."""
MODEL_SECONDS = 0.3
CORES = 4
"""Of the server of one partition of Postgres; a shard of Redis works on one."""
_LEASE_SECONDS = 30.0
_WRITERS = 8
_NOW = datetime(2026, 11, 2, 8, tzinfo=UTC)


@dataclass(frozen=True)
class Fleet:
    """How many of each part there are, and milliseconds that each has a turn for."""

    shards: int
    workers: int
    partitions: int
    redis_ms: float
    worker_ms: float
    postgres_ms: float

    def load(self, turns_a_second: float) -> dict[str, float]:
        """Return the share of the time for which each part is busy."""
        return {
            "redis": turns_a_second * self.redis_ms / 1000 / self.shards,
            "workers": turns_a_second * self.worker_ms / 1000 / self.workers,
            "postgres": turns_a_second * self.postgres_ms / 1000 / self.partitions / CORES,
        }


def measured_redis(turns: int) -> float:
    """Return milliseconds of a Redis server's CPU for a turn: append, message, lease, commit."""
    with tempfile.TemporaryDirectory() as folder:
        url = f"redis://127.0.0.1:{free_port()}/0"
        with embedded_broker(url, Path(folder)), closing(Redis.from_url(url)) as redis:
            settings = Settings(broker_url=url)
            mailbox = open_mailbox(settings, redis, create_celery(settings))
            before = _cpu(redis)
            for number in range(turns):
                turn = _turn(f"user{number}", "t")
                receipt = mailbox.append(turn, 5.0)
                if receipt.notify:
                    create_message(redis, turn)
                redis.brpop([INGEST_QUEUE], timeout=1)
                batch = mailbox.acquire(turn.subject, 8, _LEASE_SECONDS)
                assert batch is not None
                mailbox.commit(batch.lease, [turn.turn_id], 8, _LEASE_SECONDS)
            return (_cpu(redis) - before) / turns * 1000


def create_message(redis: Redis, turn: Turn) -> None:
    """Put a message of the size of Celery's onto the queue."""
    redis.lpush(INGEST_QUEUE, turn.canonical_json() * 2)


def measured_postgres(turns: int) -> float:
    """Return milliseconds of a Postgres server's CPU for a turn that is kept: of many turns, less those of few."""
    few = 50
    return (_postgres_cpu(few + turns) - _postgres_cpu(few)) / turns * 1000


def _postgres_cpu(turns: int) -> float:
    before = _of_children()
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o777)
        # As durable as in production: a test's server is told not to be.
        with postgres_server(Path(folder), free_port(), {"fsync": "on", "synchronous_commit": "on"}) as server:
            engine = create_catalog_engine(server.database(), _WRITERS)
            migrate(engine)
            with closing(Catalog(engine)) as catalog, ThreadPoolExecutor(_WRITERS) as writers:
                list(writers.map(lambda number: catalog.commit(_changes(number)), range(turns)))
    return _of_children() - before


def _of_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def simulate(fleet: Fleet, turns_a_second: float, seconds: float, seed: int = 0) -> list[float]:
    """Return for how long each turn was under way, in seconds, from its arrival to its commit."""
    chance = random.Random(seed)
    moment, arrivals = 0.0, []
    while (moment := moment + chance.expovariate(turns_a_second)) < seconds:
        arrivals.append(moment)
    shard = [chance.randrange(fleet.shards) for _ in arrivals]
    partition = [chance.randrange(fleet.partitions) for _ in arrivals]
    at = _pass(arrivals, shard, 1, fleet.redis_ms / 1000, chance)
    at = _pass(at, [0] * len(at), fleet.workers, fleet.worker_ms / 1000, chance)
    # Slots are plenty beside the cores: the model is waited for, not stood in line for.
    at = [moment + chance.lognormvariate(0, 0.4) * MODEL_SECONDS for moment in at]
    at = _pass(at, partition, CORES, fleet.postgres_ms / 1000, chance)
    return [end - begun for begun, end in zip(arrivals, at, strict=True)]


def _pass(
    arrivals: Sequence[float], lanes: Sequence[int], servers: int, mean: float, chance: random.Random
) -> list[float]:
    """Return when each leaves a station at which each lane has so many servers, first come first served."""
    free: dict[int, list[float]] = {}
    left = [0.0] * len(arrivals)
    for place in sorted(range(len(arrivals)), key=arrivals.__getitem__):
        lane = free.setdefault(lanes[place], [0.0] * servers)
        begun = max(arrivals[place], heapq.heappop(lane))
        left[place] = begun + chance.expovariate(1 / mean)
        heapq.heappush(lane, left[place])
    return left


def p95(values: Sequence[float]) -> float:
    """Return the value that 95 of 100 do not pass."""
    return sorted(values)[int(len(values) * 0.95)]


def run(
    turns_a_second: Annotated[float, typer.Option(help="How many turns arrive a second.")] = 1000.0,
    turns: Annotated[int, typer.Option(help="How many turns to measure each server with.")] = 3000,
    seconds: Annotated[float, typer.Option(help="For how long to simulate.")] = 60.0,
) -> None:
    """Measure, then simulate fleets of growing parts, and say which part each is held up by."""
    redis_ms, postgres_ms = measured_redis(turns), measured_postgres(turns)
    console = Console()
    console.print(f"a turn: Redis {redis_ms:.2f} ms, worker {WORKER_MS:.1f} ms, Postgres {postgres_ms:.2f} ms")
    table = Table(title=f"{turns_a_second:.0f} turns/s, a model of {MODEL_SECONDS} s")
    for name in ("Redis", "workers", "Postgres", "Redis busy", "workers busy", "Postgres busy", "p95", "held up by"):
        table.add_column(name, justify="right")
    needed = max(1, round(turns_a_second * WORKER_MS / 1000 / 0.7 + 0.5))
    fleet = Fleet(1, max(1, needed // 4), 1, redis_ms, WORKER_MS, postgres_ms)
    while True:
        busy = fleet.load(turns_a_second)
        worst = max(busy, key=lambda part: busy[part])
        last = p95(simulate(fleet, turns_a_second, seconds))
        table.add_row(
            *(str(count) for count in (fleet.shards, fleet.workers, fleet.partitions)),
            *(f"{share:.0%}" for share in busy.values()),
            f"{last:.2f} s",
            worst if busy[worst] > 0.7 else "the model",
        )
        if busy[worst] <= 0.7:
            break
        match worst:
            case "redis":
                fleet = replace(fleet, shards=fleet.shards * 2)
            case "workers":
                fleet = replace(fleet, workers=min(needed, fleet.workers * 2))
            case _:
                fleet = replace(fleet, partitions=fleet.partitions * 2)
    console.print(table)


def _cpu(redis: Redis) -> float:
    used = redis.info("cpu")
    return float(used["used_cpu_user"]) + float(used["used_cpu_sys"])


def _turn(user: str, turn_id: str) -> Turn:
    said = "I moved to Lisbon last week, and I would rather fly with window seats from now on. " * 3
    return Turn(
        turn_id=turn_id,
        tenant_id="acme",
        user_id=user,
        conversation_id="c",
        messages=(Message(role="user", content=said), Message(role="assistant", content=said)),
        occurred_at=_NOW,
    )


def _changes(number: int) -> Changes:
    subject = Subject(tenant_id="acme", subject_id=f"user{number}")
    memory = Memory(
        id=uuid.uuid4(),
        **subject.model_dump(),
        type=MemoryType.SEMANTIC,
        kind=Kind.USER_FACT,
        category="Personal",
        summary="The user lives in Lisbon since the last week of October 2026.",
        source_turn_ids=("t",),
        importance=0.4,
        trust_score=0.85,
        confidence=0.9,
        occurred_at=_NOW,
        said_at=_NOW,
        created_at=_NOW,
        updated_at=_NOW,
        last_accessed=_NOW,
        embedding_model="m",
        policy_version="p",
    )
    ledger = LedgerEntry("t", "d" * 64, Outcome.KEPT, ("first_person",), _NOW, _NOW)
    turn = _turn(subject.subject_id, "t")
    return Changes(subject=subject, at=_NOW, fence=None, created=(memory,), sources=(turn,), ledger=(ledger,))


if __name__ == "__main__":
    typer.run(run)
