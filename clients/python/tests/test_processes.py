"""Processes that are killed, that fork, and that share a spool."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from afterturn_client import SpoolUnavailable
from afterturn_client.files import locked
from afterturn_client.spool import Spool

PATIENCE_SECONDS = 20.0


def open_spool(folder: Path) -> Spool:
    return Spool(folder, max_turns=200_000, max_bytes=1_000_000_000)


_SAYS = """
import sys
from afterturn_client import Client
client = Client("http://127.0.0.1:1", spool_dir=sys.argv[1], budget_ms=20_000)
for number in range(int(sys.argv[3])):
    client.enqueue(sys.argv[2], [{"role": "user", "content": "I have cats."}], turn_id=f"{sys.argv[2]}-{number}")
    print(number, flush=True)
"""


def test_a_killed_process_loses_nothing_that_it_had_accepted(tmp_path: Path) -> None:
    folder = tmp_path / "spool"
    process = subprocess.Popen(
        [sys.executable, "-c", _SAYS, str(folder), "maya", "100000"], stdout=subprocess.PIPE, env=_environment()
    )
    assert process.stdout is not None
    for _ in range(50):
        process.stdout.readline()
    process.send_signal(signal.SIGKILL)
    rest = process.stdout.read().splitlines()
    process.wait()
    process.stdout.close()
    accepted = 50 + len([line for line in rest if line])
    with closing(open_spool(folder)) as spool:
        found = [turn.turn_id for turn in spool.oldest(200_000)]
    # One more may have been accepted that it had no time to tell of.
    assert found[:accepted] == [f"maya-{number}" for number in range(accepted)]
    assert len(found) - accepted in {0, 1}


def test_processes_that_share_a_spool_are_all_in_it(tmp_path: Path) -> None:
    folder = tmp_path / "spool"
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", _SAYS, str(folder), user, "50"], stdout=subprocess.DEVNULL, env=_environment()
        )
        for user in ("anna", "bert")
    ]
    assert [process.wait() for process in processes] == [0, 0]
    with closing(open_spool(folder)) as spool:
        turns = spool.oldest(1000)
    for user in ("anna", "bert"):
        assert [turn.turn_id for turn in turns if turn.user == user] == [f"{user}-{number}" for number in range(50)]


_FORKS = """
import os, sys
from afterturn_client import Client
client = Client("http://127.0.0.1:1", spool_dir=sys.argv[1], budget_ms=20_000)
said = [{"role": "user", "content": "I have cats."}]
client.enqueue("maya", said, turn_id="before")
if (child := os.fork()) == 0:
    client.enqueue("maya", said, turn_id="in the child")
    os._exit(0 if client.close(0.1) == 2 else 1)
_, status = os.waitpid(child, 0)
client.enqueue("maya", said, turn_id="after")
sys.exit(status or client.close(0.1) != 3)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_client_goes_on_in_a_child_and_in_its_parent(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", _FORKS, str(tmp_path / "spool")], env=_environment(), check=False)
    assert done.returncode == 0
    with closing(open_spool(tmp_path / "spool")) as spool:
        assert [turn.turn_id for turn in spool.oldest(10)] == ["before", "in the child", "after"]


_FORKS_WHILE_OPEN = """
import os, sys
from pathlib import Path
from afterturn_client import Client
client = Client("http://127.0.0.1:1", spool_dir=sys.argv[1], budget_ms=20_000)
client.enqueue("maya", [{"role": "user", "content": "I have cats."}])
if (child := os.fork()) == 0:
    inherited = {os.readlink(fd) for fd in Path("/proc/self/fd").iterdir() if fd.is_symlink() and fd.exists()}
    os._exit(any("sqlite3" in file for file in inherited))
_, status = os.waitpid(child, 0)
client.close(0.1)
sys.exit(status != 0)
"""


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="this system does not list open files there")
def test_a_child_inherits_no_open_database(tmp_path: Path) -> None:
    """SQLite in the child would believe to hold the locks of its parent."""
    command = [sys.executable, "-c", _FORKS_WHILE_OPEN, str(tmp_path / "spool")]
    assert subprocess.run(command, env=_environment(), check=False).returncode == 0


_OPENS = """
import sys
from afterturn_client import Client, SpoolUnavailable
try:
    Client("http://127.0.0.1:1", spool_dir=sys.argv[1])
except SpoolUnavailable as error:
    print(error)
"""


@pytest.mark.parametrize("name", ["open.lock", "spool.sqlite3"])
@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir])
def test_a_file_of_another_kind_in_a_spool_is_named_and_holds_nobody_up(
    tmp_path: Path, name: str, make: Callable[[Path], None]
) -> None:
    make(tmp_path / name)
    command = [sys.executable, "-c", _OPENS, str(tmp_path)]
    done = subprocess.run(
        command, env=_environment(), stdout=subprocess.PIPE, text=True, timeout=PATIENCE_SECONDS, check=True
    )
    assert name in done.stdout
    assert "spool_dir" in done.stdout


def test_a_pipe_in_the_place_of_the_lock_of_who_sends_is_named_and_holds_nobody_up(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "sending.lock")
    refused = pytest.raises(SpoolUnavailable, match=r"sending\.lock is no regular file")
    with closing(open_spool(tmp_path)) as spool, refused, spool.sending():
        pass


def test_a_process_that_stands_still_while_it_opens_a_spool_holds_up_nobody_for_ever(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("afterturn_client.spool._PATIENCE_SECONDS", 0.1)
    with locked(tmp_path / "open.lock", 0), pytest.raises(SpoolUnavailable, match="another process"):
        open_spool(tmp_path)
    open_spool(tmp_path).close()


def _environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}
