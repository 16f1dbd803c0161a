"""The code of the pages on documents and on what the fleet does: processes that are started, log lines, files."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
from pathlib import Path
from typing import Final

import httpx
import pytest
from structlog.testing import capture_logs

from tests.conftest import free_port
from tests.e2e.command import COMMAND, Home, wait_until
from tests.e2e.pages import Page
from tests.e2e.service import Served

SEEN: Final = Page("see-what-the-fleet-does")
_WORKERS: Final = re.findall(r"^((?:\w+=\S+ )+)\.venv/bin/afterturn worker\b", SEEN.path.read_text(), re.M)
_PAGE_PORT: Final = "9464"


@pytest.mark.parametrize(
    "variables", [_WORKERS[0], *(pytest.param(each, marks=pytest.mark.long) for each in _WORKERS[1:])]
)
def test_a_worker_that_the_page_starts_is_ready_and_shows_what_the_page_asks_it_for(
    broker_url: str, tmp_path: Path, variables: str
) -> None:
    port, log = str(free_port()), tmp_path / "worker.log"
    given = dict(word.split("=", 1) for word in shlex.split(variables.replace(_PAGE_PORT, port)))
    environment = Home(tmp_path, 0).environment(AFTERTURN_BROKER_URL=broker_url, **given)
    with log.open("wb") as said:
        process = subprocess.Popen([*COMMAND, "worker"], env=environment, stdout=said, stderr=said)
    try:
        wait_until(lambda: "ready" in log.read_text() or process.poll() is not None, "it is ready", seconds=120)
        assert process.poll() is None, log.read_text()
        if "AFTERTURN_METRICS_PORT" in given:
            [curl] = [line for line in SEEN.code("/metrics", "sh").splitlines() if line.startswith("curl ")]
            shown = subprocess.run(shlex.split(curl.replace(_PAGE_PORT, port)), capture_output=True, check=True)
            assert b"afterturn_turns_total" in shown.stdout
    finally:
        process.terminate()
        process.wait(120)
    assert "Traceback" not in log.read_text()


def test_a_line_on_a_request_has_what_the_page_shows(me: httpx.Client, user: str) -> None:
    on_page = SEEN.json('"event": "request"')
    with capture_logs() as entries:
        assert me.get(on_page["route"].format(subject_id=user)).status_code == on_page["status"]
        wait_until(lambda: any(entry["event"] == "request" for entry in entries), "it is told of")
    [line] = [entry for entry in entries if entry["event"] == "request"]
    assert {*line, "level"} - {"log_level"} == on_page.keys()
    assert {name: line[name] for name in ("method", "route", "status")} == {
        name: on_page[name] for name in ("method", "route", "status")
    }


def test_a_file_of_examples_as_the_page_has_it_is_loaded(service: Served, tmp_path: Path) -> None:
    page = Page("keep-documents")
    [variables] = re.findall(r"`(AFTERTURN_EXAMPLES=\w+)`", page.path.read_text())
    examples = tmp_path / "examples.jsonl"
    examples.write_text(page.code('"actions"', "json"))
    there = {
        "AFTERTURN_BROKER_URL": service.settings.broker_url,
        "AFTERTURN_DATA_DIR": str(service.settings.data_dir),
        **dict([variables.split("=")]),
    }
    home = Home(tmp_path, 0)
    assert json.loads(home.say("examples", "load", str(examples), "--by", "dora", "--json", **there).stdout) == {
        "accepted": 1
    }
    listed = json.loads(home.say("documents", "list", "examples", "--json", **there).stdout)
    assert [document["document_id"] for document in listed] == ["left"]
