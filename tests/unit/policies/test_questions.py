"""What the other side asked, where its text ends by asking."""

from __future__ import annotations

import pytest

from policies.language.questions import asks, asks_about_user


@pytest.mark.parametrize(
    ("text", "asking"),
    [("Nice! Do you have a garden?", True), ("Is it raining?", False), ("You have a garden.", False), ("", False)],
)
def test_a_question_about_the_user_is_known(text: str, asking: bool) -> None:
    assert asks_about_user(text) is asking


@pytest.mark.parametrize(
    ("text", "asking"), [("Nice! What do they eat?", True), ("They eat well.", False), ("Right?", False), ("", False)]
)
def test_any_question_is_known(text: str, asking: bool) -> None:
    assert asks(text) is asking
