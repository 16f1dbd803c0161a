"""Forgotten means forgotten: wherever a subject's words lie, an erasure finds them, and nothing brings them back."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from memory.catalog import Changes, StaleFence
from memory.catalog.erasing import Scope
from memory.queue import send_dead_letter, send_turn
from memory.schema import Turn
from tests.contract.indexes import opened
from tests.contract.pipeline import Worker, on_every_store
from tests.turns import a_turn, subject
from worker.erasing import erase_subject, erase_turns, files_with

pytest_generate_tests = on_every_store
NOW = datetime(2026, 11, 3, tzinfo=UTC)
SECRET = "My grandmother's recipe needs seventeen walnuts"


def turn_of(user: str, number: int, said: str, **fields: Any) -> Turn:
    return Turn.model_validate(a_turn(user, number, said) | fields)


def everywhere(worker: Worker, anna: str, bert: str) -> None:
    """Put words of Anna's wherever words can lie, and some of Bert's beside them."""
    worker.hear(anna, "I live in Lisbon", "I went to the beach yesterday with my sister")
    worker.hear(bert, "I live in Lisbon")
    worker.park(a_turn(anna, 5, SECRET), a_turn(bert, 5, SECRET))
    for user in (anna, bert):
        send_turn(worker.parts.celery, turn_of(user, 6, SECRET))
        send_dead_letter(worker.parts.celery, reason="broken", turn_id="x", body=a_turn(user, 7, SECRET))
    send_dead_letter(worker.parts.celery, reason="broken", turn_id=None, body=json.dumps(a_turn(anna, 8, SECRET)) + "}")


def test_nothing_of_an_erased_subject_is_left_anywhere_and_others_keep_all(alone: Worker, anna: str) -> None:
    bert = anna.replace("anna", "bert")
    everywhere(alone, anna, bert)
    whose = subject(anna)
    texts = [memory.summary for memory in alone.known(whose)]
    before = alone.everywhere(subject(bert))
    assert files_with(alone.parts.settings.data_dir, texts)
    proof = erase_subject(whose, alone.parts, by="dora", now=NOW)
    assert proof.is_clean
    assert (proof.removed["mailbox"], proof.removed["ingest queue"], proof.removed["dead letters"]) == (1, 1, 2)
    assert proof.removed["index"] == 2
    assert files_with(alone.parts.settings.data_dir, texts) == []
    assert alone.audited(whose) == ["erased"]
    assert alone.everywhere(subject(bert)) == before
    assert alone.parts.mailbox.parked(subject(bert)).keys() == {f"{bert}-5"}
    again = erase_subject(subject(bert), alone.parts, by="dora", now=NOW)
    assert (again.removed["ingest queue"], again.removed["dead letters"]) == (1, 1), "Bert's were not touched"


def test_an_erased_subject_is_in_no_kind_of_index_any_more_and_others_are(
    adapter: str, alone: Worker, anna: str, tmp_path: Path
) -> None:
    index = opened(adapter, tmp_path / "other", alone.parts.embedder.dimensions, alone.parts.embedder.name)
    worker = alone.with_parts(index=index)
    bert = anna.replace("anna", "bert")
    for user in (anna, bert):
        worker.hear(user, "I live in Lisbon")
    [key] = [memory.index_key for memory in worker.known(subject(anna))]

    proof = erase_subject(subject(anna), worker.parts, by="dora", now=NOW)

    assert proof.is_clean
    assert proof.removed["index"] == 1
    assert index.fetch(subject(anna), [key]) == []
    [kept] = worker.known(subject(bert))
    assert [one.memory_id for one in index.fetch(subject(bert), [kept.index_key])] == [kept.id]
    assert index.count() == 1
    index.close()


def test_a_turn_that_was_on_its_way_brings_nothing_back_and_a_later_one_is_remembered(
    worker: Worker, anna: str
) -> None:
    worker.hear(anna, "I live in Lisbon")
    whose = subject(anna)
    erase_subject(whose, worker.parts, by="dora", now=NOW)
    worker.hear(anna, "I live in Lisbon", "I am a vegetarian")
    assert worker.state(whose) == []
    assert worker.outcomes(whose) == {}
    later = (NOW + timedelta(hours=1)).isoformat()
    worker.hear(anna, "I live in Porto", first=9, occurred_at=later)
    assert len(worker.known(whose)) == 1


def test_a_worker_that_was_at_work_on_the_subject_writes_nothing_afterwards(worker: Worker, anna: str) -> None:
    worker.hear(anna, "I live in Lisbon")
    whose = subject(anna)
    memory = worker.known(whose)[0]
    lease = worker.parts.mailbox.hold(whose, 30)
    assert lease is not None
    worker.lose_lease(whose)
    erase_subject(whose, worker.parts, by="dora", now=NOW)
    with pytest.raises(StaleFence):
        worker.parts.catalog.commit(Changes(subject=whose, at=NOW, fence=lease.token, created=(memory,)))
    assert worker.state(whose) == []


def test_an_erased_conversation_goes_with_all_that_came_of_it_and_no_other(worker: Worker, anna: str) -> None:
    worker.hear(anna, "I live in Lisbon", conversation_id="first")
    worker.hear(anna, "My brother owns a bakery in Porto", first=1, conversation_id="second")
    whose = subject(anna)
    worker.park(a_turn(anna, 2, SECRET) | {"conversation_id": "first"})
    proof, _ = erase_turns(whose, Scope.CONVERSATION, "first", worker.parts, by="dora", now=NOW)
    assert proof.is_clean
    assert proof.removed["mailbox"] == 1
    assert [memory.conversation_id for memory in worker.known(whose)] == ["second"]
    assert [row["turn_id"] for row in worker.rows("sources", whose)] == [f"{anna}-1"]
    assert "Lisbon" not in worker.everywhere(whose)
    assert all("Lisbon" not in event["payload"] for event in worker.events(whose))
    worker.hear(anna, "I live in Lisbon", first=3, conversation_id="first")
    assert len(worker.known(whose)) == 1, "what was said in it before stays erased"


def test_an_erased_turn_goes_with_the_memories_that_came_of_it(worker: Worker, anna: str) -> None:
    worker.hear(anna, "I live in Lisbon", "My brother owns a bakery in Porto")
    whose = subject(anna)
    proof, _ = erase_turns(whose, Scope.TURN, f"{anna}-0", worker.parts, by="dora", now=NOW)
    assert proof.is_clean
    assert all(memory.source_turn_ids == (f"{anna}-1",) for memory in worker.known(whose))
    assert len(worker.known(whose)) == 1


def test_words_are_found_across_the_blocks_in_which_files_are_read(tmp_path: Any) -> None:
    (tmp_path / "log").write_bytes(b"x" * (1024 * 1024 - 5) + b"seventeen walnuts")
    (tmp_path / "other").write_bytes(b"eighteen walnuts")
    assert files_with(tmp_path, ["seventeen walnuts"]) == [str(tmp_path / "log")]
