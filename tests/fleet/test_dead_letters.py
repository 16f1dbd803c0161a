"""Dead letters: kept whole, listed, shown, replayed and dropped by command."""

from __future__ import annotations

import json
from typing import Any

import pytest

from schema import Turn
from stores.catalog import Changes, LedgerEntry, Outcome
from stores.dead_letters import count_dead_letters, read_dead_letters
from stores.queue import create_celery, send_dead_letter
from tests.e2e.command import Home, Said
from tests.fleet.fleet import Fleet
from tests.turns import WHEN, a_turn, subject


def command(fleet: Fleet, *arguments: str) -> Said:
    """How `afterturn dead-letters` ends."""
    return Home(fleet.folder, 0).say("dead-letters", *arguments, **fleet.variables)


def shown(fleet: Fleet, *arguments: str) -> Any:
    """What it says to programs once the broker answers it in time, which on a busy machine it may not at first."""
    done = Home(fleet.folder, 0).answered("dead-letters", *arguments, "--json", **fleet.variables)
    return json.loads(done.stdout)


def bury(fleet: Fleet, turn: dict[str, Any], reason: str = "processing failed: ValueError") -> None:
    """Leave a turn as a worker does that gives it up."""
    send_dead_letter(create_celery(fleet.settings), reason=reason, turn_id=turn.get("turn_id"), body=turn)


def bury_in_ledger(fleet: Fleet, turn: dict[str, Any]) -> None:
    parsed = Turn.model_validate(turn)
    entry = LedgerEntry(parsed.turn_id, parsed.digest(), Outcome.DEAD, ("failed",), WHEN, WHEN)
    fleet.stores.catalog.commit(Changes(subject=parsed.subject, at=WHEN, ledger=(entry,)))


@pytest.fixture(autouse=True)
def empty(running: Fleet) -> None:
    running.redis.delete("memory_dead_letter_queue")


def test_more_letters_than_a_page_are_read_oldest_first(running: Fleet, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("stores.dead_letters._PAGE", 10)
    for number in range(25):
        bury(running, a_turn("anna", number, "x") | {"turn_id": f"t{number}"})
    letters = list(read_dead_letters(running.redis))
    assert [letter.turn_id for letter in letters] == [f"t{number}" for number in range(25)]
    assert count_dead_letters(running.redis) == 25


def test_a_list_names_reasons_and_says_nothing_of_what_was_said(running: Fleet) -> None:
    bury(running, a_turn("anna", 1, "I live in Lisbon."))
    listed = command(running, "list")
    assert listed.returncode == 0
    assert "processing failed: ValueError" in listed.stdout
    assert "Lisbon" not in listed.stdout + command(running, "list", "--json").stdout


def test_a_letter_is_shown_whole(running: Fleet) -> None:
    turn = a_turn("anna", 1, "I live in Lisbon.")
    bury(running, turn)
    [listed] = shown(running, "list")
    assert shown(running, "show", listed["id"][:8])["turn"] == turn


def test_a_replayed_turn_is_processed_once_and_its_letter_is_gone(running: Fleet) -> None:
    turn = a_turn("berta", 1, "I live in Lisbon.")
    bury_in_ledger(running, turn)
    bury(running, turn)
    replayed = command(running, "replay", "--all")
    assert replayed.returncode == 0, replayed.stderr
    running.wait_until_idle()
    assert [memory.summary for memory in running.stores.catalog.list_memories(subject("berta"))] == [
        "Berta lives in Lisbon."
    ]
    assert count_dead_letters(running.redis) == 0


def test_replaying_what_was_processed_meanwhile_changes_nothing(running: Fleet) -> None:
    turn = a_turn("carl", 1, "I live in Lisbon.")
    running.producer.enqueue(turn)
    running.wait_until_idle()
    before = running.stores.catalog.list_memories(subject("carl"))
    bury(running, turn)
    assert command(running, "replay", "--all").returncode == 0
    running.wait_until_idle()
    assert running.stores.catalog.list_memories(subject("carl")) == before


def test_a_letter_that_still_cannot_go_in_stays(running: Fleet) -> None:
    bury(running, a_turn("dora", 1, "I live in Lisbon.") | {"schema_version": 99})
    bury(running, a_turn("dora", 2, "I have a dog."))
    replayed = command(running, "replay", "--all", "--json")
    assert replayed.returncode == 1
    report = json.loads(replayed.stdout)
    assert (report["replayed"], len(report["stayed"])) == (1, 1)
    assert "schema_version" in report["stayed"][0]["because"]
    [left] = read_dead_letters(running.redis)
    assert left.turn["schema_version"] == 99


def test_a_dropped_letter_is_gone(running: Fleet) -> None:
    bury(running, a_turn("emma", 1, "I live in Lisbon."))
    bury(running, a_turn("emma", 2, "I live in Berlin."))
    [first, second] = shown(running, "list")
    assert shown(running, "drop", first["id"]) == {"dropped": 1}
    assert [letter.id for letter in read_dead_letters(running.redis)] == [second["id"]]


def test_a_wrong_id_says_where_the_ids_are(running: Fleet) -> None:
    answer = command(running, "show", "nonsense")
    assert answer.returncode == 2
    assert "dead-letters list" in answer.stderr.replace("\n", " ")
