from __future__ import annotations

import pytest

from policies.privacy.requested_secrets import without_answers
from schema import MAX_TURN_BYTES, Message
from tests.growth import assert_grows_linearly


def said(*texts: str) -> tuple[Message, ...]:
    """Messages of the assistant and the user by turns, the user's last."""
    roles = ("assistant", "user") * len(texts)
    return tuple(Message(role=role, content=text) for role, text in zip(roles[len(texts) % 2 :], texts, strict=False))


def kept(*texts: str, question: str = "") -> str:
    return without_answers(said(*texts), question)[-1].content


@pytest.mark.parametrize(
    ("question", "answer", "left"),
    [
        ("What's your wifi password?", "It is bluehorse. I live in Lisbon.", "[secret]. I live in Lisbon."),
        ("Sure! Please enter your PIN:", "7305", "[secret]"),
        ("Which security code is on it?", "Well, it is 730. Thanks", "[secret]. Thanks"),
        ("May I have your card number?", "four one, then ones", "[secret]"),
    ],
)
def test_the_answer_to_a_question_for_a_secret_is_taken_out(question: str, answer: str, left: str) -> None:
    assert kept(question, answer) == left
    assert kept(answer, question=question) == left


def test_what_it_is_asks_for_the_secret_that_was_spoken_of() -> None:
    assert kept("I have a new wifi password", "Great, what is it?", "bluehorse") == "[secret]"
    assert kept("I have a new dog", "Great, what is it?", "A poodle") == "A poodle"


@pytest.mark.parametrize("begun", ["My password is", "my bank pin:", "My card is 4111 1111"])
def test_a_secret_begun_in_one_message_is_not_completed_in_the_next(begun: str) -> None:
    messages = [Message(role="user", content=begun), Message(role="user", content="11117305 and I live in Lisbon")]
    assert without_answers(messages)[-1].content == "[secret] and I live in Lisbon"


@pytest.mark.parametrize(
    ("announced", "told", "left"),
    [
        ("Here comes my wifi password.", "Pelican_55_dusk", "[secret]"),
        ("I'll send you the gate code now", "B77 then hash, thanks", "[secret], thanks"),
        ("This is the password for my router:", "bluehorse", "[secret]"),
        ("Next comes my PIN", "48 21", "[secret]"),
    ],
)
def test_a_secret_that_was_announced_is_taken_out_of_what_is_said_next(announced: str, told: str, left: str) -> None:
    assert kept(announced, "Got it.", told) == left
    assert kept(told, question="Here comes the secret.") == left


@pytest.mark.parametrize(
    ("announced", "told"),
    [
        ("Here comes my wifi password.", "I live in Lisbon."),
        ("Here comes my wife.", "Pelican_55_dusk"),
        ("This is my password manager.", "Vault7 is its name"),
        ("I changed my wifi password.", "Pelican_55_dusk is a boat"),
    ],
)
def test_what_was_not_announced_is_kept(announced: str, told: str) -> None:
    assert kept(announced, "Go ahead.", told) == told


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Do you use a password manager?", "Yes, since May."),
        ("What is your favourite song?", "Passenger's first one."),
        ("What is your password?", "Forget that I live in Lisbon."),
        ("Passwords should be long.", "Mine is, I live in Lisbon."),
        ("Please do not share passwords with me.", "I moved to Lisbon."),
        ("Never tell anybody your PIN.", "I moved to Lisbon."),
        ("Which password manager do you use?", "One that my sister wrote."),
        ("You can enter the code at home.", "I moved to Lisbon in May."),
    ],
)
def test_other_answers_are_kept(question: str, answer: str) -> None:
    assert kept(question, answer) == answer


@pytest.mark.parametrize(
    "begun", ["My card starts with four two four two", "My card is 4111 1111", "my PIN is", "My PIN starts with 48"]
)
def test_a_secret_begun_in_one_turn_is_not_completed_after_the_answer_to_it(begun: str) -> None:
    told = "4242 4242, that is all"
    assert kept(begun, "Got it.", told) == "[secret], that is all"
    assert kept(told, question=begun) == "[secret], that is all"


@pytest.mark.parametrize("piece", ["What is your ", "password is ", "card 1 ", "a ", "what is it "])
def test_long_messages_take_bounded_time(piece: str) -> None:
    assert_grows_linearly(lambda text: without_answers(said(text, "PIN?", text)), piece, MAX_TURN_BYTES)
