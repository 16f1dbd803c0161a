"""What the mailbox promises, on a real server: the same tests and the same models as on the simulated one."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from redis import Redis

from tests.unit import test_mailbox, test_mailbox_batching, test_mailbox_known_turns, test_mailbox_slots
from tests.unit.test_mailbox import *  # noqa: F403
from tests.unit.test_mailbox_batching import *  # noqa: F403
from tests.unit.test_mailbox_known_turns import *  # noqa: F403
from tests.unit.test_mailbox_slots import *  # noqa: F403


@pytest.fixture(autouse=True, name="redis")
def real_redis(broker_url: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Redis]:
    client = Redis.from_url(broker_url)

    def empty() -> Redis:
        client.flushdb()
        return client

    for module in (test_mailbox, test_mailbox_known_turns, test_mailbox_slots, test_mailbox_batching):
        monkeypatch.setattr(module, "fake", empty)
    yield empty()
    client.close()
