from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schema import Candidate, Extraction, Fact
from tests.unit.policies.builders import candidate
from worker.extract.stated import stated_facts, with_stated_facts


def _read(summary: str, *names: str) -> set[tuple[str, str | None, str]]:
    return {(fact.entity, fact.attribute, fact.object) for fact in stated_facts(summary, names)}


@pytest.mark.parametrize(
    ("summary", "attribute", "value"),
    [
        ("The user moved to Ghent.", "home_city", "Ghent"),
        ("The user left Turin and now lives in Ghent.", "home_city", "Ghent"),
        ("The user is based in Ghent.", "home_city", "Ghent"),
        ("The user was hired by Initech.", "employer", "Initech"),
        ("The user quit Globex and joined Initech.", "employer", "Initech"),
        ("The user's employer is Initech.", "employer", "Initech"),
        ("The user, 34, works at Initech.", "employer", "Initech"),
        ("The user, 34, works at Initech.", "age", "34"),
        ("The user works at Initech as a welder.", "job_title", "welder"),
        ("The user is an electrician by trade.", "job_title", "electrician"),
        ("The user is married to Noor.", "partner", "Noor"),
        ("The user broke up with Sven and is with Noor now.", "partner", "Noor"),
        ("The user's new boyfriend is called Sven.", "partner", "Sven"),
        ("The user follows a vegan diet.", "diet", "vegan"),
        ("The user is no longer vegan but pescatarian.", "diet", "pescatarian"),
        ("The user sold the Opel and bought a Volvo.", "car", "Volvo"),
        ("The user's phone is a Nokia 3310.", "phone", "Nokia 3310"),
        ("The user replaced the Pixel 7 with a Fairphone 5.", "phone", "Fairphone 5"),
        ("The user turned 41.", "age", "41"),
        ("The user's favourite colour is teal.", "favorite_color", "teal"),
        ("The user likes teal best of all colors.", "favorite_color", "teal"),
        ("The user transferred to Utrecht University.", "school", "Utrecht University"),
        ("The user pays 640 euros of rent a month.", "rent", "640"),
        ("The user's dentist appointment was moved to 3 May.", "dentist_appointment", "3 May"),
        ("The user has to see the dentist on 3 May.", "dentist_appointment", "3 May"),
        ("The deadline of the user's report is 3 May.", "report_deadline", "3 May"),
        ("The user's report is due on 3 May.", "report_deadline", "3 May"),
        ("The user switched banks from Triodos to Monzo.", "bank", "Monzo"),
        ("The user's GP is Dr. Winter.", "doctor", "Dr. Winter"),
        ("The user's favorite movie is Alien.", "favorite_film", "Alien"),
        ("The user's favourite color now is teal.", "favorite_color", "teal"),
        ("The user is going vegan.", "diet", "vegan"),
        ("The user turned 40 on 3 May 2026.", "age", "40"),
        ("The user has a boyfriend now.", "marital_status", "in a relationship"),
        ("Laura and the user broke up.", "partner", "Laura"),
    ],
)
def test_a_summary_states_what_its_user_has_one_of(summary: str, attribute: str, value: str) -> None:
    assert ("user", attribute, value) in _read(summary)


@pytest.mark.parametrize(
    "summary",
    [
        "The user wants to move to Ghent.",
        "The user visited Ghent.",
        "The user may start at Initech.",
        "The user loves pottery.",
        "The user speaks Dutch at home.",
        "The user is allergic to peanuts.",
        "Ghent is a city in Belgium.",
        'Asked "Who is in Ghent?", the user said: Rhys is 31 and lives in Ghent.',
        "The user and those with them are 20.",
        "",
    ],
)
def test_what_is_wished_or_may_stand_side_by_side_states_nothing(summary: str) -> None:
    assert _read(summary) == set()


def test_what_a_relative_has_is_the_relatives() -> None:
    assert _read("The user's sister moved to Ghent.") == {("user's sister", "home_city", "Ghent")}
    assert _read("The user's sister lives in Ghent and works at Initech.") == {
        ("user's sister", "home_city", "Ghent"),
        ("user's sister", "employer", "Initech"),
    }
    assert _read("The user's brother Tom works at Initech.") == {("user's brother tom", "employer", "Initech")}


def test_a_user_who_is_called_by_name_is_the_user() -> None:
    assert _read("Maya moved to Ghent.", "Maya") == {("user", "home_city", "Ghent")}
    assert _read("Maya's sister moved to Ghent.", "Maya") == {("user's sister", "home_city", "Ghent")}
    assert _read("Maya moved to Ghent.") == set()


def test_what_an_extractor_said_itself_stands() -> None:
    own = Fact(entity="user", verb="dwells in", object="Ghent, Belgium", attribute="home_city")
    [said] = with_stated_facts(_extraction(candidate("The user moved to Ghent.", facts=(own,))), (), None).items
    assert isinstance(said, Candidate)
    assert said.facts == (own,)


def test_what_an_extractor_left_out_is_added() -> None:
    [said] = with_stated_facts(_extraction(candidate("Maya moved to Ghent.")), (), "Maya").items
    assert isinstance(said, Candidate)
    assert [(fact.attribute, fact.object) for fact in said.facts] == [("home_city", "Ghent")]


def _extraction(said: Candidate) -> Extraction:
    return Extraction(items=(said,), model="test")


@given(st.text(max_size=600), st.lists(st.text(min_size=1, max_size=20), max_size=3))
def test_any_summary_can_be_read(summary: str, names: list[str]) -> None:
    for fact in stated_facts(f"The user {summary}", names):
        assert fact.attribute


def _told(summary: str, **fields: object) -> list[Candidate]:
    extraction = Extraction(items=(candidate(summary, **fields),), model="test")
    return [one for one in with_stated_facts(extraction, [], "Ana").items if isinstance(one, Candidate)]


@pytest.mark.parametrize(
    ("summary", "parts"),
    [
        ("Ana lives in Ghent and works at Initech.", ("Ana lives in Ghent.", "Ana works at Initech.")),
        ("The user is 41 and lives in Ghent.", ("The user is 41.", "The user lives in Ghent.")),
        (
            "Ana's sister lives in Ghent and works at Initech.",
            ("Ana's sister lives in Ghent.", "Ana's sister works at Initech."),
        ),
        ("Ana, 34, lives in Ghent.", ("Ana is 34.", "Ana lives in Ghent.")),
        (
            "Ana lives in Ghent with her two cats and loves hiking.",
            ("Ana lives in Ghent with her two cats.", "Ana loves hiking."),
        ),
        (
            "The user is a nurse, has two kids and drives a Volvo.",
            ("The user is a nurse.", "The user has two kids.", "The user drives a Volvo."),
        ),
    ],
)
def test_things_that_change_each_by_itself_are_memories_of_their_own(summary: str, parts: tuple[str, ...]) -> None:
    told = _told(summary)
    assert tuple(one.summary for one in told) == parts
    assert [one.ordinal for one in told] == list(range(len(parts)))
    assert all(len({fact.attribute for fact in one.facts}) <= 1 for one in told)


@pytest.mark.parametrize(
    "summary",
    [
        "Ana lives in Ghent and loves it.",
        "Ana left Globex and joined Initech.",
        "Ana left Oslo and now lives in Ghent.",
        "Ana changed careers and is a nurse now.",
        "Ana sold the Volvo and bought a Tesla.",
        "Ana lives in Ghent and Tom works at Initech.",
        "Ana and Tom live in Ghent and work at Initech.",
        "Ana has two cats and drives to work.",
        "Ana lives in Ghent because Tom is a nurse and has a house there.",
        "Ana lives with a friend who works at Initech and has two cats.",
    ],
)
def test_what_is_one_thing_stays_one_memory(summary: str) -> None:
    assert [one.summary for one in _told(summary)] == [summary]
