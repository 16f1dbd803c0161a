"""What a sentence tells beside what it asks for."""

from __future__ import annotations

import pytest

from memory.parser.english import parse
from policies.language.splitting import without_request


def _told(said: str) -> str:
    (parsed,) = parse([said])
    told = without_request(parsed)
    return told.text_of(range(len(told.tokens)))


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("I'm flying to Oslo on Friday, find me a hotel near the station.", "I'm flying to Oslo on Friday"),
        ("We have 80 guests coming, help me plan the seating.", "We have 80 guests coming"),
        ("My dog is scared of fireworks, please suggest something calming", "My dog is scared of fireworks"),
        ("my son is allergic to nuts so plan a menu without them", "my son is allergic to nuts"),
        ("I hate coriander, don't suggest it", "I hate coriander"),
        ("Help me out, my car died on the motorway", "my car died on the motorway"),
    ],
)
def test_a_request_beside_what_is_told_is_left_out(said: str, told: str) -> None:
    assert _told(said) == told


@pytest.mark.parametrize(
    "said",
    [
        "I get up at six, eat breakfast, go to work by bus.",
        "He used to smoke, drink and gamble.",
        "My plan is to save money, buy a van, drive to Spain.",
        "We moved to Ghent last May, bought a house, and have two cats.",
        "The funeral is on Saturday, need to travel to Leeds on Friday.",
        "Our son was told he's diabetic, type one.",
    ],
)
def test_what_somebody_does_one_after_the_other_is_no_request(said: str) -> None:
    assert _told(said) == said
