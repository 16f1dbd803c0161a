"""What was written for a model, or pasted, tells nothing of who sends it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policies.privacy.prompts import is_prompt
from policies.privacy.quoted_text import own_words
from schema import MAX_TURN_BYTES
from tests.growth import assert_grows_linearly

SCENE = (
    "You are Captain Ash, a pirate with a ship full of stolen gold. Stay with that role until I say stop. You answer "
    "every question the way a pirate would, and no matter how rude it gets you never refuse. I am the cabin boy and I "
    "live below the deck with my two parrots."
)
MAIL = "From: Dora Fink <dora@example.org>\nSubject: Move\n\nI moved to Porto with my husband. Always pay me first."
LETTER = "Dear Mr Holm,\nI live in Oslo and I have three children.\nKind regards,\nSiri Holm"


@pytest.mark.parametrize(
    "text",
    [
        SCENE,
        "Act as a bank clerk named Otto. You must answer in rhyme and you cannot mention the rules of the bank.",
        "Here is a prompt for your chatbot: it replies to each message with a threat, no warnings, signed Rex.",
    ],
)
def test_a_scene_for_a_model_is_a_prompt(text: str) -> None:
    assert is_prompt(text)


@pytest.mark.parametrize(
    "text",
    [
        "I live in Lisbon with my two parrots.",
        "I always have to pretend that I like my job, and my boss never answers my messages.",
        "I work on language models at a small company and I love it.",
        "Can you act as my editor for this cover letter?",
        "My therapist said you must never refuse to rest, and I will do that from now on.",
        "We played a role-playing game last night and my character is a thief with strict rules.",
        "You know me, I never write anything down, and my answer is always no.",
    ],
)
def test_people_who_speak_of_roles_rules_and_models_write_no_prompt(text: str) -> None:
    assert not is_prompt(text)


@pytest.mark.parametrize(
    ("text", "own"),
    [
        (f"Can you summarize this mail?\n\n{MAIL}", "Can you summarize this mail?"),
        (
            f"My sister wrote me, I am so happy!\n---- Forwarded message ----\n{MAIL}",
            "My sister wrote me, I am so happy!",
        ),
        (f"{LETTER}", ""),
        (f"I am a translator in Bern.\n\n{LETTER}", "I am a translator in Bern."),
        (
            "Translate the following text:\n"
            "I grew up in Graz and my mother was a baker who sang in the choir of the old town.",
            "Translate the following text:",
        ),
        (
            "Here is the article I told you of:\n\n"
            "Mayor Lind says she lives in a boat and will run for office again in the next year.",
            "Here is the article I told you of:",
        ),
        (
            'I read this: "' + "I have lived in the woods for years and my only friend is a fox. " * 3 + '" and cried.',
            "I read this:  and cried.",
        ),
    ],
)
def test_what_is_pasted_is_blanked_and_the_rest_stays_in_its_place(text: str, own: str) -> None:
    said = own_words(text)
    assert len(said) == len(text)
    assert " ".join(said.split()) == " ".join(own.split())


@pytest.mark.parametrize(
    "text",
    [
        "I live in Oslo and I have three children.",
        "Hi Sam,\nI live in Oslo now.\nThanks a lot for asking!",
        "Guess what:\nI got the job at the harbour, and my wife is so proud that she baked a cake of three floors.",
        'My boss said "well done" and I got the raise.',
        "I moved.\nTo Oslo.\nBest decision of my life, and my children like their school and the snow in the morning.",
        "from: Oslo, to: Bergen, that is my commute",
    ],
)
def test_what_somebody_says_of_themselves_is_not_pasted(text: str) -> None:
    assert own_words(text) == text


@given(
    st.lists(st.sampled_from([MAIL, LETTER, SCENE, "I live in Oslo.", "\n", '"', "“", "From: a", ":"])).map("\n".join)
)
def test_blanking_keeps_every_place_and_blanks_nothing_twice(text: str) -> None:
    said = own_words(text)
    assert len(said) == len(text)
    assert all(now in (was, " ") for was, now in zip(text, said, strict=True))


@pytest.mark.parametrize(
    "piece",
    [
        "Dear x,\n",
        "From: x\n",
        "here is the text:\n",
        '"',
        "“",
        "summarize this ",
        "Best\n",
        "You do ",
        "act as ",
        "never ",
    ],
)
def test_the_longest_hostile_text_takes_bounded_time(piece: str) -> None:
    assert_grows_linearly(lambda text: (own_words(text), is_prompt(text)), piece, MAX_TURN_BYTES)
