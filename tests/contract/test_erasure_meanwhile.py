"""What comes while an erasure is under way, or was on its way before: told apart by the mailbox's clock."""

from __future__ import annotations

import sys
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from memory.erasure.queue import is_turn_of
from memory.erasure.subjects import erase_subject
from schema import Turn
from stores.queue import send_turn
from stores.queued_turns import count_messages
from tests.contract.pipeline import Worker, on_every_store
from tests.turns import a_turn, subject

pytest_generate_tests = on_every_store


@pytest.mark.parametrize("step", ["memory.erasure.subjects.index_all", "memory.erasure.subjects.rewrite_broker_file"])
@pytest.mark.parametrize("clock", [timedelta(seconds=-90), timedelta(0), timedelta(hours=1)], ids=str)
def test_what_is_said_while_an_erasure_is_under_way_is_remembered_whatever_its_senders_clock_says(
    worker: Worker, anna: str, step: str, clock: timedelta, monkeypatch: pytest.MonkeyPatch
) -> None:
    whose = subject(anna)
    worker.hear(anna, "I live in Lisbon")
    worker.park(
        a_turn(anna, 1, "My grandmother's recipe needs seventeen walnuts")
        | {"occurred_at": (datetime.now(UTC) + clock).isoformat()}
    )
    room, _, name = step.rpartition(".")
    does = getattr(sys.modules[room], name)

    def meanwhile(*arguments: Any) -> None:
        said_at = (datetime.now(UTC) + clock).isoformat()
        worker.park(a_turn(anna, 2, "I have a cat") | {"occurred_at": said_at})
        send_turn(
            worker.context.celery, Turn.model_validate(a_turn(anna, 3, "I have a dog") | {"occurred_at": said_at})
        )
        does(*arguments)

    monkeypatch.setattr(step, meanwhile)
    proof = erase_subject(whose, worker.context, by="dora", now=datetime.now(UTC))

    assert proof.is_clean
    assert worker.context.mailbox.parked(whose).keys() == {f"{anna}-2"}
    assert count_messages(worker.context.redis, lambda _, turn: is_turn_of(turn, whose)) == 1
    worker.work(whose)
    assert worker.outcomes(whose) == {f"{anna}-2": "kept"}
    assert "Lisbon" not in worker.everywhere(whose)
    assert "walnuts" not in worker.everywhere(whose)
    monkeypatch.undo()
    erase_subject(whose, worker.context, by="dora", now=datetime.now(UTC))


def test_a_message_that_a_worker_had_in_hand_brings_back_nothing_of_what_was_erased(worker: Worker, anna: str) -> None:
    whose, now = subject(anna), datetime.now(UTC).isoformat()
    processed, parked = (a_turn(anna, number, "I live in Lisbon") | {"occurred_at": now} for number in (0, 1))
    worker.park(processed)
    worker.work(whose)
    worker.park(parked)
    erase_subject(whose, worker.context, by="dora", now=datetime.now(UTC))
    worker.park(processed, parked)
    worker.work(whose)
    assert worker.state(whose) == []
