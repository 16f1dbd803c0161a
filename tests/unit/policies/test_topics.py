from __future__ import annotations

import pytest

from policies.language.orders import orders_of
from policies.topics import is_about, named_in, without
from schema import MAX_TURN_BYTES
from tests.growth import assert_grows_linearly


@pytest.mark.parametrize(
    ("wish", "topics"),
    [
        ("my health", ("health",)),
        ("my divorce or my salary, please", ("divorce", "salary")),
        ("The House in Sintra", ("house in sintra",)),
        ("x", ()),
        ("a" * 61, ()),
    ],
)
def test_a_wish_names_its_topics(wish: str, topics: tuple[str, ...]) -> None:
    assert named_in(wish) == topics


@pytest.mark.parametrize(
    ("text", "topic"),
    [
        ("The user is divorced since spring.", "divorce"),
        ("Ana was diagnosed with epilepsy.", "my health"),
        ("Ana earns 90,000 euros a year.", "salary"),
        ("The user goes to church on Sundays.", "religion"),
        ("The operation on her knee went well.", "knee operation"),
        ("我的狗叫小白。", "小白"),
    ],
)
def test_a_text_is_about_a_topic_in_any_of_its_words(text: str, topic: str) -> None:
    assert is_about(text, [topic])


@pytest.mark.parametrize(
    ("text", "topic"),
    [
        ("The user loves articles on history.", "art"),
        ("The user painted the knee of the statue.", "knee operation"),
        ("The user likes tea.", "health"),
        ("The user likes tea.", " "),
    ],
)
def test_a_text_is_not_about_a_topic_for_a_part_of_a_word(text: str, topic: str) -> None:
    assert not is_about(text, [topic])


def test_a_label_is_enough_to_be_about_a_topic() -> None:
    assert is_about("The user sleeps badly.", ["health"], ("health", "Personal"))


def test_only_the_sentences_on_a_topic_are_left_blank() -> None:
    assert without("I live in Lisbon. I have diabetes! Rex is my dog.", ["health"]) == (
        "I live in Lisbon. [blocked] Rex is my dog."
    )
    assert without("I have diabetes.", []) == "I have diabetes."


@pytest.mark.parametrize("piece", ["health. ", "a", "my health or ", ".\n"])
def test_the_longest_text_takes_bounded_time(piece: str) -> None:
    def read(text: str) -> None:
        without(text, ["health", "knee operation", "小白"])
        named_in(text)

    assert_grows_linearly(read, piece, MAX_TURN_BYTES)


@pytest.mark.parametrize(
    ("said", "verb", "about"),
    [
        ("Don't remember anything about my health.", "stop", "my health"),
        ("Please never store information about my salary!", "stop", "my salary"),
        ("I love tea. And don't log anything about my religion.", "stop", "my religion"),
        ("Stop tracking things about my weight", "stop", "my weight"),
        ("You can remember things about my health again.", "resume", "my health"),
    ],
)
def test_a_topic_is_blocked_and_unblocked_by_an_order(said: str, verb: str, about: str) -> None:
    [order] = orders_of(said)
    assert (order.intent, order.object_text) == (verb, about)


@pytest.mark.parametrize(
    "said",
    [
        "I don't remember anything about my childhood.",
        "Don't remember anything about this.",
        "Don't remember anything about the accident, I was asleep.",
        "Why do you store things about my health?",
        "I can't keep track of things about my job.",
    ],
)
def test_what_is_no_standing_order_blocks_nothing(said: str) -> None:
    assert not [order for order in orders_of(said) if order.object_text and not order.doubtful]
