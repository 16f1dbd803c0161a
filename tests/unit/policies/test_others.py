from __future__ import annotations

import pytest

from policies.privacy.third_parties import told_of, without_names
from schema import Entity
from tests.unit.policies.builders import candidate


def names_in(summary: str, *people: str) -> tuple[str, ...]:
    entities = tuple(Entity(text=name, type="PERSON") for name in people)
    return told_of(candidate(summary, entities=entities), ("Maya",))


@pytest.mark.parametrize(
    "summary",
    [
        "Maya's sister Karin has epilepsy.",
        "Karin, Maya's sister, was diagnosed with diabetes.",
        "The user said that Karin is Muslim.",
        "Karin was arrested in spring.",
        "Maya likes tea. Her neighbour Karin had an abortion.",
    ],
)
def test_whoever_is_named_last_before_a_sensitive_word_is_told_of(summary: str) -> None:
    assert names_in(summary, "Karin") == ("Karin",)


@pytest.mark.parametrize(
    "summary",
    [
        "Maya has epilepsy.",
        "Karin drove Maya to her chemotherapy.",
        "Maya met Karin at the hospital.",
        "Karin is Maya's therapist.",
        "Karin likes tea. Maya has asthma.",
        "Maya's brother has epilepsy.",
    ],
)
def test_what_is_sensitive_of_the_user_or_of_nobody_named_stays(summary: str) -> None:
    assert names_in(summary, "Karin") == ()


def test_a_name_is_replaced_as_a_whole_word_and_everywhere() -> None:
    assert without_names("Karin and Karin Holm saw Karina.", ["Karin", "Karin Holm"]) == (
        "[person] and [person] saw Karina."
    )


def test_a_pet_is_nobody_who_could_agree() -> None:
    assert names_in("Maya's cat Biscuit has diabetes.", "Biscuit") == ()
    assert names_in("Maya has a dog named Rex who has cancer.", "Rex") == ()
    assert names_in("Maya's dog Rex bit Karin, who has epilepsy.", "Rex", "Karin") == ("Karin",)


@pytest.mark.parametrize(
    ("summary", "people", "left"),
    [
        ("Eva Novak has HIV.", ("Eva",), "[person] has HIV."),
        ("Novak has HIV.", (), "[person] has HIV."),
        ("Maya's aunt rosa has breast cancer.", (), "Maya's aunt [person] has breast cancer."),
        ("Anna Kowalska-Nowak was diagnosed with diabetes.", ("Nowak",), "[person] was diagnosed with diabetes."),
        ("Maya said that Dr Ana Maria Lopes suffers from depression.", ("Ana Maria",), "suffers from depression."),
        ("Yesterday Karin had an abortion.", ("Karin",), "Yesterday [person] had an abortion."),
    ],
)
def test_a_name_goes_as_a_whole_with_or_without_a_parse(summary: str, people: tuple[str, ...], left: str) -> None:
    masked = without_names(summary, names_in(summary, *people))
    assert masked.endswith(left)
    assert "Lopes" not in masked


def test_the_users_own_name_is_never_masked() -> None:
    assert names_in("Maya has asthma.") == ()
    assert names_in("The user has asthma. It has got worse.") == ()
