"""Ctrl-C during the tests of a fleet: no server, no worker and no folder stays."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import uuid
from contextlib import suppress
from pathlib import Path

import pytest

from tests.fleet.fleet import ROOT, wait_until
from tests.leftovers import RUN_VARIABLE, processes_of

NESTED = "NESTED_TESTS_RUN"


def folder_of(mark: str) -> Path | None:
    """The folder of the run whose processes have a variable of their environment."""
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            environment = (process / "environ").read_text(errors="replace").split("\0")
            if f"{NESTED}={mark}" in environment:
                for variable in environment:
                    if variable.startswith(f"{RUN_VARIABLE}="):
                        return Path(variable.partition("=")[2])
    return None


@pytest.mark.long
@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_ctrl_c_leaves_no_server_no_worker_and_no_folder(tmp_path: Path) -> None:
    mark = uuid.uuid4().hex
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    environment.pop(RUN_VARIABLE)
    log = tmp_path / "log"
    with log.open("wb") as output:
        run = subprocess.Popen(
            [
                # A shell has what it starts in the background ignore Ctrl-C, and that is inherited.
                *("env", "--default-signal=INT"),
                *(sys.executable, "-m", "pytest", "-n", "2", "--dist", "loadfile", "-p", "no:cacheprovider"),
                *("tests/fleet/test_queue_contract.py", "tests/contract/test_catalog.py"),
            ],
            cwd=ROOT,
            env=environment | {NESTED: mark},
            stdout=output,
            stderr=subprocess.STDOUT,
            # A group of its own, as a shell gives to a command, so that the signal of Ctrl-C goes to all of it.
            start_new_session=True,
        )

    def all_run() -> bool:
        folder = folder_of(mark)
        commands = "" if folder is None else " ".join(processes_of(folder).values())
        return all(part in commands for part in ("valkey-server", "postgres", "multiprocessing.forkserver"))

    folder = None
    try:
        wait_until(all_run, "two servers and a worker run")
        folder = folder_of(mark)
        assert folder is not None
        os.killpg(run.pid, signal.SIGINT)
        assert run.wait(120) == pytest.ExitCode.INTERRUPTED, log.read_text()
        assert processes_of(folder) == {}
        assert not folder.parent.exists()
    finally:
        for pid in [run.pid, *(() if folder is None else processes_of(folder))]:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
