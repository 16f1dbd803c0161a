"""What a language model may make of episodes: nothing of them is lost, and nothing is made up."""

from __future__ import annotations

import pytest

from worker.nights.condense import adds_something, leaves_out

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
