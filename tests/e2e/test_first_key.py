"""A service that other machines reach, started before anybody has a key: it does not start, or where it is told to wait
for one, stays up and lets nobody in."""

from __future__ import annotations

import json
import shlex
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from unittest.mock import patch

import httpx
import pytest

from tests.conftest import free_port
from tests.e2e.command import COMMAND, Home, wait_until

EVERYWHERE: Final = "0.0.0.0"
MEMORIES: Final = "/api/v1/memories/?user_id=anna"


@dataclass(frozen=True)
class Started:
    """`afterturn serve` as the compose file and the chart start it."""

    home: Home
    url: str
    log: Path

    def is_up(self) -> bool:
        try:
            return httpx.get(f"{self.url}/livez", timeout=30.0).is_success
        except httpx.HTTPError:
            return False

    def warning(self) -> Any:
        """What it logs of keys."""
        lines = [json.loads(line) for line in self.log.read_text().splitlines() if line.startswith("{")]
        [warning] = [line for line in lines if line["event"] == "no_keys_yet"]
        return warning


@pytest.fixture
def exposed(tmp_path: Path, broker_url: str) -> Iterator[Started]:
    home, port, log = Home(tmp_path, 0), free_port(), tmp_path / "serve.log"
    command = [*COMMAND, "serve", "--host", EVERYWHERE, "--port", str(port), "--wait-for-key"]
    environment = home.environment(AFTERTURN_BROKER_URL=broker_url)
    with log.open("wb") as said:
        process = subprocess.Popen(command, env=environment, stdout=said, stderr=said)
    started = Started(home, f"http://127.0.0.1:{port}", log)
    try:
        wait_until(lambda: started.is_up() or process.poll() is not None, "it answers, or ends", seconds=120)
        assert process.poll() is None, log.read_text()
        yield started
    finally:
        process.kill()
        process.wait()


@pytest.mark.parametrize("address", [EVERYWHERE, "::", "192.0.2.1"])
def test_a_service_without_keys_does_not_start_where_others_reach_it_and_says_what_to_do(
    tmp_path: Path, address: str
) -> None:
    with patch("interfaces.cli.service.require_free_address"):
        said = Home.at(tmp_path).say("serve", "--host", address)
    assert said.returncode == 2
    for way in ("afterturn keys create", "127.0.0.1"):
        assert way in said.stderr


def test_a_service_that_waits_for_a_key_lets_nobody_in_until_one_is_made(
    exposed: Started,
) -> None:
    assert httpx.get(f"{exposed.url}/readyz", timeout=30.0).status_code == 200
    message = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    for refused in (
        httpx.get(exposed.url + MEMORIES, timeout=30.0),
        httpx.post(f"{exposed.url}/api/v1/turns", json={}, timeout=30.0),
        httpx.post(f"{exposed.url}/mcp", json=message, timeout=30.0),
        httpx.post(f"{exposed.url}/api/v1/staff-link", json={"name": "mallory"}, timeout=30.0),
    ):
        assert refused.status_code == 401, refused.text

    words = shlex.split(exposed.warning()["make_one"])
    assert words[0] == "afterturn"
    made = exposed.home.json(*words[1:])
    answer = httpx.get(exposed.url + MEMORIES, headers={"X-API-Key": made["key"]}, timeout=30.0)
    assert (answer.status_code, answer.json()["items"]) == (200, [])
    assert httpx.get(exposed.url + MEMORIES, timeout=30.0).status_code == 401
