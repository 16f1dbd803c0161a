"""The wording of a sentence."""

from __future__ import annotations

import pytest

from policies.language.wording import called, read

NAMES = ["Maya", "anna", "Anna36", "Łucja", "李伟", "Jean-Luc", "Dr. O'Neil", "Bo Maria", "May", "The user"]


@pytest.mark.parametrize("name", NAMES)
def test_a_user_who_is_called_otherwise_is_named_so_wherever_they_are_named(name: str) -> None:
    told = f"On 3 May 2026 {name} goes to see {name}'s sister."
    assert called(told, name, "Ida") == "On 3 May 2026 Ida goes to see Ida's sister."


def test_who_was_told_of_before_their_name_was_known_is_called_as_they_are_since() -> None:
    assert called("The user likes what the user's cat likes.", "Anna", "Ida") == "Ida likes what Ida's cat likes."


def test_a_name_in_small_letters_is_known_where_it_begins_a_sentence() -> None:
    assert called("Anna36's sister sees anna36.", "anna36", "Ida") == "Ida's sister sees Ida."


@pytest.mark.parametrize("date", ["3 May", "in May 2026", "on 12 May 2026"])
def test_the_month_of_a_date_is_nobodys_name(date: str) -> None:
    assert called(f"May paints {date}.", "May", "Ida") == f"Ida paints {date}."


def test_what_only_begins_or_ends_as_a_name_does_is_none() -> None:
    assert called("Annabel and Joanna paint.", "Anna", "Ida") == "Annabel and Joanna paint."


@pytest.mark.parametrize("name", [*NAMES, "anna36"])
def test_how_a_user_is_called_says_nothing_of_what_is_told(name: str) -> None:
    told = f"{name[:1].upper()}{name[1:]}'s sister has 2 cats."
    assert read(told, name) == read("Maya's sister has 2 cats.", "Maya")
