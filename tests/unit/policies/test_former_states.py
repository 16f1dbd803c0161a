"""What was over before something was told leaves that as it is."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from memory.parser.english import parse
from policies.language.former_states import tells_of_a_former_state
from policies.language.sentences import split_sentences

_TOLD = datetime(2026, 10, 5, tzinfo=UTC)
_SAID = datetime(2026, 10, 12, tzinfo=UTC)


def _is_former(said: str) -> bool:
    parsed = parse([sentence.text for sentence in split_sentences(said)])
    return tells_of_a_former_state(said, parsed, _SAID, _TOLD)


@pytest.mark.parametrize(
    "said",
    [
        "I lived in Oslo until 2019.",
        "As a child I was not allergic to peanuts.",
        "Until last year I worked as a nurse.",
        "I was married to Bea before that.",
        "In 2009 we had no dog.",
        "Until I was twelve I was not vegetarian.",
        "In my twenties I drove a Saab.",
    ],
)
def test_a_state_of_a_time_that_was_over_is_none_of_now(said: str) -> None:
    assert _is_former(said)


@pytest.mark.parametrize(
    "said",
    [
        "I moved to Oslo in March.",
        "I lived in Rome until last month.",
        "I was at Siemens till Friday.",
        "I had to put Rex down.",
        "As a child I loved it, I can't stand it these days.",
        "We were married until June 2026.",
        "I live in Oslo since 2019.",
        "I was in Oslo for the weekend. We broke up.",
    ],
)
def test_what_may_have_ended_since_is_read_as_ever(said: str) -> None:
    assert not _is_former(said)


def test_a_year_that_came_after_what_is_known_may_have_ended_it() -> None:
    said = "I worked at Siemens until 2024."
    told = datetime(2022, 3, 1, tzinfo=UTC)
    assert not tells_of_a_former_state(said, parse([said]), _SAID, told)
