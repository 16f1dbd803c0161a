"""Turns that wait for a key that was replaced are neither sent with another key nor left without a word."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from afterturn_client import AsyncClient, Client
from afterturn_client.configuration import configured
from afterturn_client.spool import Spool

URL = "http://127.0.0.1:1"
SAID = [{"role": "user", "content": "I have cats."}]


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    return tmp_path


def folder_of(key: str, url: str = URL) -> Path:
    return configured(url, key, timeout=1, attempts=1).spool_folder()


def leave_turns(key: str, number: int, url: str = URL) -> Path:
    with Client(url, key, budget_ms=20_000) as client:
        for _ in range(number):
            client.enqueue("maya", SAID)
        assert client.close(0.1) == number
    return folder_of(key, url)


def start(key: str) -> None:
    Client(URL, key).close(0.1)


def start_async(key: str) -> None:
    async def ask() -> None:
        await AsyncClient(URL, key).close(0.1)

    asyncio.run(ask())


def warnings(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.levelno == logging.WARNING]


@pytest.mark.parametrize("start", [start, start_async])
def test_turns_that_wait_for_another_key_are_named_at_the_start_and_stay_where_they_are(
    start: Callable[[str], None], caplog: pytest.LogCaptureFixture
) -> None:
    old, empty = leave_turns("at_old", 3), leave_turns("at_empty", 0)
    caplog.clear()
    start("at_new")
    [warning] = warnings(caplog)
    assert f"3 turns wait in {old} " in warning
    assert str(empty) not in warning
    assert not [key for key in ("at_old", "at_empty", "at_new") if key in warning]
    with closing(Spool(old, max_turns=10, max_bytes=10_000)) as spool:
        assert spool.depth().waiting == 3
    with closing(Spool(folder_of("at_new"), max_turns=10, max_bytes=10_000)) as spool:
        assert spool.depth().waiting == 0


def test_turns_for_another_service_for_this_key_or_on_their_way_are_not_named(
    caplog: pytest.LogCaptureFixture, tmp_path: Path
) -> None:
    leave_turns("at_new", 1, "http://127.0.0.1:2")
    leave_turns("at_new", 1)
    old = leave_turns("at_old", 1)
    caplog.clear()
    with closing(Spool(old, max_turns=10, max_bytes=10_000)) as spool, spool.sending():
        Client(URL, "at_new")
    Client(URL, "at_new", spool_dir=tmp_path / "one of its own")
    assert warnings(caplog) == []


def test_a_folder_that_cannot_be_looked_at_is_named_and_stops_no_client(caplog: pytest.LogCaptureFixture) -> None:
    no_spool, pipe, torn = (folder_of(f"at_{number}") for number in range(3))
    for folder in (no_spool, pipe, torn):
        folder.mkdir(parents=True)
    (no_spool / "spool.sqlite3").write_bytes(b"no database" * 100)
    (pipe / "spool.sqlite3").touch()
    os.mkfifo(pipe / "sending.lock")
    os.mkfifo(torn / "spool.sqlite3")
    Client(URL, "at_new")
    said = warnings(caplog)
    assert [sum(str(folder) in line for line in said) for folder in (no_spool, pipe, torn)] == [1, 1, 0]
