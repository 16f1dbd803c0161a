"""What is read off statements in the first person and in the third."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from memory.statement_reading import read_statement

AT = datetime(2026, 11, 2, 12, 0, tzinfo=UTC)


def facts(text: str, *names: str) -> set[tuple[str, str, str | None]]:
    return {(fact.entity, fact.object, fact.attribute) for fact in read_statement(text, names, AT).facts}


@pytest.mark.parametrize(
    "text",
    [
        "I live in Porto.",
        "The user lives in Porto.",
        "User lives in Porto.",
        "Maya lives in Porto.",
        "Maya Costa lives in Porto.",
        "They live in Porto.",
        "She lives in Porto.",
        "Lives in Porto",
    ],
)
def test_where_the_user_lives_is_the_same_fact_however_it_is_stated(text: str) -> None:
    assert ("user", "Porto", "home_city") in facts(text, "Maya Costa")


def test_what_is_the_users_is_theirs() -> None:
    assert ("Mia", "user's sister", None) in facts("The user has lunch with their sister Mia on Fridays.")
    assert ("user", "Rex", "dog_name") in facts("Maya's dog is called Rex.", "Maya")


def test_a_sentence_behind_one_of_the_user_is_of_the_user() -> None:
    read = facts("The user moved to Oslo. They work at Acme.")
    assert {("user", "Oslo", "home_city"), ("user", "Acme", "employer")} <= read


@pytest.mark.parametrize(
    "text",
    [
        "The user's sister Anna lives in Porto.",
        "Anna lives in Porto.",
        "The user has a sister, Anna. She lives in Porto.",
        "The user met a lawyer, and she lives in Porto.",
        "The user has two cousins. They live in Porto.",
        "The user interface of their bank is in Porto.",
        "James lives in Porto.",
        "Dogs live in Porto.",
    ],
)
def test_what_is_said_of_others_is_not_said_of_the_user(text: str) -> None:
    assert ("user", "Porto", "home_city") not in facts(text, "Maya")


def test_named_things_are_read_off_too_but_for_the_users_own_name() -> None:
    read = read_statement("Maya flew to Lisbon with Tom.", ["Maya"], AT)
    assert {entity.text for entity in read.entities} == {"Lisbon", "Tom"}


def test_nothing_is_read_in_another_language() -> None:
    assert read_statement("Maya vive en Lisboa con su hermana y le gusta el café.", ["Maya"], AT).facts == ()
