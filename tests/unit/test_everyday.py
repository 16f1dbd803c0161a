from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks.everyday.cases import Case, read_cases
from benchmarks.everyday.score import Tally, score, unheard_words


def a_case(**fields: Any) -> Case:
    said = [
        {"at": "2026-03-20T10:00:00+00:00", "text": "My rent is $1,200 a month."},
        {"at": "2026-05-02T18:30:00+00:00", "text": "They put my rent up to 1350.", "assistant": "Sorry."},
        {"at": "2026-05-02T18:31:00+00:00", "text": "1355 sorry"},
    ]
    return Case.model_validate({"id": "a", "kind": "update", "name": "Maya", "said": said} | fields)


def test_what_is_said_within_the_hour_is_one_conversation_and_each_message_a_turn_with_its_reply() -> None:
    first, second, third = a_case().turns()
    assert first.conversation_id != second.conversation_id == third.conversation_id
    assert [(one.role, one.content) for one in second.messages] == [
        ("user", "They put my rent up to 1350."),
        ("assistant", "Sorry."),
    ]
    assert first.subject == second.subject and first.user_name() == "Maya"


@pytest.mark.parametrize(
    ("active", "missing", "false"),
    [
        (["Maya's rent is 1355 a month."], 0, 0),
        (["Maya's rent is 1200 a month."], 1, 1),
        (["Maya's rent is 1355.", "Maya's RENT is 1200."], 0, 1),
        (["Maya pays 1200.", "Maya's rent changed."], 1, 0),
        ([], 1, 0),
    ],
)
def test_a_group_counts_only_where_one_memory_matches_all_of_it(active: list[str], missing: int, false: int) -> None:
    found = score(a_case(keep=[["rent", "1355"]], drop=[["rent", "1,?200"]]), active)
    assert (len(found.missing), len(found.false)) == (missing, false)
    assert found.right is (not missing and not false)


def test_where_nothing_should_be_known_any_memory_is_wrong() -> None:
    assert score(a_case(none=True), []).right
    assert not score(a_case(none=True), ["Maya rents."]).right


@pytest.mark.parametrize(
    ("summary", "words"),
    [
        ("Maya's rents were 1355 in March 2026.", []),
        ("Maya pays a landlord.", ["pays", "landlord"]),
        ("Maya wrentd a flat.", ["wrentd", "flat"]),
    ],
)
def test_words_that_nobody_said_are_named_and_inflections_are_not(summary: str, words: list[str]) -> None:
    assert unheard_words(summary, a_case()) == words


def test_a_tally_counts_a_case_once_however_much_is_wrong_with_it() -> None:
    tally = Tally()
    tally.add(a_case(keep=[["cat"], ["dog"]], drop=[["rent"]]), ["Maya's rent.", "Maya's rent is 1200."])
    assert tally.faults == {"wrong": 1, "missing": 1, "false": 1, "needless": 0}
    assert (tally.cases, tally.memories, tally.unheard) == (1, 2, 0)


def test_cases_are_read_by_kind_and_a_broken_line_is_named(tmp_path: Path) -> None:
    file = tmp_path / "cases.jsonl"
    rows = [a_case(id="a", kind="fact"), a_case(id="b", kind="date")]
    file.write_text("\n".join(row.model_dump_json() for row in rows), encoding="utf-8")
    assert [case.id for case in read_cases(file)] == ["a", "b"]
    assert [case.id for case in read_cases(file, ["date"])] == ["b"]
    file.write_text(json.dumps({"id": "a", "kind": "fact", "said": []}), encoding="utf-8")
    with pytest.raises(ValueError, match="line 1"):
        read_cases(file)
