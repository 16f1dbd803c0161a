"""The code of the how-to pages that no other file runs: in Python, in JavaScript and by curl, as it is written."""

from __future__ import annotations

import base64
import json
import os
import re
import shlex
import subprocess
import sys
import tomllib
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import pytest
from standardwebhooks import Webhook

from recall.tools import TOOLS
from schema import Capability
from stores.queue import INGEST_QUEUE
from stores.redis import open_redis
from tests.e2e.killed import parked
from tests.e2e.pages import Page
from tests.e2e.service import Served
from tests.npm import installed, node_of

README = Page("../../README")
ENQUEUE = Page("enqueue-from-a-chat-backend")
ROOT: Final = Path(__file__).parents[2]
_BUILT: Final = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["hatch"]["build"]["targets"]["wheel"]
PACKAGES: Final[list[str]] = _BUILT["packages"]
BROKER: Final = "redis://127.0.0.1:6390/0"
SERVICE: Final = "http://127.0.0.1:8000"
"""Where they are on the pages."""
_CURL: Final = re.compile(r"^curl (?:.*\\\n)*.*$", re.M)
TURN: Final = """
said = [{"role": "user", "content": "I live in Porto."}]
turn = {"tenant_id": "default", "conversation_id": "c", "messages": said, "occurred_at": "2026-11-02T08:00:00+00:00"}
"""
AWAITED: Final = """
import asyncio

asyncio.run(after_response({**turn, "turn_id": "c-17/6", "user_id": "ada"}))
"""
SENT: Final = """
remember({**turn, "turn_id": "c-18/1", "user_id": "bert"})
"""


def ran(code: str, service: Served, folder: Path | None = None, **more: str) -> str:
    """What a program prints that finds the service and its stores where they are; `folder` is where it is started."""
    settings = service.settings
    there = {"AFTERTURN_BROKER_URL": settings.broker_url, "AFTERTURN_DATA_DIR": str(settings.data_dir), **more}
    code = code.replace(BROKER, settings.broker_url).replace(SERVICE, service.url)
    command, environment = [sys.executable, "-c", code], {**os.environ, **there}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def sent_to_the_queue(service: Served) -> dict[str, dict[str, Any]]:
    """The turns that plain messages have, by id."""
    redis: Any = open_redis(service.settings)
    messages = [json.loads(message) for message in redis.lrange(INGEST_QUEUE, 0, -1)]
    redis.close()
    of_turns = [message for message in messages if message["headers"]["task"] == "memory.ingest_turn"]
    turns = [json.loads(base64.b64decode(message["body"]))[0][0] for message in of_turns]
    return {turn["turn_id"]: turn for turn in turns}


def test_the_first_lines_for_a_backend_hand_a_turn_over_whatever_its_own_modules_are_called(
    service: Served, tmp_path: Path
) -> None:
    for name in PACKAGES:
        (tmp_path / f"{name}.py").write_text("")
    key = service.key(Capability.READ, Capability.TURNS, Capability.ACT_AS)
    client = str(ROOT / "clients" / "python")
    home = {"PYTHONPATH": client, "XDG_STATE_HOME": str(tmp_path / "state"), "AFTERTURN_API_KEY": key}
    ran(README.code("Client("), service, tmp_path, **home)
    assert len(parked(service.settings.broker_url, service.settings.data_dir, "ada", "acme")) == 1


def test_the_page_names_every_package_that_a_module_of_the_backend_could_hide() -> None:
    [said] = [text for text in ENQUEUE.path.read_text().split("\n\n") if "at the top level" in text]
    assert set(PACKAGES) <= set(re.findall("`(\\w+)`", said))


def test_turns_are_enqueued_in_each_way_that_the_page_says(service: Served, tmp_path: Path) -> None:
    at_start = ENQUEUE.code("default_producer()")
    with_settings = ENQUEUE.code("Producer(Settings(").replace("/var/lib/chat", str(tmp_path))
    ran(at_start + ENQUEUE.code('"turn_id": "c-17/4"') + with_settings, service)
    ran(ENQUEUE.code("async def after_response") + TURN + AWAITED, service)
    waiting = parked(service.settings.broker_url, service.settings.data_dir, "ada", "default")
    assert list(waiting) == ["c-17/4", "c-17/6"]


def test_a_backend_with_celery_alone_sends_what_a_worker_reads(service: Served) -> None:
    ran(ENQUEUE.code("from celery import Celery") + TURN + SENT, service)
    assert sent_to_the_queue(service)["c-18/1"]["messages"][0]["content"] == "I live in Porto."


@pytest.mark.long
def test_a_backend_in_node_sends_what_a_worker_reads(service: Served, tmp_path: Path) -> None:
    packages = installed(tmp_path)
    code = ENQUEUE.code("lPush", "js").replace(BROKER, service.settings.broker_url)
    (tmp_path / "remember.mjs").write_text(code)
    subprocess.run([node_of(packages), "remember.mjs"], cwd=tmp_path, check=True)
    assert sent_to_the_queue(service)["c-17/5"]["messages"][0]["content"] == "I am allergic to peanuts."


def test_a_program_beside_the_stores_changes_and_prints_what_is_known(service: Served) -> None:
    page = Page("use-in-process")
    with service.client(service.key(tenant="default", user="maya")) as client:
        assert client.post("/api/v1/memories/", json={"content": "Maya cannot eat peanuts."}).status_code == 201
    told = ran(page.code("recall.remember"), service)
    assert told.startswith("Maya lives in Lisbon.")
    assert "Always:\n- Maya lives in Lisbon." in told
    assert ran(page.code("AsyncRecall"), service) == "['Maya cannot eat peanuts.']\n"


def test_a_program_beside_the_stores_calls_the_tools_that_the_page_of_mcp_names(service: Served) -> None:
    page = Page("use-from-an-mcp-client")
    with service.client(service.key(tenant="default", user="maya")) as client:
        assert client.post("/api/v1/memories/", json={"content": "Maya cannot eat peanuts."}).is_success
    told = json.loads(ran(page.code("ToolContext"), service))
    assert (told["status"], [memory["content"] for memory in told["memories"]]) == (
        "SUCCESS",
        ["Maya cannot eat peanuts."],
    )
    assert {name for name in TOOLS if f"`{name}`" in page.path.read_text()} == set(TOOLS)


def test_a_receiver_of_webhooks_verifies_what_comes(capsys: pytest.CaptureFixture[str]) -> None:
    page = Page("be-told-by-webhooks")
    received = page.run("def on_memory")
    body, sender = page.code('"type":"memory.created"', "json").strip(), received["webhook"]
    assert isinstance(sender, Webhook)
    now = datetime.now(UTC)
    signed = {"webhook-id": "msg_1", "webhook-timestamp": str(int(now.timestamp()))}
    received["on_memory"](body, {**signed, "webhook-signature": sender.sign("msg_1", now, body)})
    assert capsys.readouterr().out == "msg_1 memory.created maya\n"


@pytest.mark.parametrize("name", ["serve-memories", "note-what-was-just-said"])
def test_what_a_page_asks_by_curl_is_answered(service: Served, name: str) -> None:
    commands = _CURL.findall(Page(name).path.read_text())
    key = service.key(*Capability, tenant="default")
    for command in commands:
        words = shlex.split(command.replace("\\\n", "").replace(SERVICE, service.url).replace("at_...", key))
        done = subprocess.run([*words, "--silent", "--fail-with-body"], capture_output=True, text=True, check=False)
        assert done.returncode == 0, (command, done.stdout)
    assert commands
