"""A real fleet: worker and beat processes on a real broker, over a catalog and an index in a folder of the test."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any, ClassVar

from redis import Redis

from memory.embedding import counted
from producers import Producer
from schema.settings import PREFIX, Settings, variable_of
from stores.open import Stores, open_stores
from stores.queue import create_celery, open_mailbox
from tests.fleet.forked import Process, fork_command
from tests.fleet.load import Said
from tests.fleet.oracle import Notes, notes_of
from tests.migrated import put_catalog

ROOT = Path(__file__).parents[2]
WAIT_SECONDS = float(os.environ.get("FLEET_WAIT_SECONDS", "180"))
"""How long a test waits for what must come; a mutation that keeps it from coming is found sooner with less."""
ORACLE: dict[str, Any] = {"extractor": "tests.fleet.oracle:open_extractor", "llm": "tests.fleet.oracle:open_model"}


def wait_until(condition: Callable[[], bool], what: str, seconds: float = WAIT_SECONDS) -> None:
    """Wait for a condition, not for a time; fail with what was waited for."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"not within {seconds:.0f} s: {what}"
        time.sleep(0.05)


class Fleet:
    """The processes of one test, and what they work on. `settings` are those of all processes; workers reach the
    broker at `workers_url` where that is another. One that `joins` leaves what is in the broker.

    With `new_catalogs` (`--machines`), URLs of empty catalogs on Postgres, the processes are by turns of two machines,
    which share no data folder but the oracle's notes.
    """

    new_catalogs: ClassVar[Iterator[str] | None] = None

    def __init__(
        self, url: str, folder: Path, *, workers_url: str | None = None, joins: bool = False, **settings: Any
    ) -> None:
        if self.new_catalogs is not None and "catalog_url" not in settings:
            settings |= {"catalog_url": next(self.new_catalogs), "index": "pgvector"}
            self._machines = _two_machines(folder)
        else:
            self._machines = [folder / "data"]
        given = {"lease_seconds": 3, "sweep_seconds": 1, **settings}
        self.settings = Settings(broker_url=url, data_dir=folder / "data", **given)
        if self.settings.catalog_url is None:
            put_catalog(self.settings.data_dir)
        self.redis = Redis.from_url(url)
        if not joins:
            self.redis.flushdb()
        self.stores: Stores = open_stores(self.settings, counted)
        self.celery = create_celery(self.settings)
        self.mailbox = open_mailbox(self.settings, self.redis, self.celery)
        self.producer = Producer(self.settings)
        self.oracle: Notes = notes_of(self.settings)
        self.folder = folder
        self.said: list[Said] = []
        self._to_feed = 0
        self.beats: list[Process] = []
        self.workers: list[Process] = []
        self._processes: list[Process] = []
        self.variables = {
            **{variable_of(name): str(value) for name, value in given.items()},
            "AFTERTURN_DATA_DIR": str(self.settings.data_dir),
            "AFTERTURN_BROKER_URL": url,
        }
        """What the settings are called in the environment of a process."""
        self._workers_url = workers_url or url

    @property
    def environment(self) -> dict[str, str]:
        """What makes another process work on the same fleet."""
        others = {name: value for name, value in os.environ.items() if not name.startswith(PREFIX)}
        return {**others, **self.variables, "PYTHONPATH": str(ROOT)}

    def start(self, command: str, root: Path = ROOT, /, **variables: str) -> Process:
        """Start `afterturn <command>` of the checkout in `root`, with more variables in its environment.

        One of this checkout that has no variables but settings is forked; any other begins anew.
        """
        machine = self._machines[len(self._processes) % len(self._machines)]
        environment = self.environment | {"PYTHONPATH": str(root), "AFTERTURN_DATA_DIR": str(machine)} | variables
        log = self._log_of(len(self._processes))
        process: Process
        if root == ROOT and all(name.startswith(PREFIX) for name in variables):
            process = fork_command([command], environment, root, log)
        else:
            with log.open("ab") as output:
                process = subprocess.Popen(
                    [sys.executable, "-m", "interfaces.cli", command],
                    env=environment,
                    cwd=root,
                    stdout=output,
                    stderr=subprocess.STDOUT,
                )
        self._processes.append(process)
        if command == "beat":
            self.beats.append(process)
        return process

    def revive_beats(self) -> None:
        """Start beats that have ended by themselves again, as a supervisor does: a beat does not outlive an
        outage, nor the loss of its lead to another while it was held up."""
        for beat in [beat for beat in self.beats if (beat.poll() or 0) > 0]:
            self.beats.remove(beat)
            self.start("beat")

    def launch_worker(self, root: Path = ROOT, /, **variables: str) -> Process:
        """Start a worker of the checkout in `root` and do not wait for it."""
        worker = self.start("worker", root, **{"AFTERTURN_BROKER_URL": self._workers_url, **variables})
        self.workers.append(worker)
        return worker

    def start_worker(self, **variables: str) -> Process:
        """Start a worker and wait until it takes work."""
        return self.start_workers(1, **variables)[0]

    def start_workers(self, count: int, **variables: str) -> list[Process]:
        """Start some workers at once and wait until all of them take work, or have died of it."""
        started = [self.launch_worker(**variables) for _ in range(count)]
        self.wait_until_ready(started)
        return started

    def wait_until_ready(self, workers: Sequence[Process]) -> None:
        """Wait until all of them take work, or have died of it."""
        wait_until(lambda: all(self._is_ready(worker) for worker in workers), "the workers are ready")

    def keep(self, count: int) -> None:
        """Start as many workers as have died, so that `count` are alive."""
        self.workers = [worker for worker in self.workers if worker.poll() is None]
        if missing := count - len(self.workers):
            self.start_workers(missing)

    def expect(self, said: Iterable[Said]) -> None:
        """Count turns that are sent past `enqueue` to what must be left at the end."""
        self.said.extend(said)

    def enqueue(self, said: Iterable[Said]) -> None:
        """Enqueue turns, in their order."""
        for one in said:
            self.said.append(one)
            self.producer.enqueue(one.turn())

    @contextmanager
    def feeding(self, said: Sequence[Said], a_second: float) -> Iterator[None]:
        """Enqueue turns at a steady rate while the block runs, and all of them before it ends."""
        begin = time.monotonic()
        self._to_feed = len(said)

        def feed() -> None:
            for place, one in enumerate(said):
                time.sleep(max(0.0, begin + place / a_second - time.monotonic()))
                self._to_feed -= 1
                self.enqueue([one])

        with ThreadPoolExecutor(1) as pool:
            fed = pool.submit(feed)
            yield
            fed.result()

    def processed(self) -> int:
        """How many turns are in the ledger."""
        return sum(self.stores.catalog.count_turns().values())

    def wait_for_more(self, turns: int) -> None:
        """Wait until so many more turns are processed than are by now, or all that are said and fed."""
        enough = min(self.processed() + turns, len(self.said) + self._to_feed)

        def are_processed() -> bool:
            self.revive_beats()
            return self.processed() >= enough

        wait_until(are_processed, f"{turns} more turns are processed")

    def is_idle(self) -> bool:
        """Whether no turn lies in the producer's spool, no subject has pending turns, no memory waits for the index and
        no event to be announced."""
        catalog = self.stores.catalog
        # In the order in which a turn goes: what leaves one place while the next is looked at is seen there.
        return (
            self.producer.flush(0) == 0
            and self.mailbox.pending_subjects() == 0
            and catalog.count_index_jobs() == 0
            and not catalog.outbox(limit=1)
        )

    def wait_until_idle(self, seconds: float = WAIT_SECONDS) -> None:
        """Wait until all that was said to this fleet is processed and nothing else is left to do."""

        def is_done() -> bool:
            self.revive_beats()
            return self.processed() >= len(self.said) and self.is_idle()

        try:
            wait_until(is_done, "all is processed", seconds)
        except AssertionError as error:
            raise AssertionError(f"{error}; {self._story()}\n{self.log()[-2000:]}") from None

    def _story(self) -> str:
        catalog = self.stores.catalog
        alive = sum(worker.poll() is None for worker in self.workers)
        return (
            f"{self.producer.flush(0)} in the spool, {self.processed()} processed, "
            f"{self.mailbox.pending_turns()} pending of {self.mailbox.pending_subjects()} subjects, "
            f"{catalog.count_index_jobs()} not indexed, {alive} workers alive; the logs end"
        )

    def log(self) -> str:
        """What all processes wrote, one after the other."""
        return "".join(self._log_of(number).read_text(errors="replace") for number in range(len(self._processes)))

    def close(self) -> None:
        for process in self._processes:
            if process.poll() is None:
                process.send_signal(signal.SIGCONT)
                process.send_signal(signal.SIGTERM)
        for process in self._processes:
            try:
                process.wait(30)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        self.producer.close()
        self.stores.close()
        self.redis.close()

    def _log_of(self, number: int) -> Path:
        return self.folder / f"{number}.log"

    def _is_ready(self, process: Process) -> bool:
        return process.poll() is not None or " ready." in self._log_of(self._processes.index(process)).read_text()


def _two_machines(folder: Path) -> list[Path]:
    """Return two data folders, in which the oracle's notes alone are the same."""
    one, other = folder / "data", folder / "data-of-another"
    # A link to what is not there yet would be no folder to whoever writes first.
    (one / "oracle").mkdir(parents=True, exist_ok=True)
    other.mkdir(exist_ok=True)
    (other / "oracle").symlink_to(one / "oracle")
    return [one, other]


def stop(process: Process, by: signal.Signals) -> int:
    """Send a signal that ends a process, and answer how it ended."""
    process.send_signal(by)
    return process.wait(60)


@contextmanager
def locked(files: Iterable[Path]) -> Iterator[None]:
    """Nobody else can write to these SQLite files."""
    with ExitStack() as stack:
        for file in files:
            connection = stack.enter_context(closing(sqlite3.connect(file, timeout=60, isolation_level=None)))
            connection.execute("BEGIN EXCLUSIVE")
        yield
