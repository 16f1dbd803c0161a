"""The `afterturn` command as a user runs it, its settings in the environment."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

from interfaces.cli.main import main
from interfaces.cli.output import console, errors
from tests.conftest import free_port

COMMAND = (sys.executable, "-m", "interfaces.cli")
WAIT_SECONDS = 120.0


@dataclass(frozen=True)
class Said:
    """How a command ended."""

    returncode: int
    stdout: str
    stderr: str


@dataclass(frozen=True)
class Home:
    """A data folder and a port for a broker: all that two runs of the command share."""

    folder: Path
    port: int

    @classmethod
    def at(cls, folder: Path) -> Home:
        return cls(folder, free_port())

    @property
    def data(self) -> Path:
        return self.folder / "data"

    def environment(self, **more: str) -> dict[str, str]:
        ours = {name: value for name, value in os.environ.items() if not name.startswith("AFTERTURN_")}
        return ours | {
            "AFTERTURN_DATA_DIR": str(self.data),
            "AFTERTURN_BROKER_URL": f"redis://127.0.0.1:{self.port}/0",
            "AFTERTURN_HTTP_PORT": "0",
            "COLUMNS": "160",
            "NO_COLOR": "1",
            **more,
        }

    def spawn(self, *arguments: str, **more: str) -> Said:
        """Run a command to its end, as a process of its own."""
        done = subprocess.run(
            [*COMMAND, *arguments],
            env=self.environment(**more),
            capture_output=True,
            text=True,
            timeout=WAIT_SECONDS,
            check=False,
            stdin=subprocess.DEVNULL,
        )
        return Said(done.returncode, done.stdout, done.stderr)

    def say(self, *arguments: str, answer: str = "", **more: str) -> Said:
        """Run a command to its end in this process: the same entry, without a second or two to import it all. What it
        asks is given the `answer`."""
        out, err = io.StringIO(), io.StringIO()
        with (
            patch.dict(os.environ, self.environment(**more), clear=True),
            patch.object(sys, "argv", ["afterturn", *arguments]),
            patch.object(sys, "stdin", io.StringIO(answer)),
            patch.object(console, "_width", 160),
            patch.object(errors, "_width", 160),
            redirect_stdout(out),
            redirect_stderr(err),
        ):
            try:
                main()
            except SystemExit as end:
                return Said(_exit_code(end), out.getvalue(), err.getvalue())
        return Said(0, out.getvalue(), err.getvalue())

    def json(self, *arguments: str, **more: str) -> Any:
        """What a command that succeeds prints with --json."""
        said = self.say(*arguments, "--json", **more)
        assert said.returncode == 0, said.stderr
        return json.loads(said.stdout)

    def answered(self, *arguments: str, **more: str) -> Said:
        """How a command ends once all that it asks answers in time, which on a busy machine it may not at first."""
        said = self.say(*arguments, **more)
        deadline = time.monotonic() + WAIT_SECONDS
        while said.returncode != 0:
            assert time.monotonic() < deadline, said.stderr
            said = self.say(*arguments, **more)
        return said

    @contextmanager
    def running(self, said: str = "stays up until Ctrl-C", **more: str) -> Iterator[Run]:
        """`afterturn run` from when it has said some words until the block ends."""
        log = self.folder / "run.log"
        with log.open("wb") as output:
            process = subprocess.Popen(
                [*COMMAND, "run"], env=self.environment(**more), stdout=output, stderr=subprocess.STDOUT
            )
        run = Run(process, log)
        try:
            run.wait_for(said)
            yield run
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(WAIT_SECONDS)


@dataclass(frozen=True)
class Run:
    """An `afterturn run` that is up."""

    process: subprocess.Popen[bytes]
    log: Path

    def said(self) -> str:
        return self.log.read_text()

    def wait_for(self, words: str) -> None:
        wait_until(lambda: words in self.said(), f"{words!r}; it said\n{self.said()}")

    def pid_of(self, part: str) -> int:
        """The process id of the "worker", of "beat" or of "valkey-server"."""
        [pid] = [pid for pid, line in children(self.process.pid).items() if part in line]
        return pid

    def stop(self) -> int:
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(WAIT_SECONDS)


def _exit_code(end: SystemExit) -> int:
    return end.code if isinstance(end.code, int) else int(end.code is not None)


def wait_until(condition: Callable[[], bool], what: str, seconds: float = WAIT_SECONDS) -> None:
    """Wait for a condition, not for a time; fail with what was waited for."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"not within {seconds:.0f} s: {what}"
        time.sleep(0.05)


def children(pid: int) -> dict[int, str]:
    """The processes that a process started, with their command lines."""
    listed = subprocess.run(["ps", "-e", "-ww", "-o", "pid=,ppid=,args="], capture_output=True, text=True, check=True)
    rows = [line.split(None, 2) for line in listed.stdout.splitlines()]
    return {int(row[0]): row[2] for row in rows if int(row[1]) == pid and not row[2].startswith("ps ")}


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
