"""Measure the service: turns, searches and context blocks over HTTP, beside the same functions in process and mem0's.

    python -m benchmarks.service [--processes 2] [--postgres] [--mem0-server DIR]

Requests come evenly at random at each rate, whether or not those before are answered, and are measured from the moment
at which they were due. No worker runs beside it: turns are taken and wait. The embedder is the real one, and reads each
question. `--mem0-server` is the folder `server` of a checkout of mem0's repository (its server is in no package); it
runs on the same Postgres and with the same embedder, and what is compared with our turns is its `POST /memories` with a
model that says at once that there is nothing to keep: it extracts before it answers, where we answer and extract later.
"""

from __future__ import annotations

import asyncio
import json
import os
import secrets
import tempfile
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Final

import httpx
import numpy as np
import typer
from rich.console import Console
from rich.table import Table

import benchmarks
from benchmarks.hybrid import memories
from benchmarks.mem0 import SERVER, mem0_environment
from benchmarks.processes import running, wait_for
from benchmarks.search import directions
from benchmarks.service_faces import TENANT, THREADS, Known, asked_in_process, asked_of_mem0, asked_over_http, measured
from benchmarks.service_listeners import Fan, fanned_out
from benchmarks.service_load import Row
from benchmarks.stores_parts import durable_postgres
from interfaces.local.broker import embedded_broker
from interfaces.local.progress import percentile
from memory.context import MemoryContext, open_memory
from memory.keys import issue
from memory.publish import publish
from schema import Capability, Memory, Subject
from schema.settings import load_settings
from stores.catalog import Changes
from stores.catalog.engine import create_catalog_engine
from stores.catalog.revisions import migrate
from tests.conftest import free_port

console = Console()
_A_COMMIT: Final = 500


def main(
    users: Annotated[int, typer.Option(min=1, help="How many users ask.")] = 20,
    size: Annotated[int, typer.Option("--memories", min=10, help="How many memories each has.")] = 1_000,
    rates: Annotated[str, typer.Option(help="Requests a second, one run each.")] = "10,50,100",
    seconds: Annotated[float, typer.Option(min=1, help="How long each run is.")] = 20,
    listeners: Annotated[
        int, typer.Option(min=0, help="How many listen to events at the end; 0 leaves it out.")
    ] = 1_000,
    processes: Annotated[int, typer.Option(min=1, help="How many processes our service has.")] = 1,
    on_postgres: Annotated[
        bool, typer.Option("--postgres", help="Catalog and pgvector in a Postgres of our own.")
    ] = False,
    mem0_server: Annotated[
        Path | None, typer.Option(help="The folder `server` of a checkout of mem0; unset: without it.", exists=True)
    ] = None,
    environments: Annotated[Path, typer.Option(help="Folder for mem0's own environment.")] = Path("data/benchmarks"),
) -> None:
    """Print p50, p95 and p99 of each at each rate, and how long an event takes to many listeners."""
    python = mem0_environment(environments, console, more=SERVER) if mem0_server else None
    known = {f"user{number:03d}": _known(number, size) for number in range(users)}
    at = [int(rate) for rate in rates.split(",")]
    rows: list[Row] = []
    fans: list[Fan] = []
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        postgres = stack.enter_context(durable_postgres(folder / "postgres")) if on_postgres or mem0_server else None
        with _ours(folder, postgres.database() if on_postgres and postgres else None, known, processes) as (
            url,
            key,
            context,
            cpu,
        ):
            rows += asyncio.run(measured("HTTP", asked_over_http(url, key, known), at, seconds, cpu))
            rows += asyncio.run(measured("in process", asked_in_process(context, known, stack), at, seconds))
            subjects = [Subject(tenant_id=TENANT, subject_id=f"heard{number}") for number in range(listeners + 1)]
            shared = (subjects[:1], subjects[1:]) if listeners else ()
            fans += [asyncio.run(fanned_out(url, key, listeners, of, context)) for of in shared]
        if mem0_server and python and postgres:
            with _mem0(folder, python, mem0_server, postgres.database(), known) as (url, key, cpu):
                rows += asyncio.run(measured("mem0, HTTP", asked_of_mem0(url, key, known), at, seconds, cpu))
    _report(rows, fans, users, size, processes, on_postgres=on_postgres)


def _known(number: int, size: int) -> list[Memory]:
    subject = Subject(tenant_id=TENANT, subject_id=f"user{number:03d}")
    made = memories(size, first=number * size)
    return [memory.model_copy(update={**subject.model_dump(), "id": uuid.uuid4()}) for memory in made]


@contextmanager
def _ours(
    folder: Path, database: str | None, known: Known, processes: int
) -> Iterator[tuple[str, str, MemoryContext, Callable[[], float]]]:
    broker, port = f"redis://127.0.0.1:{free_port()}/0", free_port()
    os.environ |= {
        "AFTERTURN_BROKER_URL": broker,
        "AFTERTURN_DATA_DIR": str(folder / "data"),
        "AFTERTURN_HTTP_READS_PER_MINUTE": "0",
        "AFTERTURN_HTTP_WRITES_PER_MINUTE": "0",
    }
    if database:
        os.environ |= {"AFTERTURN_CATALOG_URL": database, "AFTERTURN_INDEX": "pgvector"}
        engine = create_catalog_engine(database)
        migrate(engine)
        engine.dispose()
    settings = load_settings()
    with embedded_broker(broker, folder / "broker"):
        context = open_memory(settings)
        for whose in known.values():
            for start in range(0, len(whose), _A_COMMIT):
                _write(whose[start : start + _A_COMMIT], context)
        key = issue("bench", TENANT, tuple(Capability), context.catalog, by="bench", now=datetime.now(UTC)).secret
        serve = ["-m", "interfaces.cli", "serve", "--port", str(port), "--processes", str(processes)]
        with running(serve, dict(os.environ)) as cpu:
            url = f"http://127.0.0.1:{port}"
            wait_for(lambda: _answers(f"{url}/readyz"))
            yield url, key, context, cpu
        context.close()


def _write(written: Sequence[Memory], context: MemoryContext) -> None:
    vectors = directions(len(written), seed=len(written))
    changes = Changes(subject=written[0].subject, at=written[0].created_at, created=tuple(written))
    publish(changes, {memory.id: vector for memory, vector in zip(written, vectors, strict=True)}, context)


@contextmanager
def _mem0(
    folder: Path, python: Path, server: Path, database: str, known: Known
) -> Iterator[tuple[str, str, Callable[[], float]]]:
    port, key = free_port(), secrets.token_urlsafe(32)
    home = folder / "mem0"
    home.mkdir()
    rows = [memory for whose in known.values() for memory in whose]
    np.save(home / "vectors.npy", directions(len(rows), seed=3))
    told = [
        {"id": str(memory.id), "text": memory.summary, "user": memory.subject_id, "at": memory.created_at.isoformat()}
        for memory in rows
    ]
    (home / "memories.json").write_text(json.dumps(told))
    job = {
        **{"server": str(server.absolute()), "database": database, "folder": str(home), "port": port, "key": key},
        **{"vectors": str(home / "vectors.npy"), "memories": str(home / "memories.json"), "connections": THREADS},
    }
    (home / "job.json").write_text(json.dumps(job))
    house = Path(benchmarks.__file__).parents[1]
    environment = {**os.environ, "PYTHONPATH": str(house)}
    with running(["-m", "benchmarks.service_mem0", str(home / "job.json")], environment, python=python) as cpu:
        url = f"http://127.0.0.1:{port}"
        wait_for(lambda: _answers(f"{url}/docs"))
        yield url, key, cpu


def _answers(url: str) -> bool:
    try:
        return httpx.get(url).is_success
    except httpx.HTTPError:
        return False


def _report(
    rows: Sequence[Row], fans: Sequence[Fan], users: int, size: int, processes: int, *, on_postgres: bool
) -> None:
    where = "Postgres with pgvector" if on_postgres else "SQLite"
    title = f"{users} users with {size:,} memories each; ours in {where}, {processes} of its processes"
    table = Table(
        "what", "a second", "of", "p50 ms", "p95 ms", "p99 ms", "CPU ms", "failed", title=title, title_justify="left"
    )
    for row in sorted(rows, key=lambda row: ("turn", "search", "context").index(row.what)):
        table.add_row(*row.cells)
    console.print(table)
    for fan in fans:
        p50, p95, most = (percentile(fan.milliseconds, share) for share in (0.5, 0.95, 1.0))
        connected = f"connected within {fan.connect_seconds:.1f} s"
        heard = f"an event of each heard after p50 {p50:.0f}, p95 {p95:.0f}, at most {most:.0f} ms"
        counts = f"{fan.lost} lost, {fan.doubled} doubled"
        console.print(f"{fan.listeners:,} listeners of {fan.subjects:,} subjects: {connected}; {heard}; {counts}")


if __name__ == "__main__":
    typer.run(main)
