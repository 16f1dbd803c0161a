"""In what capacity somebody speaks, at the head of a sentence."""

from __future__ import annotations

import pytest

from policies.language.capacity import capacity_end, capacity_told


@pytest.mark.parametrize(
    ("sentence", "capacity"),
    [
        ("As a type 1 diabetic, can I have dates before a run?", "As a type 1 diabetic"),
        ("as a single mom of two, how do i find the time", "as a single mom of two"),
        ("As a nurse I work nights.", "As a nurse"),
        ("As an early riser my evenings are short.", "As an early riser"),
    ],
)
def test_what_somebody_says_that_they_are_ends_where_the_rest_begins(sentence: str, capacity: str) -> None:
    assert sentence[: capacity_end(sentence)] == capacity


@pytest.mark.parametrize(
    "sentence",
    [
        "As a lawyer, what would you advise me to do?",
        "As a teacher you must be patient.",
        "As a treat, I bought a cake.",
        "As a child I lived in Rome.",
        "As a rule I get up at six.",
        "As a river it is long.",
        "As soon as I can, I go.",
        "I work as a nurse.",
    ],
)
def test_another_s_capacity_an_age_and_what_things_are_done_as_say_nothing_of_the_speaker(sentence: str) -> None:
    assert capacity_end(sentence) is None


def test_a_capacity_is_read_as_a_sentence_and_leads_back_to_what_was_typed() -> None:
    typed = "As a nurse who cant sleep"
    read = capacity_told(typed)
    assert read.plain == "I am a nurse who can't sleep"
    assert [typed[read.typed(read.plain.index(word)) :] for word in ("nurse", "can't", "sleep")] == [
        "nurse who cant sleep",
        "cant sleep",
        "sleep",
    ]
