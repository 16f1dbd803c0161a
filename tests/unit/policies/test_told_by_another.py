"""What hangs in a sentence on what another says or thinks, or what was dreamt or made up, nobody vouches for."""

from __future__ import annotations

import pytest

import memory.parser.english as language
from policies.language.clauses import is_not_vouched_for


@pytest.mark.parametrize(
    "said",
    [
        "Her status says I live in Hull now.",
        "Somebody in the queue said he hates work and then he said I live in Hull.",
        "My uncle wrote I have a boat.",
        "I live in Hull, the letter says.",
        "The form says that I live in Hull.",
        "Facebook thinks I live in Hull.",
        "My mother still believes that I work as a doctor.",
        "My sister jokes that I'm a chef now.",
        "The town insists I moved to Hull.",
        "I dreamt that I live in Hull and work as a wizard.",
        "I lied on the form that I live in Hull and work as a chef.",
        "I pretended I was a doctor so they would let me in.",
        "I almost moved to Hull.",
        "I sometimes imagine I live in Hull.",
        "My phone heard I live in Hull.",
        "The website shows I live in Hull.",
        "The rumour is that I moved to Hull.",
        "In a parallel universe I live in Hull and I have six cats.",
        "In my dream I live in Hull.",
    ],
)
def test_words_that_hang_on_anothers_are_told_by_another(said: str) -> None:
    assert all(map(is_not_vouched_for, language.parse([said])))


@pytest.mark.parametrize(
    "said",
    [
        "I live in Hull now.",
        "I switched to hojicha, the doctor says no coffee for me.",
        "I'm back on the bike, my physio thinks swimming is too easy.",
        "I said I live in Hull.",
        "The doctor says that I have asthma.",
        "My sister says hello and I moved to Hull.",
        "She lives in Hull.",
        "I think I'm allergic to nuts.",
        "I dreamt of Hull, and now I live there.",
        "My blood test says that I have anaemia.",
        "My wife knows I moved to Hull.",
        "The nurse reckons I'm allergic to the plasters.",
        "Do you think I live in Hull?",
        "I almost forgot, I moved to Hull.",
        "I told my boss that I'm pregnant.",
        "I've lived in Hull for almost ten years.",
        "In our dream house in Hull I have a study.",
        "The scan shows I'm pregnant.",
        "My wife told me I'm too loud in the night.",
        "In the world of music I am a drummer.",
    ],
)
def test_what_the_speaker_says_is_their_own(said: str) -> None:
    assert not any(map(is_not_vouched_for, language.parse([said])))
