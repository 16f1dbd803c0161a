"""Processes of a fleet, forked from one in which everything is imported and the models are loaded.

A worker that starts anew takes five seconds of the processor until it takes work, nearly all of them for what is the
same in every test; one that is forked takes a quarter of a second.
"""

from __future__ import annotations

import atexit
import logging
import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from multiprocessing import get_context
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from typing import NoReturn, Protocol

_forkserver = get_context("forkserver")
_forkserver.set_forkserver_preload(["tests.fleet.preloaded"])


class Process(Protocol):
    """What tests do with a process, as `subprocess.Popen` has it."""

    pid: int

    def poll(self) -> int | None: ...
    def wait(self, timeout: float | None = None) -> int: ...
    def send_signal(self, sig: int) -> None: ...
    def kill(self) -> None: ...


class Forked:
    """A process that was forked, with the shape of `subprocess.Popen`."""

    def __init__(self, process: ForkServerProcess) -> None:
        self._process = process
        assert process.pid is not None
        self.pid = process.pid

    def poll(self) -> int | None:
        """Return its exit code, or minus the signal that ended it; None while it runs."""
        return self._process.exitcode

    def wait(self, timeout: float | None = None) -> int:
        """Wait for its end and return as `poll` does.

        Raises:
            subprocess.TimeoutExpired: it still runs after `timeout` seconds.
        """
        self._process.join(timeout)
        code = self.poll()
        if code is None:
            raise subprocess.TimeoutExpired(self._process.name, timeout or 0)
        return code

    def send_signal(self, sig: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, sig)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


def fork_command(arguments: Sequence[str], environment: Mapping[str, str], folder: Path, log: Path) -> Forked:
    """Start `afterturn <arguments>` in `folder`, with this environment and all that it writes appended to `log`."""
    log.touch()
    process = _forkserver.Process(
        target=_run, args=(list(arguments), dict(environment), folder, log), name=f"afterturn {arguments[0]}"
    )
    process.start()
    return Forked(process)


def _run(arguments: list[str], environment: dict[str, str], folder: Path, log: Path) -> NoReturn:
    from interfaces.cli.fleet import ask_kernel_to_end_with_parent
    from interfaces.cli.main import main

    ask_kernel_to_end_with_parent()
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    with log.open("ab") as output:
        os.dup2(output.fileno(), 1)
        os.dup2(output.fileno(), 2)
    sys.argv = ["afterturn", *arguments]
    code = 0
    try:
        main()
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    finally:
        # What a process does at its end, which multiprocessing leaves out.
        atexit._run_exitfuncs()
        logging.shutdown()
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(code)
