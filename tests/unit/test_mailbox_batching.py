"""Taking turns together: who waits for another's round trip to the server goes with the next."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from itertools import count
from threading import Event
from typing import Any

import pytest

from schema import Subject
from stores.batching import Batcher
from stores.mailbox import Mailbox
from tests.unit.test_mailbox import LEASE_SECONDS, fake, nobody, taken, turn


@pytest.mark.parametrize("forgets", [False, True], ids=["knows the script", "was started anew"])
def test_subjects_that_wait_are_taken_in_one_round_trip_and_each_gets_its_own_turns(
    monkeypatch: pytest.MonkeyPatch, *, forgets: bool
) -> None:
    redis = fake()
    mailbox = Mailbox(redis, notify=nobody, slots=100)
    subjects = [Subject(tenant_id="acme", subject_id=f"user{number}") for number in range(8)]
    for subject in subjects:
        mailbox.append(turn(f"of {subject.subject_id}", subject=subject), look_after=5)
    do, pipeline, evalsha = Batcher.do, redis.pipeline, redis.evalsha
    all_came, came, round_trips = Event(), count(1), []

    def come(batcher: Batcher[Any, Any], item: Any) -> Any:
        if next(came) == len(subjects):
            all_came.set()
        return do(batcher, item)

    def alone(*arguments: Any) -> Any:
        assert all_came.wait(10)
        return evalsha(*arguments)

    def several(*, transaction: bool) -> Any:
        if forgets:
            redis.script_flush()
        round_trips.append(1)
        return pipeline(transaction=transaction)

    monkeypatch.setattr(Batcher, "do", come)
    monkeypatch.setattr(redis, "evalsha", alone)
    monkeypatch.setattr(redis, "pipeline", several)
    with ThreadPoolExecutor(len(subjects)) as threads:
        found = list(threads.map(lambda subject: taken(mailbox.acquire(subject, 1, LEASE_SECONDS)), subjects))
    assert found == [[f"of {subject.subject_id}"] for subject in subjects]
    assert round_trips
