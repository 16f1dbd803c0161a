"""Which language a message is in, from the few words that it has."""

from __future__ import annotations

import pytest

from policies.language.languages import ENGLISH, OTHER, language_of


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Busco piso en Sevilla", "es"),
        ("Mon mari s'appelle Hugo", "fr"),
        ("Wir heiraten im Mai", "de"),
        ("Właśnie kupiliśmy dom", "pl"),
        ("我对花生过敏", "zh"),
        ("moramos numa casa com quintal", "pt"),
        ("abitiamo vicino a Lecce", "it"),
        ("onze hond heet Bas", "nl"),
        ("min søn går i skole", "da"),
        ("jag har två katter", "sv"),
    ],
)
def test_a_short_message_without_english_words_is_in_the_language_of_the_few_that_it_has(
    text: str, language: str
) -> None:
    assert language_of(text) == language


@pytest.mark.parametrize(
    "text",
    [
        "I was a huge ska kid in 1981",
        "bin the employer bit",
        "dinner at Chez Nous with my wife",
        "wife's due in ten weeks",
        "Ella lost a tooth",
        "ping me in 40 min",
    ],
)
def test_words_that_english_has_too_make_no_other_language(text: str) -> None:
    assert language_of(text) == ENGLISH


def test_a_language_of_which_nothing_is_known_is_another_one() -> None:
    assert language_of("Я живу в Казани") == OTHER


@pytest.mark.parametrize("part", ["Nobody hurt, bent gear leg.", "bent 118 degrees!"])
def test_a_part_of_an_english_message_is_not_of_the_language_of_one_of_its_words(part: str) -> None:
    assert language_of(part, within=ENGLISH) == ENGLISH
    assert language_of("mañana tengo cita", within=ENGLISH) == "es"
