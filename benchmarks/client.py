"""Measure the Python client: how long its import takes, and how long `enqueue` does while nobody answers.

    PYTHONPATH=clients/python python -m benchmarks.client

The floor is a bare insert into an SQLite file of the same settings in the same run, so that ratios hold on any machine.
"""

from __future__ import annotations

import asyncio
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import typer
from rich.console import Console
from rich.table import Table

from afterturn_client import AsyncClient, Client, SpoolUnavailable

TURNS = 5_000
SAID = [
    {"role": "user", "content": "I moved to Lisbon last week, and I am looking for a flat near the river. " * 4},
    {"role": "assistant", "content": "How exciting! Which quarters do you like best so far? " * 4},
]
REFUSED = -1.0
"""Stands for the time of a call that was refused because it could not be done in time."""
_IMPORTS = ("json", "afterturn_client", "httpx")


class _Takes(BaseHTTPRequestHandler):
    """Answers 202 to whatever comes: what is measured is the client."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        body = b'{"turn_id": "t", "accepted": "added"}'
        self.send_response(202)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


class _Hangs(_Takes):
    """Takes a request and never answers."""

    def do_POST(self) -> None:
        threading.Event().wait(3600)


def imports() -> dict[str, float]:
    """Return how much CPU time in seconds each import takes in a process of its own, the least of five."""
    asks = "import time; t = time.process_time(); import {}; print(time.process_time() - t)"

    def import_seconds(name: str) -> float:
        finished = subprocess.run([sys.executable, "-c", asks.format(name)], capture_output=True, text=True, check=True)
        return float(finished.stdout)

    return {name: min(import_seconds(name) for _ in range(5)) for name in _IMPORTS}


def timed(work: Callable[[int], object]) -> list[float]:
    """Return how many seconds each of many calls took."""
    seconds = []
    for number in range(TURNS):
        started = time.perf_counter()
        refused = work(number)
        seconds.append(REFUSED if refused is True else time.perf_counter() - started)
    return seconds


def enqueue(client: Client, number: int) -> bool:
    """Enqueue a turn, and return whether it was refused for want of time."""
    try:
        client.enqueue(f"user{number % 50}", SAID)
    except SpoolUnavailable:
        return True
    return False


def bare(folder: Path) -> list[float]:
    """Time what no client could do faster: one insert, committed, into a file of the same settings."""
    with closing(sqlite3.connect(folder / "bare.sqlite3", isolation_level=None)) as db:
        for pragma in ("journal_mode = WAL", "synchronous = NORMAL", "wal_autocheckpoint = 0"):
            db.execute(f"PRAGMA {pragma}").fetchall()
        db.execute("CREATE TABLE turns (place INTEGER PRIMARY KEY, body BLOB)")
        body = str(SAID).encode()
        return timed(lambda _: db.execute("INSERT INTO turns (body) VALUES (?)", (body,)))


def waiting(url: str, folder: Path) -> list[float]:
    """Time `Client.enqueue`, the first call with it."""
    client = Client(url, spool_dir=folder)
    seconds = timed(lambda number: enqueue(client, number))
    client.close(0.1)
    return seconds


def from_threads(url: str, folder: Path, *, threads: int = 8) -> list[float]:
    """Time `Client.enqueue` in several threads at once."""
    client = Client(url, spool_dir=folder)

    def enqueue_seconds(number: int) -> float:
        started = time.perf_counter()
        refused = enqueue(client, number)
        return time.perf_counter() - started if not refused else REFUSED

    with ThreadPoolExecutor(threads) as pool:
        seconds = list(pool.map(enqueue_seconds, range(TURNS)))
    client.close(0.1)
    return seconds


def awaited(url: str, folder: Path) -> list[float]:
    """Time `AsyncClient.enqueue`, one after the other."""

    async def run() -> list[float]:
        client = AsyncClient(url, spool_dir=folder)
        seconds = []
        for number in range(TURNS):
            started = time.perf_counter()
            try:
                await client.enqueue(f"user{number % 50}", SAID)
            except SpoolUnavailable:
                seconds.append(REFUSED)
            else:
                seconds.append(time.perf_counter() - started)
        await client.close(0.1)
        return seconds

    return asyncio.run(run())


def drained(url: str, folder: Path) -> float:
    """Return how many turns a second reach a service that takes them at once."""
    left_behind = Client("http://127.0.0.1:1", spool_dir=folder)
    for number in range(TURNS):
        left_behind.enqueue(f"user{number % 50}", SAID)
    left_behind.close(0.1)
    with Client(url, spool_dir=folder) as client:
        started = time.perf_counter()
        waiting = client.flush(300)
        return (TURNS - waiting) / (time.perf_counter() - started)


def listening(handler: type[BaseHTTPRequestHandler]) -> ThreadingHTTPServer:
    """Start a server in threads of its own."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


def main() -> None:
    """Measure, and print two tables."""
    console = Console()
    table = Table("import", "CPU ms", "of httpx's")
    taken_by = imports()
    for name, seconds in taken_by.items():
        table.add_row(name, f"{seconds * 1000:.0f}", f"{seconds / taken_by['httpx']:.2f}")
    console.print(table)
    servers = {"takes turns": listening(_Takes), "never answers": listening(_Hangs)}
    urls = {name: f"http://127.0.0.1:{server.server_port}" for name, server in servers.items()}
    urls["is away"] = "http://127.0.0.1:1"
    table = Table("what", "p50 ms", "p95 ms", "p99 ms", "slowest ms", "over 50 ms", "refused")
    with tempfile.TemporaryDirectory() as folder:
        runs = {"a bare insert": bare(Path(folder))}
        ways = {"enqueue": waiting, "enqueue in 8 threads": from_threads, "enqueue, awaited": awaited}
        for number, (state, url) in enumerate(urls.items()):
            runs |= {f"{way}, service {state}": run(url, Path(folder) / f"{number} {way}") for way, run in ways.items()}
        rate = drained(urls["takes turns"], Path(folder) / "drained")
    for run_name, measured in runs.items():
        taken = [seconds for seconds in measured if seconds != REFUSED]
        cuts = statistics.quantiles(taken, n=100)
        shown = (f"{seconds * 1000:.2f}" for seconds in (cuts[49], cuts[94], cuts[98], max(taken)))
        table.add_row(run_name, *shown, str(sum(seconds > 0.05 for seconds in taken)), str(len(measured) - len(taken)))
    console.print(table)
    console.print(f"a spool of {TURNS:,} turns drains at {rate:,.0f} a second")


if __name__ == "__main__":
    typer.run(main)
