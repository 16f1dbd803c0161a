"""What was seen in a turn reaches a person in plain words."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any

import pytest

from interfaces.cli.seen import PLAIN, seen
from policies.admission import admit, admit_for_model
from schema import Turn
from tests.turns import a_turn


@pytest.mark.parametrize("decide", [admit, admit_for_model])
@pytest.mark.parametrize(
    ("text", "more"),
    [
        ("My sister Ana lives in Porto.", {}),
        ("My sister Ana lives in Porto.", {"source": "external"}),
        ("Ich wohne in Berlin.", {}),
        ("Why is the sky blue?", {}),
        ("Forty-two.", {}),
        ("The dinner was a great success in the end.", {}),
        ("Off the record: I may lose my job.", {}),
        ("I like tea.", {"consent": "withdrawn"}),
        ("```\nx = 1\n```", {}),
        ("Forget that I like tea.", {}),
    ],
)
def test_no_rule_is_named_as_programs_name_it(decide: Any, text: str, more: dict[str, Any]) -> None:
    turn = Turn.model_validate(a_turn("ana", 1, text) | more | {"occurred_at": datetime(2026, 1, 1, tzinfo=UTC)})
    reasons = decide(turn).reasons
    assert reasons
    assert [one for one in reasons if one not in PLAIN and not one.startswith("command_")] == []
    assert not re.search(r"_|command", seen(reasons))


def test_what_is_seen_is_said_once_and_of_nothing_it_is_said_so() -> None:
    assert seen(["worth", "worth"]) == seen(["worth"])
    assert seen([]) == "nothing"
