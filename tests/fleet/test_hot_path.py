"""What the hot path noted is settled once, whichever worker dies over it; and webhooks tell what came of it."""

from __future__ import annotations

import json
import signal
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime

import pytest
from standardwebhooks import Webhook

from memory.context import MemoryContext, open_memory
from memory.webhooks import add_endpoint
from producers.hot_path import HotPath
from schema import Memory, Status, Subject, Turn
from stores.failpoints import Failpoint
from tests.contract.loopback import Answer, Loopback, loopback
from tests.fleet.fleet import Fleet, wait_until
from tests.turns import a_turn, subject

LOOPBACK = {"AFTERTURN_WEBHOOK_NETWORKS": '["127.0.0.0/8"]'}


@pytest.fixture
def context(fleet: Fleet) -> Iterator[MemoryContext]:
    with closing(open_memory(fleet.settings)) as context:
        yield context


@pytest.fixture
def receiver() -> Iterator[Loopback]:
    with loopback() as told:
        told.answer = lambda _: Answer(204)
        yield told


def known(fleet: Fleet, whose: Subject, *statuses: Status) -> list[Memory]:
    return fleet.stores.catalog.list_memories(whose, statuses=statuses or (Status.ACTIVE,))


@pytest.mark.long
@pytest.mark.parametrize("point", ["after_extract", "after_commit"])
def test_a_worker_killed_over_what_was_noted_leaves_one_memory_and_it_is_told(
    fleet: Fleet, context: MemoryContext, receiver: Loopback, point: Failpoint
) -> None:
    users = [f"{point}{number}" for number in range(4)]
    turns = [Turn.model_validate(a_turn(user, 0, "I am allergic to peanuts.")) for user in users]
    hook = add_endpoint(
        turns[0].tenant_id,
        receiver.url,
        fleet.stores.catalog,
        by="test",
        now=datetime.now(UTC),
        networks=["127.0.0.0/8"],
    )
    with closing(HotPath(context)) as hot_path:
        candidates = {turn.user_id: hot_path.note(turn, by="test", now=datetime.now(UTC)).candidate for turn in turns}
    fleet.start("beat")
    dying = fleet.launch_worker(**LOOPBACK, CRASH_AT=point, CRASH_MARK=str(fleet.folder / point))
    for turn in turns:
        fleet.producer.enqueue(turn)
    wait_until(lambda: dying.poll() is not None, f"the worker died at {point}")
    assert dying.poll() == -signal.SIGKILL
    fleet.workers.remove(dying)
    fleet.start_worker(**LOOPBACK)
    wait_until(lambda: all(known(fleet, subject(user)) for user in users), "every turn became a memory")
    for user in users:
        [memory] = known(fleet, subject(user))
        candidate = candidates[user]
        assert candidate is not None
        assert memory.merged_from == (candidate.id,)
        assert known(fleet, subject(user), Status.PROVISIONAL) == []

    def told() -> set[tuple[str, str]]:
        found = set()
        for request in receiver.requests:
            body = json.dumps(request.body, ensure_ascii=False, separators=(",", ":"))
            message = Webhook(hook.secret).verify(body, dict(request.headers))
            found.add((message["type"], message["data"]["subject_id"]))
        return found

    wait_until(lambda: {("memory.merged", user) for user in users} <= told(), "the receiver heard of every one")
