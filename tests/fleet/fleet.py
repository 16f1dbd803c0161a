"""A real fleet: worker and beat processes on a real broker, over a catalog and an index in a folder of the test."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from redis import Redis

from memory.queue import create_celery, open_mailbox
from memory.settings import Settings
from memory.stores import Stores, open_stores
from producers import Producer

WAIT_SECONDS = 60.0


def wait_until(condition: Callable[[], bool], what: str, seconds: float = WAIT_SECONDS) -> None:
    """Wait for a condition, not for a time; fail with what was waited for."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"not within {seconds:.0f} s: {what}"
        time.sleep(0.05)


class Fleet:
    """The processes of one test, and what they work on."""

    def __init__(self, url: str, folder: Path) -> None:
        self.settings = Settings(broker_url=url, data_dir=folder / "data", lease_seconds=3, sweep_seconds=1)
        self.redis = Redis.from_url(url)
        self.redis.flushdb()
        self.stores: Stores = open_stores(self.settings)
        self.mailbox = open_mailbox(self.settings, self.redis, create_celery(self.settings))
        self.producer = Producer(self.settings)
        self._log = folder / "fleet.log"
        self._processes: list[subprocess.Popen[bytes]] = []

    @property
    def environment(self) -> dict[str, str]:
        """What makes another process work on the same fleet."""
        return {
            **{name: value for name, value in os.environ.items() if not name.startswith("AFTERTURN_")},
            "AFTERTURN_BROKER_URL": self.settings.broker_url,
            "AFTERTURN_DATA_DIR": str(self.settings.data_dir),
            "AFTERTURN_LEASE_SECONDS": "3",
            "AFTERTURN_SWEEP_SECONDS": "1",
        }

    def start(self, command: str) -> subprocess.Popen[bytes]:
        """Start `afterturn <command>`."""
        with self._log.open("ab") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", "interfaces.cli", command],
                env=self.environment,
                stdout=log,
                stderr=subprocess.STDOUT,
            )
        self._processes.append(process)
        return process

    def start_worker(self) -> subprocess.Popen[bytes]:
        """Start a worker and wait until it takes work."""
        before = self._log.read_text().count(" ready.") if self._log.exists() else 0
        process = self.start("worker")
        wait_until(lambda: self._log.read_text().count(" ready.") > before, "the worker is ready")
        return process

    def wait_until_idle(self) -> None:
        """Wait until no subject has pending turns and no memory waits for the index."""
        wait_until(
            lambda: self.mailbox.dirty_subjects() == 0 and self.stores.catalog.count_index_jobs() == 0,
            f"all turns are processed; the log ends\n{self.log()[-2000:]}",
        )

    def log(self) -> str:
        return self._log.read_text()

    def close(self) -> None:
        for process in self._processes:
            if process.poll() is None:
                process.send_signal(signal.SIGTERM)
        for process in self._processes:
            process.wait(30)
        self.stores.close()
        self.redis.close()
