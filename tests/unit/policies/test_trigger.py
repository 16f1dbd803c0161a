"""The trigger of the hot path: what is noted at once."""

from __future__ import annotations

import pytest

from policies.trigger import trigger_by_rules
from schema import Turn
from tests.turns import a_turn


@pytest.mark.parametrize(
    "said",
    ["I am allergic to peanuts.", "I'm a nurse.", "I live in Porto.", "I'm 34.", "My sister Ana is getting married."],
)
def test_what_somebody_says_plainly_of_themself_is_noted(said: str) -> None:
    assert trigger_by_rules(Turn.model_validate(a_turn("anna", 0, said))).should_create


@pytest.mark.parametrize("said", ["Thanks, that helps!", "What's the capital of Peru?", "I love that idea!", "ok"])
def test_what_only_keeps_a_talk_going_is_not_noted(said: str) -> None:
    assert not trigger_by_rules(Turn.model_validate(a_turn("anna", 0, said))).should_create
