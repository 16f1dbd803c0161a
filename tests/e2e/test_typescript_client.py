"""The TypeScript client: its types are the service's, its own tests hold against a real service, and its page runs."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import httpx
import pytest

from memory.events import stream_key
from schema import Subject
from stores.queue import create_celery, open_mailbox
from stores.redis import open_redis
from tests.conftest import free_port
from tests.e2e.command import wait_until
from tests.e2e.pages import Page
from tests.e2e.service import Served
from tests.typescript_types import types

ROOT = Path(__file__).parents[2]
CLIENT = ROOT / "clients" / "typescript"
NODE = shutil.which("node")
PAGE = Page("use-from-node")

needs_node = pytest.mark.skipif(
    NODE is None and "NODE_REQUIRED" not in os.environ, reason="there is no node here (Debian: apt install nodejs)"
)


def environment(service: Served, **more: str) -> dict[str, str]:
    return {**os.environ, "AFTERTURN_URL": service.url, "AFTERTURN_API_KEY": service.key(), **more}


def test_its_types_are_those_of_the_service() -> None:
    assert (CLIENT / "types.d.ts").read_text() == types(), (
        "python -m tests.typescript_types > clients/typescript/types.d.ts"
    )


def test_it_has_no_dependency_and_needs_no_build() -> None:
    package = json.loads((CLIENT / "package.json").read_text())
    assert not [key for key in package if "ependencies" in key]
    assert all((CLIENT / file).exists() for file in package["files"])


def test_its_pages_name_the_oldest_node_that_it_takes() -> None:
    """Of 18 a module has no `crypto` to name a turn by."""
    oldest = json.loads((CLIENT / "package.json").read_text())["engines"]["node"].removeprefix(">=")
    assert int(oldest) >= 20
    for page in (CLIENT / "README.md", ROOT / "docs" / "how-to" / "use-from-node.md"):
        assert f"Node ({oldest} and newer)" in page.read_text()


@needs_node
def test_its_own_tests_hold_against_the_service(service: Served) -> None:
    assert NODE is not None
    redis = open_redis(service.settings)
    for number in (1, 2, 3):
        fields = {"event_id": number, "event": "memory.error", "at": datetime.now(UTC).isoformat()}
        said = {**fields, "payload": json.dumps({"turn_id": f"t{number}"})}
        redis.xadd(stream_key(Subject(tenant_id="acme", subject_id="listener")), said)  # type: ignore[arg-type]
    redis.close()
    told = subprocess.run(
        [NODE, "--test", "tests/"], cwd=CLIENT, env=environment(service), capture_output=True, text=True, check=False
    )
    assert told.returncode == 0, told.stdout + told.stderr
    assert "# pass 10" in told.stdout, told.stdout


@contextmanager
def backend(folder: Path, service: Served) -> Iterator[str]:
    """The page's backend, with the client where npm would link it."""
    assert NODE is not None
    (folder / "node_modules").mkdir()
    (folder / "node_modules" / "afterturn-client").symlink_to(CLIENT)
    (folder / "backend.mjs").write_text(PAGE.code("createServer", "js"))
    port = free_port()
    process = subprocess.Popen([NODE, "backend.mjs"], cwd=folder, env=environment(service, PORT=f"{port}"))

    def is_up() -> bool:
        assert process.poll() is None
        try:
            return httpx.post(f"http://127.0.0.1:{port}/nobody", content="Hello.", timeout=30.0).is_success
        except httpx.TransportError:
            return False

    try:
        wait_until(is_up, "the backend answers")
        yield f"http://127.0.0.1:{port}"
    finally:
        process.kill()
        process.wait()


@needs_node
def test_the_backend_of_the_page_answers_with_what_is_known_and_hands_the_turn_over(
    service: Served, tmp_path: Path
) -> None:
    user = f"maya-{uuid.uuid4().hex[:8]}"
    with service.client(service.key()) as asked:
        asked.post("/api/v1/memories/", json={"content": "Maya is vegan.", "user_id": user}).raise_for_status()
    with backend(tmp_path, service) as url:
        answer = httpx.post(f"{url}/{user}", content="What can I not eat?", timeout=30).text
        assert "Maya is vegan." in answer
        redis = open_redis(service.settings)
        mailbox = open_mailbox(service.settings, redis, create_celery(service.settings))
        whose = Subject(tenant_id="acme", subject_id=user)
        wait_until(lambda: bool(mailbox.parked(whose)), "the turn is parked")
        [turn] = mailbox.parked(whose).values()
        redis.close()
    said = [message["content"] for message in json.loads(turn.body)["messages"]]
    assert said == ["What can I not eat?", answer]
