"""What the rules leave of tasks, letters and orders to the assistant in which somebody tells something.

Said on Monday 2 November 2026.
"""

from __future__ import annotations

import pytest

from schema import Context
from tests.unit.extract.asking import RULES, candidates, said


def _told(text: str) -> list[str]:
    """Return what is worth a memory by itself."""
    kept = candidates(RULES.extract([said(text)], Context()))
    return [candidate.summary for candidate in kept if candidate.explicit or not candidate.only_as_news]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("write me a reference for a trainee, Shola, she was on my ward for 6 months", []),
        ("write me a caption for a skin fade special, $25 this week only", []),
        ("my back is in bits. which is better for nights, naproxen or ibuprofen", ["Maya's back is in bits."]),
        ("Tobi is four. which jabs have egg in", ['Maya: "Tobi is four."']),
        ("Dear Mrs Kerrigan, my daughter has asthma and the flat is damp. Can you make that sound less angry?", []),
    ],
)
def test_of_a_task_only_what_tells_of_the_speaker_is_left(text: str, told: list[str]) -> None:
    assert _told(text) == told


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            "Please don't bring up Len's birthday to me, it's the 30th",
            "Maya wants the assistant not to bring up Len's birthday to them, it's the 30th [30 November 2026].",
        ),
        ("imo we should move to Derry", 'Maya: "imo we should move to Derry."'),
        (
            "tbh thinking of packing in the nights, it's killing me back",
            'Maya: "tbh thinking of packing in the nights, it\'s killing me back."',
        ),
        (
            "I got the job in Oslo!! starting December 1st",
            'Maya: "I got the job in Oslo!! starting December 1st [1 December 2026]."',
        ),
        ("yo im maya, 34, barber in Atlanta", "Maya is 34, barber in Atlanta."),
        ("hi i'm Maya, a nurse from York", "Maya is a nurse from York."),
        ("im maya and i live in Leeds", "Maya lives in Leeds."),
        ("I move to Leipzig 15. december", "Maya moves to Leipzig 15. december [15 December 2026]."),
    ],
)
def test_what_is_typed_as_people_talk_is_told_or_quoted_whole(text: str, told: str) -> None:
    assert _told(text) == [told]
