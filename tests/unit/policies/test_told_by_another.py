"""What hangs in a sentence on another's verb of saying is in their mouth."""

from __future__ import annotations

import pytest

import memory.parser.english as language
from policies.language.clauses import is_told_by_another


@pytest.mark.parametrize(
    "said",
    [
        "Her status says I live in Hull now.",
        "Somebody in the queue said he hates work and then he said I live in Hull.",
        "My uncle wrote I have a boat.",
    ],
)
def test_words_that_hang_on_anothers_are_told_by_another(said: str) -> None:
    assert all(map(is_told_by_another, language.parse([said])))


@pytest.mark.parametrize(
    "said",
    [
        "I live in Hull now.",
        "I said I live in Hull.",
        "The doctor says that I have asthma.",
        "My sister says hello and I moved to Hull.",
        "She lives in Hull.",
    ],
)
def test_what_the_speaker_says_is_their_own(said: str) -> None:
    assert not any(map(is_told_by_another, language.parse([said])))
