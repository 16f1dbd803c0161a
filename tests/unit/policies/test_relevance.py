"""How much a sentence says about its speaker."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policies.language.first_person import first_person_clauses
from policies.language.relevance import POINTS, asks, asks_about_user, features, relevance_of
from policies.trigger import trigger_by_rules
from schema import Turn
from schema.turn import MAX_TURN_BYTES
from tests.growth import assert_grows_linearly
from tests.turns import a_turn


@pytest.mark.parametrize(
    ("clause", "kind"),
    [
        ("i am busy with exams", "state"),
        ("we are from leeds", "state"),
        ("i'm so sorry", "polite_state"),
        ("i have two brothers", "owns"),
        ("i've got a scooter", "owns"),
        ("i've been juggling", "ongoing"),
        ("i used to smoke", "ongoing"),
        ("i'm trying to quit", "ongoing"),
        ("i moved", "personal_verb"),
        ("i really just think so", "mental_verb"),
        ("i could imagine", "mental_verb"),
        ("i could imagine", "modal"),
        ("i'll juggle", "modal"),
        ("i juggle", "other_verb"),
    ],
)
def test_a_clause_of_the_speakers_has_a_kind(clause: str, kind: str) -> None:
    assert kind in first_person_clauses(clause.split())


@pytest.mark.parametrize(
    "text",
    [
        "I have a scooter and a van.",
        "I am a nurse in a small clinic.",
        "I've been training for a triathlon since May.",
        "I used to live on a boat.",
        "My brother is a pilot.",
        "We adopted a kitten.",
        "I'm allergic to shellfish.",
    ],
)
def test_what_one_is_has_and_does_is_worth_keeping(text: str) -> None:
    assert relevance_of(text).worth_keeping


@pytest.mark.parametrize(
    "text",
    [
        "I think you are right about that.",
        "I guess so.",
        "I'm so sorry to hear that!",
        "I'm doing great, thanks!",
        "I can imagine it.",
        "I'll let you know.",
        "You should try it.",
        "The weather is lovely in spring.",
        "She sounds nice.",
    ],
)
def test_what_only_keeps_a_talk_going_is_not(text: str) -> None:
    assert not relevance_of(text).worth_keeping


def test_an_answer_counts_more_than_the_same_words_unasked() -> None:
    assert relevance_of("Mostly jazz.", after_question=True).points > relevance_of("Mostly jazz.").points


@pytest.mark.parametrize(
    ("text", "asking"),
    [("Nice! Do you have a garden?", True), ("Is it raining?", False), ("You have a garden.", False), ("", False)],
)
def test_a_question_about_the_user_is_known(text: str, asking: bool) -> None:
    assert asks_about_user(text) is asking


def test_a_you_that_is_nobody_is_not_the_assistant() -> None:
    assert "about_you" not in features("the nursery is up to 71 a day now, can you believe it")
    assert "about_you" in features("the nursery told you it is 71 a day now")


def test_points_are_in_quarters() -> None:
    assert all(points * 4 == int(points * 4) for points in POINTS.values())


@given(st.text(max_size=400), st.booleans())
def test_any_sentence_is_judged_alike_twice(text: str, asked: bool) -> None:
    assert relevance_of(text, after_question=asked) == relevance_of(text, after_question=asked)
    assert len(set(features(text, after_question=asked))) == len(features(text, after_question=asked))


@pytest.mark.parametrize("piece", ["i ", "my ", "i'm ", "a, ", "it ", "''' ", "sorry i "])
def test_the_longest_sentence_is_judged_in_bounded_time(piece: str) -> None:
    assert_grows_linearly(relevance_of, piece, MAX_TURN_BYTES)


def test_a_reply_to_any_question_counts_more_than_the_same_words_unasked() -> None:
    said = "They eat clover and squash."
    assert relevance_of(said, replying=True).points > relevance_of(said).points


@pytest.mark.parametrize(
    ("text", "asking"), [("Nice! What do they eat?", True), ("They eat well.", False), ("Right?", False), ("", False)]
)
def test_any_question_is_known(text: str, asking: bool) -> None:
    assert asks(text) is asking


@pytest.mark.parametrize(
    "text",
    [
        "Provide a plan for all the shelves in my kitchen.",
        "(Pretend I opened the door.)",
        "Please translate what my aunt wrote.",
        "Confirm by saying that I am sorry.",
    ],
)
def test_an_errand_for_the_assistant_says_nothing_of_the_user(text: str) -> None:
    assert not relevance_of(text).worth_keeping


@pytest.mark.parametrize("said", ["I am allergic to peanuts.", "I'm a nurse.", "I live in Porto.", "I'm 34."])
def test_the_hot_path_notes_at_once_what_somebody_is(said: str) -> None:
    assert trigger_by_rules(Turn.model_validate(a_turn("anna", 0, said))).should_create
