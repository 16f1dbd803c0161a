"""How long a turn lay in a spool goes with it to the mailbox, by the clock of the machine where it lay."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

import pytest

from producers import Producer
from schema.settings import Settings
from tests.conftest import free_port
from tests.contract.test_producer import FLUSH_SECONDS, back, taken
from tests.turns import a_turn, subject

HOUR = 3_600.0


def test_a_turn_was_enqueued_when_the_spool_took_it_less_what_it_had_waited_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    away = Settings(broker_url=f"redis://127.0.0.1:{free_port()}/0", data_dir=tmp_path)
    hour_ago = time.time() - HOUR
    with Producer(away) as producer:
        with monkeypatch.context() as an_hour_ago:
            an_hour_ago.setattr("producers.spool.time", lambda: hour_ago)
            producer.enqueue(a_turn("anna", 0, "I have no cats."))
            asyncio.run(producer.enqueue_async(a_turn("anna", 1, "I have 1 cat."), waited_seconds=60.0))
        with back(away) as mailbox:
            assert producer.flush(FLUSH_SECONDS) == 0
            producer.enqueue(a_turn("anna", 2, "I have 2 cats."), waited_seconds=7.0)
            producer.enqueue(a_turn("anna", 3, "I have 3 cats."))
            assert producer.flush(FLUSH_SECONDS) == 0
            turns = taken(mailbox, subject("anna")).turns
    waits = [(parked.arrived_at - parked.enqueued_at).total_seconds() for parked in turns]
    for waited, expected in zip(waits, (HOUR, HOUR + 60.0, 7.0, 0.0), strict=True):
        assert expected - 0.1 < waited < expected + FLUSH_SECONDS
