"""`say` and `ingest` where the broker is slow or away, and where nothing is said."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

from interfaces.local.broker import embedded_broker
from producers.broker import Broker
from schema import Turn
from stores.mailbox import Receipt
from tests.e2e.command import Home
from tests.turns import a_turn


@pytest.fixture
def nobody(tmp_path: Path) -> Home:
    """A home in which nothing runs."""
    return Home.at(tmp_path)


@pytest.mark.parametrize("command", ["ingest", "say"])
def test_what_no_broker_takes_is_told_once_on_standard_error_and_the_exit_code_says_so(
    nobody: Home, command: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("interfaces.cli.turns._FLUSH_SECONDS", 0.5)
    said = nobody.say(command, *turns_in(command, nobody.folder))
    [line] = said.stderr.strip().splitlines()
    assert (f":{nobody.port}/0" in line, str(nobody.data / "spool") in line, "no broker" in line) == (True, True, True)
    assert (said.returncode, "no broker" in said.stdout, caplog.messages) == (1, False, [])


@pytest.mark.parametrize("command", ["ingest", "say"])
def test_a_broker_that_takes_a_turn_late_has_taken_it(
    nobody: Home, command: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    takes = Broker.park

    def late(broker: Broker, turn: Turn, **more: Any) -> Receipt:
        time.sleep(0.2)
        return takes(broker, turn, **more)

    monkeypatch.setattr(Broker, "park", late)
    with embedded_broker(nobody.environment()["AFTERTURN_BROKER_URL"], nobody.folder / "broker"):
        said = nobody.say(command, *turns_in(command, nobody.folder))
    assert (said.returncode, said.stderr.strip(), caplog.messages) == (0, "", [])


@pytest.mark.parametrize("text", ["", "  \n"])
def test_to_say_nothing_is_refused(nobody: Home, text: str) -> None:
    said = nobody.say("say", "maya", text)
    assert (said.returncode, "TEXT" in said.stderr, nobody.data.exists()) == (2, True, False)


def turns_in(command: str, folder: Path) -> list[str]:
    """Arguments with which a command enqueues a turn."""
    if command == "say":
        return ["anna", "I live in Lisbon."]
    file = folder / "a-turn.jsonl"
    file.write_text(json.dumps(a_turn("anna", 1, "I live in Lisbon.")))
    return [str(file)]
