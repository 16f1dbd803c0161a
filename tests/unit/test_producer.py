"""What the producer takes and what it refuses, before any broker is asked."""

from __future__ import annotations

import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier
from typing import Any

import pytest

from producers import Producer, default_producer, parse_turn
from producers.client import _made
from schema import MAX_TURN_BYTES, Turn
from schema.errors import InvalidTurn
from tests.turns import a_turn


def test_a_turn_and_a_mapping_of_it_are_the_same_turn() -> None:
    fields = a_turn("anna", 1, "I live in Lisbon.")
    turn = Turn.model_validate(fields)
    assert parse_turn(fields) == turn
    assert parse_turn(turn) is turn


def test_every_wrong_field_is_named_with_what_is_wrong() -> None:
    fields: dict[str, Any] = a_turn("anna", 1, "I live in Lisbon.") | {"source": "fax", "colour": "red"}
    fields["messages"][0]["role"] = "robot"
    del fields["turn_id"]
    with pytest.raises(InvalidTurn) as refused:
        parse_turn(fields)
    named = {problem.split(":")[0] for problem in re.split(r"; (?=[\w.]+: )", str(refused.value))}
    assert named >= {"source", "colour", "messages.0.role", "turn_id"}
    assert not named & {"tenant_id", "user_id", "occurred_at"}


def test_too_much_text_is_refused_with_the_way_out() -> None:
    with pytest.raises(InvalidTurn, match=r"the turn has 65,537 bytes .* as a document"):
        parse_turn(a_turn("anna", 1, "x" * (MAX_TURN_BYTES + 1)))


def test_a_refusal_repeats_nothing_that_was_said_not_even_as_its_cause() -> None:
    fields = a_turn("anna", 1, "I am ill")
    fields["messages"][0]["name"] = "I am ill\n"
    with pytest.raises(InvalidTurn) as refused:
        parse_turn(fields)
    assert "ill" not in str(refused.value)
    assert refused.value.__cause__ is None
    assert refused.value.__suppress_context__


def test_what_is_no_mapping_is_refused() -> None:
    with pytest.raises(InvalidTurn):
        parse_turn("I live in Lisbon.")  # type: ignore[arg-type]


@pytest.fixture
def nobody_has_enqueued(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """As when a process has just begun."""
    monkeypatch.setenv("AFTERTURN_DATA_DIR", str(tmp_path))
    _made.cache_clear()
    yield
    _made.cache_clear()


@pytest.mark.usefixtures("nobody_has_enqueued")
def test_threads_that_enqueue_first_at_the_same_moment_share_one_producer() -> None:
    together = Barrier(4)

    def first() -> Producer:
        together.wait()
        return default_producer()

    with ThreadPoolExecutor(4) as pool:
        made = [pool.submit(first) for _ in range(4)]
    assert len({id(one.result()) for one in made}) == 1
