"""The processes of `afterturn run`: which of them are started again."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from interfaces.local.processes import ProcessKeepsDying, Supervised
from schema.errors import AfterturnError, exit_code_of

_UNTIL_THERE = """
import pathlib, sys, time
flag = pathlib.Path(sys.argv[1])
if not flag.exists():
    sys.exit(int(sys.argv[2]))
flag.with_name("up").touch()
time.sleep(600)
"""


@pytest.fixture
def flag(tmp_path: Path) -> Path:
    """What the process needs to stay up."""
    return tmp_path / "there"


@pytest.fixture
def started(tmp_path: Path, flag: Path, code: int) -> Iterator[Supervised]:
    """A process that ends with a code until what it needs is there."""
    command = [sys.executable, "-c", _UNTIL_THERE, str(flag), str(code)]
    process = Supervised("worker", command, tmp_path / "log")
    process.start()
    yield process
    process.stop()


def restart(process: Supervised) -> None:
    """Look until it was started again."""
    deadline = time.monotonic() + 30
    while not process.restart_if_dead():
        assert time.monotonic() < deadline
        time.sleep(0.01)


@pytest.mark.parametrize("code", [1])
def test_one_that_may_succeed_later_is_started_until_it_stays_up(started: Supervised, flag: Path) -> None:
    for _ in range(3):
        restart(started)
    flag.touch()
    wait_until_up(started, flag)
    assert not started.restart_if_dead()


@pytest.mark.parametrize("code", [2])
def test_one_that_says_what_to_mend_is_not_started_again(started: Supervised) -> None:
    with pytest.raises(ProcessKeepsDying, match="refuses to begin"):
        restart(started)


def wait_until_up(process: Supervised, flag: Path) -> None:
    deadline = time.monotonic() + 30
    while not flag.with_name("up").exists():
        process.restart_if_dead()
        assert time.monotonic() < deadline
        time.sleep(0.01)


@pytest.fixture
def killed(started: Supervised, flag: Path, monkeypatch: pytest.MonkeyPatch) -> Supervised:
    """A process that stayed up, was killed, and does not find what it needs."""
    monkeypatch.setattr("interfaces.local.processes._SHORTEST_LIFE", 0.0)
    flag.touch()
    wait_until_up(started, flag)
    for lost in (flag, flag.with_name("up")):
        lost.unlink()
    assert started.pid is not None
    os.kill(started.pid, signal.SIGKILL)
    restart(started)
    monkeypatch.setattr("interfaces.local.processes._SHORTEST_LIFE", 5.0)
    return started


@pytest.mark.parametrize("code", [2])
def test_one_that_stayed_up_is_started_until_what_the_dead_one_held_is_free(killed: Supervised, flag: Path) -> None:
    for _ in range(2):
        restart(killed)
    flag.touch()
    wait_until_up(killed, flag)


@pytest.mark.parametrize("code", [2])
def test_one_that_stayed_up_and_refuses_for_long_says_what_to_mend(
    killed: Supervised, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("interfaces.local.processes._HELD_SECONDS", 0.0)
    with pytest.raises(ProcessKeepsDying, match="refuses to begin"):
        restart(killed)


@pytest.mark.parametrize("code", [70])
def test_one_that_keeps_dying_is_given_up(started: Supervised) -> None:
    with pytest.raises(ProcessKeepsDying, match="does not stay up"):
        for _ in range(3):
            restart(started)


@pytest.mark.parametrize("code", [1])
def test_one_that_may_succeed_later_is_given_up_too_when_it_never_does_and_nothing_needs_to_be_mended(
    started: Supervised, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("interfaces.local.processes._PATIENCE_SECONDS", 0.0)
    with pytest.raises(AfterturnError, match="does not stay up") as given_up:
        for _ in range(3):
            restart(started)
    assert exit_code_of(given_up.value) == 1
