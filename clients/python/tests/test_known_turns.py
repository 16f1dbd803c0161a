"""The spool knows a turn that is enqueued again, before and after it was sent."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from afterturn_client import Accepted, ConflictingTurn, Depth
from afterturn_client.requests import turn as request_of
from afterturn_client.spool import Spool
from afterturn_client.turns import Written, turn_of


def a_turn(user: str, number: int, text: str = "I have cats.") -> Written:
    return turn_of(user, [{"role": "user", "content": text}], turn_id=f"{user}-{number}")


def put(spool: Spool, turn: Written) -> Accepted:
    [outcome] = spool.put([turn])
    if isinstance(outcome, Accepted):
        return outcome
    raise outcome


@pytest.fixture
def spool(tmp_path: Path) -> Iterator[Spool]:
    with closing(Spool(tmp_path / "spool", max_turns=100, max_bytes=1_000_000)) as spool:
        yield spool


def test_a_turn_enqueued_again_changes_nothing_before_and_after_it_was_sent(spool: Spool) -> None:
    turn = a_turn("maya", 1)
    assert [put(spool, turn), put(spool, a_turn("maya", 1))] == [Accepted.SPOOLED, Accepted.KNOWN]
    spool.sent(spool.oldest(10))
    assert put(spool, turn) is Accepted.KNOWN
    assert spool.depth() == Depth(0, 0, 0)


def test_another_turn_under_a_known_id_is_refused(spool: Spool) -> None:
    put(spool, a_turn("maya", 1))
    for _ in range(2):
        with pytest.raises(ConflictingTurn):
            put(spool, a_turn("maya", 1, "I have dogs."))
        spool.sent(spool.oldest(10))


def test_when_it_was_said_tells_no_turn_from_another(spool: Spool) -> None:
    moments = [None, datetime(2026, 11, 2, 8, tzinfo=UTC), datetime(2026, 11, 2, 9, tzinfo=UTC)]
    first, *again = (
        turn_of("ada", [{"role": "user", "content": "Hi."}], turn_id="1", occurred_at=at) for at in moments
    )
    assert put(spool, first) is Accepted.SPOOLED
    assert [put(spool, turn) for turn in again] == [Accepted.KNOWN] * 2
    assert [turn.body for turn in spool.oldest(10)] == [first.body]


def test_a_turn_that_a_version_of_before_spooled_is_the_same_and_another_one_is_not(spool: Spool) -> None:
    """It counted when a turn was said, where that was given."""
    at = datetime(2026, 11, 2, 8, tzinfo=UTC)
    first, other = (
        turn_of("ada", [{"role": "user", "content": text}], turn_id="1", occurred_at=at) for text in ("Hi.", "Ho.")
    )
    put(spool, replace(first, digest=hashlib.sha256(first.body).hexdigest()))
    for _ in range(2):
        assert put(spool, first) is Accepted.KNOWN
        with pytest.raises(ConflictingTurn):
            put(spool, other)
        spool.sent(spool.oldest(10))


def test_a_spool_is_shared_with_a_version_of_before_which_says_of_no_turn_how_long_it_waited(tmp_path: Path) -> None:
    folder = tmp_path / "before"
    with closing(Spool(folder, max_turns=9, max_bytes=10_000)):
        pass
    with closing(sqlite3.connect(folder / "spool.sqlite3", isolation_level=None)) as before:
        before.execute("ALTER TABLE turns DROP COLUMN enqueued_at")
        with closing(Spool(folder, max_turns=9, max_bytes=10_000)) as spool:
            before.execute("INSERT INTO turns (user, turn_id, digest, state, body) VALUES ('ada', '0', '', 0, x'7b7d')")
            put(spool, turn_of("ada", [{"role": "user", "content": "Hi."}], turn_id="1"))
            theirs, ours = spool.oldest(10)
    assert theirs.waited() == 0.0
    assert 0.0 < ours.waited() < 60.0
    for waited, said in ((-5.0, "0.000"), (90.0, "90.000")):
        assert request_of(theirs.body, waited).headers == (("Afterturn-Waited-Seconds", said),)
