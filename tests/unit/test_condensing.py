"""What a language model may make of episodes: nothing of them is lost, and nothing is made up."""

from __future__ import annotations

import pytest

from worker.nights.condense import adds_something, leaves_out, leaves_out_days

SAID = ("Ana went to the beach with her sister on 2 March 2026.", "Ana painted the kitchen yellow.")


def test_other_words_for_what_was_said_are_taken() -> None:
    summary = "On 2 March 2026 Ana visited the beach with her sister; she also painted the kitchen."
    assert not adds_something(summary, SAID)
    assert not leaves_out(summary, SAID)


@pytest.mark.parametrize(
    "summary",
    [
        "Ana went to the beach with her sister and painted 2 kitchens.",
        "Ana went to the beach with Roberto and painted the kitchen.",
        "Ana did not go to the beach with her sister, and painted the kitchen.",
        "Ana loves the beach, hates yellow, fears storms and kitchen fires.",
        "I cannot help with that.",
    ],
)
def test_what_nobody_said_is_noticed(summary: str) -> None:
    assert adds_something(summary, SAID)


@pytest.mark.parametrize("summary", ["Ana painted the kitchen yellow.", "Ana went to the beach.", "Ana.", ""])
def test_an_episode_that_is_not_told_is_noticed(summary: str) -> None:
    assert leaves_out(summary, SAID)


def test_a_denial_that_is_not_told_is_noticed() -> None:
    said = ("Ana did not paint the fence.", "Ana went to the beach.")
    assert leaves_out("Ana went to the beach and painted the fence.", said)
    assert not leaves_out("Ana went to the beach instead of painting the fence, which she did not do.", said)


BY_RULES = "On 2 March 2026: Ana ran. On 3 March 2026: Ana swam. On 9 April 2026: Ana flew."


@pytest.mark.parametrize(
    "summary",
    [
        "On 2 and 3 March and 9 April 2026 Ana ran, swam and flew.",
        "Ana ran on March 2nd, swam on March 3 and flew on April 9, 2026.",
        "From 02 March 2026 to 03 March 2026 Ana ran and swam; she flew on 9th of April 2026.",
    ],
)
def test_days_may_be_named_in_other_ways(summary: str) -> None:
    assert not leaves_out_days(summary, BY_RULES)


@pytest.mark.parametrize(
    "summary",
    [
        "Ana ran, swam and flew.",
        "In March and April 2026 Ana ran, swam and flew.",
        "On 2 March 2026 Ana ran and swam, and on 9 April 2026 she flew.",
        "On 2 and 3 March and 9 April Ana ran, swam and flew.",
        "On 2 and 3 March 2026 Ana ran and swam, on 9 April 2025 she flew.",
        "On 2 March 2026 Ana ran, on 3 April 2026 she swam, and on 9 March 2026 she flew.",
    ],
)
def test_a_day_that_is_not_told_is_noticed(summary: str) -> None:
    assert leaves_out_days(summary, BY_RULES)
