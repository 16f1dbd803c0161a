"""What `benchmarks.scale` measures: what a turn takes of a Redis, of a Postgres and of a disk, each a real one."""

from __future__ import annotations

import os
import resource
import statistics
import tempfile
import time
import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from redis import Redis
from sqlalchemy import Engine, text

from interfaces.local.broker import embedded_broker
from schema import Kind, Memory, MemoryType, Message, Subject, Turn
from schema.settings import Settings
from stores.catalog import Catalog, Changes, LedgerEntry, Outcome
from stores.catalog.engine import create_catalog_engine
from stores.catalog.revisions import migrate
from stores.queue import INGEST_QUEUE, create_celery, open_mailbox
from tests.conftest import free_port
from tests.postgres import postgres_server

_LEASE_SECONDS = 30.0
_WRITERS = 8
_FEW = 50
_NOW = datetime(2026, 11, 2, 8, tzinfo=UTC)
_DURABLE = {"fsync": "on", "synchronous_commit": "on", "full_page_writes": "on"}
"""As in production: a test's server is told not to be."""
_MEGABYTE = 1024 * 1024
_SYNCS = 200


@dataclass(frozen=True)
class RedisCost:
    """What a turn takes of a Redis: milliseconds of its one core, bytes of its log, and of its memory while it
    waits."""

    cpu_ms: float
    log_bytes: float
    waiting_bytes: float


@dataclass(frozen=True)
class PostgresCost:
    """What a kept turn's transaction takes of a Postgres: milliseconds of its cores, bytes of its log, and for how many
    milliseconds it holds a connection."""

    cpu_ms: float
    log_bytes: float
    held_ms: float


@dataclass(frozen=True)
class Disk:
    """What a disk does: milliseconds until a small write is there for good, and bytes a second of large ones."""

    sync_ms: float
    bytes_a_second: float


def measured_redis(turns: int) -> RedisCost:
    """Let so many turns go through a Redis: append, message, lease, commit; then let as many wait."""
    with tempfile.TemporaryDirectory() as folder:
        url = f"redis://127.0.0.1:{free_port()}/0"
        with embedded_broker(url, Path(folder)), closing(Redis.from_url(url)) as redis:
            settings = Settings(broker_url=url)
            mailbox = open_mailbox(settings, redis, create_celery(settings))
            cpu, log = _cpu(redis), _log_of(redis)
            for number in range(turns):
                turn = a_turn(f"user{number}")
                receipt = mailbox.append(turn, 5.0)
                if receipt.notify:
                    _create_message(redis, turn)
                redis.brpop([INGEST_QUEUE], timeout=1)
                batch = mailbox.acquire(turn.subject, 8, _LEASE_SECONDS)
                assert batch is not None
                mailbox.commit(batch.lease, [turn.turn_id], 8, _LEASE_SECONDS)
            cpu, log = _cpu(redis) - cpu, _log_of(redis) - log
            memory = _memory(redis)
            for number in range(turns):
                turn = a_turn(f"waits{number}")
                mailbox.append(turn, 5.0)
                _create_message(redis, turn)
            return RedisCost(cpu / turns * 1000, log / turns, (_memory(redis) - memory) / turns)


def measured_postgres(turns: int, folder: Path | None = None) -> PostgresCost:
    """Commit so many kept turns on a Postgres; its CPU is that of many turns less that of few."""
    before = _of_children()
    with _catalog(folder) as (_, catalog):
        _commit(catalog, _FEW)
    few = _of_children() - before
    with _catalog(folder) as (engine, catalog):
        _commit(catalog, _FEW)
        log = _written(engine)
        _commit(catalog, turns, first=_FEW)
        log = _written(engine) - log
        held = []
        for number in range(_FEW):
            began = time.perf_counter()
            catalog.commit(_changes(_FEW + turns + number))
            held.append(time.perf_counter() - began)
    many = _of_children() - before - few
    # Both have the beginning of a server, and the second what was committed alone.
    cpu = (many - few) / (turns + _FEW)
    return PostgresCost(cpu * 1000, log / turns, statistics.median(held) * 1000)


def measured_disk(folder: Path | None = None) -> Disk:
    """Write to a disk, a little often and much at once."""
    with tempfile.NamedTemporaryFile(dir=folder, buffering=0) as file:
        times = []
        for _ in range(_SYNCS):
            began = time.perf_counter()
            file.write(b"x" * 8192)
            os.fdatasync(file.fileno())
            times.append(time.perf_counter() - began)
        block, blocks = os.urandom(_MEGABYTE), 128
        began = time.perf_counter()
        for _ in range(blocks):
            file.write(block)
        os.fdatasync(file.fileno())
        return Disk(statistics.median(times) * 1000, blocks * _MEGABYTE / (time.perf_counter() - began))


@contextmanager
def _catalog(folder: Path | None) -> Iterator[tuple[Engine, Catalog]]:
    with tempfile.TemporaryDirectory(dir=folder) as place:
        Path(place).chmod(0o777)
        with postgres_server(Path(place), free_port(), _DURABLE) as server:
            engine = create_catalog_engine(server.database(), _WRITERS)
            migrate(engine)
            with closing(Catalog(engine)) as catalog:
                yield engine, catalog


def _commit(catalog: Catalog, turns: int, first: int = 0) -> None:
    with ThreadPoolExecutor(_WRITERS) as writers:
        list(writers.map(lambda number: catalog.commit(_changes(number)), range(first, first + turns)))


def _written(engine: Engine) -> int:
    """Return how many bytes of log the server has written."""
    with engine.connect() as connection:
        return int(connection.execute(text("SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')")).scalar_one())


def _of_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _cpu(redis: Redis) -> float:
    used = redis.info("cpu")
    return float(used["used_cpu_user"]) + float(used["used_cpu_sys"])


def _log_of(redis: Redis) -> int:
    return int(redis.info("persistence")["aof_current_size"])


def _memory(redis: Redis) -> int:
    return int(redis.info("memory")["used_memory"])


def _create_message(redis: Redis, turn: Turn) -> None:
    """Put a message of the size of Celery's onto the queue."""
    redis.lpush(INGEST_QUEUE, turn.canonical_json() * 2)


def a_turn(user: str) -> Turn:
    """Return a turn of some length."""
    said = "I moved to Lisbon last week, and I would rather fly with window seats from now on. " * 3
    return Turn(
        turn_id="t",
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
    return Changes(subject=subject, at=_NOW, created=(memory,), sources=(a_turn(subject.subject_id),), ledger=(ledger,))
