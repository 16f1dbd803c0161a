"""A service that is killed, and what its clients' turns came to."""

from __future__ import annotations

import json
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx

from producers import Producer
from schema import Subject
from schema.settings import Settings
from stores.queue import create_celery, open_mailbox
from stores.redis import open_redis
from tests.e2e.command import COMMAND, Home, wait_until
from tests.e2e.service import settings_in


def parked(broker_url: str, folder: Path, user: str, tenant: str) -> dict[str, list[dict[str, str]]]:
    """What the mailbox has of a user: the messages by turn_id, in the order in which the turns will be processed."""
    settings = settings_in(folder, broker_url)
    redis = open_redis(settings)
    try:
        mailbox = open_mailbox(settings, redis, create_celery(settings))
        subject = Subject(tenant_id=tenant, subject_id=user)
        batch = mailbox.acquire(subject, limit=10_000, lease_seconds=30)
        assert batch is not None
        bodies = [json.loads(turn.body) for turn in batch.turns]
        mailbox.release(batch, retry_in=0, blamed=False)
        return {body["turn_id"]: body["messages"] for body in bodies}
    finally:
        redis.close()


@contextmanager
def killable(home: Home, broker_url: str, port: int, **more: str) -> Iterator[subprocess.Popen[bytes]]:
    """`afterturn serve` on a port, killed at the end of the block; `more` is in its environment."""
    said = (home.folder / "serve.log").open("ab")
    process = subprocess.Popen(
        [*COMMAND, "serve", "--port", str(port)],
        env=home.environment(AFTERTURN_BROKER_URL=broker_url, **more),
        stdout=said,
        stderr=said,
    )

    def is_up() -> bool:
        assert process.poll() is None, (home.folder / "serve.log").read_text()
        try:
            return httpx.get(f"http://127.0.0.1:{port}/livez", timeout=30.0).is_success
        except httpx.HTTPError:
            return False

    try:
        wait_until(is_up, "the service answers")
        yield process
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
        said.close()


def hand_over_what_the_service_left(settings: Settings) -> None:
    """The service answers for the turns in its own spool too: the next producer of its folder hands them over."""
    with Producer(settings) as producer:
        assert producer.flush(60) == 0
