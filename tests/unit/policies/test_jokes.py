"""What is said in fun."""

from __future__ import annotations

import pytest

from policies.language.jokes import is_hardly_true, is_kidding, is_laughed_at


@pytest.mark.parametrize(
    ("text", "after"), [("I'm 97 now, ha ha", ""), ("nine kids lol", ""), ("I'm 97.", "Hehe."), ("so old 😂", "")]
)
def test_laughter_in_a_sentence_or_right_behind_it_is_heard(text: str, after: str) -> None:
    assert is_laughed_at(text, after)


@pytest.mark.parametrize("text", ["He has 13 cats now.", "My brother said he left.", "I said he-man", "wha, no"])
def test_a_word_that_looks_like_laughter_is_none(text: str) -> None:
    assert not is_laughed_at(text, "He did.")


def test_who_says_that_they_were_joking_takes_it_back_and_nobody_elses_joke_does() -> None:
    assert is_kidding("Just kidding, lol.")
    assert not is_kidding("He was joking.")


@pytest.mark.parametrize(("text", "hardly"), [("I'm 97 now", True), ("I have 9 children", True), ("I'm 67", False)])
def test_a_number_that_hardly_anybody_can_say_of_themself_is_told_from_one_that_many_can(
    text: str, hardly: bool
) -> None:
    assert is_hardly_true(text) is hardly
