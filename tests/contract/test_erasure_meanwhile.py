"""What comes while an erasure is under way, or was on its way before: told apart by the mailbox's clock."""

from __future__ import annotations

import json
import sys
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any, cast

import pytest

from interfaces.erasing import erase
from memory.erasure.proof import Proof
from memory.erasure.queue import is_turn_of
from memory.erasure.subjects import erase_subject, finish_erasures
from producers.spool import Spool
from schema import Turn
from stores.dead_letters import read_dead_letters
from stores.mailbox import Mailbox
from stores.queue import INGEST_QUEUE, PUT_DOCUMENT, send_dead_letter, send_turn
from stores.queued_turns import count_messages, find_messages
from tests.contract.pipeline import Worker, on_every_store_at_length
from tests.turns import a_turn, subject

pytest_generate_tests = on_every_store_at_length


@pytest.mark.parametrize(
    "step",
    [
        pytest.param("memory.erasure.subjects.index_all", marks=pytest.mark.long),
        "memory.erasure.subjects.rewrite_broker_file",
    ],
)
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


@pytest.mark.parametrize(
    ("said_before", "waited", "outcome"),
    [
        pytest.param(timedelta(minutes=1), timedelta(hours=1), "refused", id="just before, and spooled for an hour"),
        pytest.param(timedelta(hours=2), timedelta(0), "refused", id="long before, and just sent"),
        pytest.param(timedelta(minutes=-1), timedelta(hours=1), "kept", id="after, and spooled for an hour"),
        pytest.param(timedelta(minutes=4), timedelta(0), "kept", id="after, by a clock that is late"),
    ],
)
def test_what_lay_in_a_spool_over_an_erasure_is_refused_if_it_was_said_before_and_told_in_the_ledger(
    worker: Worker, anna: str, said_before: timedelta, waited: timedelta, outcome: str
) -> None:
    """`waited` is how long after the erasure it comes."""
    whose, now = subject(anna), datetime.now(UTC)
    erased_at = now - waited
    context = replace(worker.context, mailbox=cast(Mailbox, At(worker.context.mailbox, erased_at)))
    erase_subject(whose, context, by="dora", now=erased_at)
    worker.hear(anna, "I live in Lisbon", occurred_at=(erased_at - said_before).isoformat())
    assert worker.outcomes(whose) == {f"{anna}-0": outcome}
    assert len(worker.known(whose)) == (outcome == "kept")
    erase_subject(whose, worker.context, by="dora", now=datetime.now(UTC))


@pytest.mark.parametrize(
    ("enqueued_before", "clock_is_late", "waited", "outcome"),
    [
        pytest.param(1, 0, 60, "refused", id="enqueued before, and spooled for a minute"),
        pytest.param(1, -3600, 60, "refused", id="enqueued before, by a clock that is ahead"),
        pytest.param(1, -3600, 1e300, "refused", id="enqueued before, and longer in a spool than there is time"),
        pytest.param(-1, 240, 3600, "kept", id="enqueued after, by a clock that is late, and spooled for an hour"),
        pytest.param(-1, 240, 0, "kept", id="enqueued after, by a clock that is late, and just sent"),
        pytest.param(-1, 0, -60, "kept", id="enqueued after, on a machine whose clock jumped back"),
    ],
)
def test_a_spooled_turn_is_from_before_an_erasure_if_it_was_enqueued_before_by_the_mailboxs_clock(
    worker: Worker, anna: str, enqueued_before: float, clock_is_late: float, waited: float, outcome: str
) -> None:
    """All in seconds: how long before the erasure it was enqueued, and how long it then lay in a spool, as it says."""
    whose, now = subject(anna), datetime.now(UTC)
    lay = timedelta(seconds=min(max(0.0, waited), 86_400.0))
    erased_at = now - lay + timedelta(seconds=enqueued_before)
    said_at = now - lay - timedelta(seconds=clock_is_late)
    context = replace(worker.context, mailbox=cast(Mailbox, At(worker.context.mailbox, erased_at)))
    erase_subject(whose, context, by="dora", now=erased_at)
    turn = Turn.model_validate(a_turn(anna, 0, "I live in Lisbon") | {"occurred_at": said_at.isoformat()})
    worker.context.mailbox.append(turn, 5, waited=waited)
    worker.work(whose)
    assert worker.outcomes(whose) == {f"{anna}-0": outcome}
    assert len(worker.known(whose)) == (outcome == "kept")
    erase_subject(whose, worker.context, by="dora", now=datetime.now(UTC))


class At:
    """A mailbox that tells another time."""

    def __init__(self, mailbox: Mailbox, at: datetime) -> None:
        self._mailbox, self._at = mailbox, at

    def now(self) -> datetime:
        return self._at

    def __getattr__(self, name: str) -> Any:
        return getattr(self._mailbox, name)


class Killed(BaseException):
    """As if the process had died here."""


def document_of(user: str, id_: str) -> dict[str, Any]:
    return {"tenant_id": "acme", "subject_id": user, "document_id": id_, "content": "I have a boat", "actor": {}}


@pytest.mark.parametrize("clock", [timedelta(seconds=-90), timedelta(hours=-2), timedelta(minutes=30)], ids=str)
def test_an_erasure_that_is_finished_late_takes_what_waited_when_it_began_and_leaves_the_rest_whatever_clocks_say(
    worker: Worker, anna: str, clock: timedelta, monkeypatch: pytest.MonkeyPatch
) -> None:
    whose, celery, redis = subject(anna), worker.context.celery, worker.context.redis

    def said(number: int) -> dict[str, Any]:
        return a_turn(anna, number, "I have a cat") | {"occurred_at": (datetime.now(UTC) + clock).isoformat()}

    def come(first: int) -> None:
        send_turn(celery, Turn.model_validate(said(first)))
        celery.send_task(PUT_DOCUMENT, [document_of(anna, f"d{first}")], queue=INGEST_QUEUE)
        send_dead_letter(celery, reason="broken", turn_id=f"{anna}-{first + 1}", body=said(first + 1))
        worker.park(said(first + 2))

    def dies(*_: Any, **__: Any) -> None:
        raise Killed

    worker.hear(anna, "I live in Lisbon")
    come(10)
    with monkeypatch.context() as deadly:
        deadly.setattr("memory.erasure.subjects._clear", dies)
        with pytest.raises(Killed):
            erase_subject(whose, worker.context, by="dora", now=datetime.now(UTC))
    come(20)

    assert finish_erasures(worker.context, 100, datetime.now(UTC)) == 1

    waiting = find_messages(redis, lambda turn: is_turn_of(turn, whose)).values()
    assert {turn.get("turn_id", turn.get("document_id")) for turn in waiting} == {f"{anna}-20", "d20"}
    letters = [letter.turn_id for letter in read_dead_letters(redis) if is_turn_of(letter.turn, whose)]
    assert letters == [f"{anna}-21"]
    assert worker.context.mailbox.parked(whose).keys() == {f"{anna}-22"}
    assert redis.keys("afterturn:erasure:*") == []
    worker.park(said(10), said(20))
    worker.work(whose)
    assert worker.outcomes(whose).keys() == {f"{anna}-20", f"{anna}-22"}, "one that was in hand brings nothing back"
    erase_subject(whose, worker.context, by="dora", now=datetime.now(UTC))


def test_a_command_takes_out_of_the_spool_what_lay_there_when_it_began(
    worker: Worker, anna: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    whose, settings = subject(anna), worker.context.settings
    before, after = (Turn.model_validate(a_turn(anna, number, "I have a cat")) for number in (1, 2))
    with closing(Spool(settings.effective_spool_dir, max_turns=9, max_bytes=1_000_000)) as spool:
        spool.put(before, 1.0)

        def meanwhile(*arguments: Any, **named: Any) -> Proof:
            proof = erase_subject(*arguments, **named)
            spool.put(after, 1.0)
            return proof

        monkeypatch.setattr("interfaces.erasing.erase_subject", meanwhile)
        proof = erase(whose, worker.context, by="dora")

        assert [one.turn_id for one in spool.oldest(9)] == [after.turn_id]
        assert (proof.removed["spool of this machine"], proof.left["spool of this machine"]) == (1, 0)
        spool.erase(spool.find(lambda _: True))


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


def test_a_message_goes_that_a_worker_had_in_hand_when_it_was_killed(alone: Worker, anna: str) -> None:
    """Until the broker gives it to another it lies neither in a queue nor in the mailbox."""
    redis, bert = alone.context.redis, anna.replace("anna", "bert")
    for tag, user in (("mine", anna), ("others", bert)):
        send_turn(alone.context.celery, Turn.model_validate(a_turn(user, 1, "I live in Oslo.")))
        held = [json.loads(cast(bytes, redis.lpop(INGEST_QUEUE))), INGEST_QUEUE, INGEST_QUEUE]
        redis.hset("unacked", tag, json.dumps(held))
        redis.zadd("unacked_index", {tag: 1.0})
    proof = erase_subject(subject(anna), alone.context, by="dora", now=datetime.now(UTC))
    assert (proof.removed["ingest queue"], proof.is_clean) == (1, True)
    assert redis.hkeys("unacked") == redis.zrange("unacked_index", 0, -1) == [b"others"]
    redis.delete("unacked", "unacked_index")


def test_whoever_waits_for_a_busy_subject_is_next_after_the_batch_in_hand(worker: Worker, anna: str) -> None:
    mailbox, whose = worker.context.mailbox, subject(anna)
    worker.park(*(a_turn(anna, number, "I have a cat") for number in range(20)))
    batch = mailbox.acquire(whose, 2, 30)
    assert batch is not None
    mailbox.hold_back(whose, 30)
    assert mailbox.commit(batch.lease, [parked.turn_id for parked in batch.turns], 2, 30) is None
    assert mailbox.acquire(whose, 2, 30) is None, "no worker takes it"
    proof = erase_subject(whose, worker.context, by="dora", now=datetime.now(UTC))
    assert (proof.removed["mailbox"], proof.is_clean) == (18, True)
