"""Files of turns: what is wrong with a line is said with its number, and the others go in."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interfaces.turn_file import BadLine, read_turns
from schema import Turn
from tests.turns import a_turn


def line(number: int, said: str = "I live in Lisbon.") -> bytes:
    return json.dumps(a_turn("anna", number, said)).encode()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "turns.jsonl"


def bad_lines(file: Path) -> dict[int, str]:
    return {number: read.reason for number, read in read_turns(file) if isinstance(read, BadLine)}


def good_lines(file: Path) -> dict[int, str]:
    return {number: read.turn_id for number, read in read_turns(file) if isinstance(read, Turn)}


def test_bad_lines_are_told_by_their_numbers_and_the_rest_are_turns(file: Path) -> None:
    file.write_bytes(b"\n".join([line(1), b"not json", b"", b"[1]", line(5), b'{"turn_id": "x"}', b'"text"', line(8)]))
    assert good_lines(file) == {1: "anna-1", 5: "anna-5", 8: "anna-8"}
    bad = bad_lines(file)
    assert list(bad) == [2, 4, 6, 7]
    assert bad[2].startswith("not JSON")
    assert bad[4] == bad[7] == "not a JSON object"


def test_a_bad_line_names_every_wrong_field_and_nothing_that_was_said(file: Path) -> None:
    turn = a_turn("anna", 1, "I am ill") | {"source": "fax", "occurred_at": "2026-11-02T08:00:00"}
    file.write_text(json.dumps(turn))
    reason = bad_lines(file)[1]
    assert ("source" in reason, "occurred_at" in reason, "ill" in reason) == (True, True, False)


@pytest.mark.parametrize(
    "bad",
    [
        pytest.param(b"\xff\xfe\x00", id="no text"),
        pytest.param(b'{"turn_id": "\xe9"}', id="latin-1"),
        pytest.param(b"[" * 200_000, id="nested without end"),
        pytest.param(b'{"a":' * 100_000, id="nested objects without end"),
        pytest.param(b'{"sequence": ' + b"9" * 10_000 + b"}", id="a number of 10,000 digits"),
        pytest.param(line(2).replace(b"I live", rb"\ud800 live"), id="half a character"),
        pytest.param(line(2, "x" * 70_000), id="more text than a turn may carry"),
        pytest.param(b"null", id="null"),
        pytest.param(b"{" + b" " * 1_000_000, id="a long line"),
    ],
)
def test_whatever_stands_in_a_bad_line_the_next_one_is_read(file: Path, bad: bytes) -> None:
    file.write_bytes(bad + b"\n" + line(2))
    assert list(bad_lines(file)) == [1]
    assert good_lines(file) == {2: "anna-2"}


def test_files_from_other_systems_are_read_too(file: Path) -> None:
    file.write_bytes(b"\xef\xbb\xbf" + line(1) + b"\r\n\r\n" + line(3) + b"\r\n")
    assert good_lines(file) == {1: "anna-1", 3: "anna-3"}


def test_a_file_that_is_not_there_is_an_error_of_the_caller(file: Path) -> None:
    with pytest.raises(FileNotFoundError):
        list(read_turns(file))


@given(st.lists(st.sampled_from(["turn", "junk", "blank"]), max_size=30))
def test_every_line_is_a_turn_or_bad_or_blank(tmp_path_factory: pytest.TempPathFactory, kinds: list[str]) -> None:
    written = {"turn": line(1), "junk": b"{]", "blank": b"  "}
    file = tmp_path_factory.mktemp("lines") / "turns.jsonl"
    file.write_bytes(b"\n".join(written[kind] for kind in kinds))
    expected = {number: kind for number, kind in enumerate(kinds, start=1) if kind != "blank"}
    assert {n: "turn" if isinstance(read, Turn) else "junk" for n, read in read_turns(file)} == expected


SAID = {"user_id": "anna", "messages": [{"role": "user", "content": "I live in Lisbon."}]}


def turns(file: Path) -> list[Turn]:
    return [read for _, read in read_turns(file) if isinstance(read, Turn)]


def test_a_user_and_messages_are_enough_as_they_are_for_enqueue(file: Path) -> None:
    file.write_text(json.dumps(SAID))
    os.utime(file, (0, 1_700_000_000))
    [turn] = turns(file)
    assert (turn.tenant_id, turn.conversation_id, turn.user_id) == ("default", "default", "anna")
    assert turn.occurred_at == datetime.fromtimestamp(1_700_000_000, UTC), "nobody said it after the file was written"


def test_what_a_line_says_of_itself_stands(file: Path) -> None:
    given = {"turn_id": "t1", "tenant_id": "acme", "conversation_id": "c1", "occurred_at": "2026-11-02T08:00:00Z"}
    file.write_text(json.dumps(SAID | given))
    [turn] = turns(file)
    assert turn == Turn.model_validate(SAID | given)


def test_a_second_reading_repeats_every_turn_and_no_two_lines_are_one(file: Path) -> None:
    file.write_text("\n".join([json.dumps(SAID), json.dumps(SAID), json.dumps(SAID | {"user_id": "bert"})]))
    first, second = turns(file), turns(file)
    assert first == second
    assert len({turn.turn_id for turn in first}) == 3


def test_what_came_with_version_2_needs_no_version_in_a_line(file: Path) -> None:
    file.write_text(json.dumps(SAID | {"metadata": {"plan": "free"}}))
    assert [turn.schema_version for turn in turns(file)] == [2]


def test_of_a_line_that_lacks_what_nobody_can_fill_in_only_that_is_told(file: Path) -> None:
    file.write_text('{"turn_id": "x"}')
    assert bad_lines(file) == {1: "user_id: Field required; messages: Field required"}
