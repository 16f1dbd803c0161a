"""No fact says the opposite of what was said, and none holds of what was supposed, wished, said or laughed at."""

from __future__ import annotations

import pytest

from memory.parser.english import parse
from policies.language.reading.attributes import attribute_facts
from policies.language.reading.facts import facts_of
from schema import Context, Fact
from tests.unit.extract.asking import RULES, candidates, said


def _facts(text: str) -> tuple[Fact, ...]:
    return facts_of(parse([text]))


def _triples(text: str) -> list[tuple[str, str, str]]:
    return [(fact.entity, fact.verb, fact.object) for fact in _facts(text)]


@pytest.mark.parametrize(
    "text",
    [
        "I hate that everyone calls me Tommy, my name is Thomas.",
        "They call me Bob, though I asked them not to.",
        "People call me Liz but I can't stand it.",
        "Nobody calls me Katherine anymore.",
    ],
)
def test_what_one_is_called_against_ones_will_is_no_wish(text: str) -> None:
    assert "preferred_name" not in {fact.attribute for fact in _facts(text)}


@pytest.mark.parametrize(
    ("text", "partner"),
    [
        ("My husband Len passed on the 14th of February.", ("is no longer with", "Len")),
        ("I lost my wife Ana in March.", ("is no longer with", "Ana")),
        ("My husband Len passed the bar exam.", ("is with", "Len")),
        ("My husband Len passed out at the party.", ("is with", "Len")),
        ("My husband Len passed on the promotion.", ("is with", "Len")),
        ("My husband Len passed away last year.", ("is no longer with", "Len")),
        ("My husband Len lost his keys.", ("is with", "Len")),
        ("My husband Len lost his mother in March.", ("is with", "Len")),
    ],
)
def test_nobody_is_with_somebody_who_died(text: str, partner: tuple[str, str]) -> None:
    assert [(fact.verb, fact.object) for fact in _facts(text) if fact.attribute == "partner"] == [partner]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("Carla is no longer on nights.", [("Carla", "is no longer on", "nights")]),
        ("My sister is not on nights any more.", [("user's sister", "is no longer on", "nights")]),
        ("I don't drink wine anymore.", [("user", "no longer drinks", "wine")]),
        ("My brother never eats meat.", [("user's brother", "never eats", "meat")]),
        ("My husband hardly drinks coffee.", [("user's husband", "hardly drinks", "coffee")]),
        ("I no longer work at Siemens.", [("user", "no longer works at", "Siemens")]),
        ("I don't work at Siemens any longer.", [("user", "no longer works at", "Siemens")]),
        ("Nobody in my team likes football.", []),
        ("Neither my brother nor my sister eats meat.", []),
        ("I don't own a house in Spain.", [("user", "does not own", "house")]),
    ],
)
def test_what_is_denied_is_not_told_as_so(text: str, told: list[tuple[str, str, str]]) -> None:
    assert _triples(text) == told


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("I'm 43, no wait, 44 since last month.", "44"),
        ("I work at Siemens, sorry, I mean Bosch.", "Bosch"),
        ("I live in Leeds - wait, no, in Bradford.", "Bradford"),
        ("My name is Jon, sorry, John.", "John"),
        ("I'm 43, no kids.", "43"),
        ("I live in Leeds, actually, it's lovely here.", "Leeds"),
    ],
)
def test_a_value_that_is_put_right_at_once_is_the_right_one(text: str, value: str) -> None:
    assert [fact.object for fact in attribute_facts(parse([text])[0])] == [value]
    assert {fact.object for fact in _facts(text)} == {value}


@pytest.mark.parametrize(
    ("text", "entity", "what"),
    [
        ("My sister-in-law Vesna loves tennis.", "Vesna", "user's sister-in-law"),
        ("My ex-wife Ana loves tennis.", "Ana", "user's ex wife"),
        ("My late husband Ivo loved tennis.", "Ivo", "user's late husband"),
        ("My sister Mia loves tennis.", "Mia", "user's sister"),
    ],
)
def test_what_a_relative_is_to_one_is_told_whole(text: str, entity: str, what: str) -> None:
    assert (entity, "is", what) in _triples(text)


@pytest.mark.parametrize(
    "text",
    [
        "If I won the lottery I'd buy a boat.",
        "I'd buy a house in Spain if I had money.",
        "I wish I had a dog.",
        "I could eat sushi every day.",
        "My brother might move to Oslo.",
        "I think my brother left Oslo.",
        "My neighbour told me a secret.",
        "My sister said she is tired.",
        "My favourite glass of wine is at Christmas.",
        "I'm basically a vampire.",
    ],
)
def test_what_is_supposed_wished_or_only_said_is_no_fact(text: str) -> None:
    assert _facts(text) == ()


def test_what_is_said_with_a_laugh_gives_only_values_that_its_form_states() -> None:
    assert _only_facts("I'm the queen of chaos in our kitchen haha") == []
    assert [fact.object for fact in _only_facts("I moved to Berlin last week haha")] == ["Berlin"]


def _only_facts(text: str) -> list[Fact]:
    return [fact for candidate in candidates(RULES.extract([said(text)], Context())) for fact in candidate.facts]


def test_a_contracted_had_is_no_would() -> None:
    assert ("user", "had been to", "Rome") in _triples("I'd been to Rome twice.")
    assert ("user", "had had", "cat") in _triples("We'd had a cat for years.")


@pytest.mark.parametrize(
    "text",
    [
        'My neighbour told me, "I am leaving my husband and moving to Spain"',
        "I told my boss: 'I will resign if this goes on.'",
        'My sister wrote to me:\n"I am pregnant and moving to Spain with Tom."',
    ],
)
def test_who_said_something_is_kept_with_what_was_said_or_not_at_all(text: str) -> None:
    kept = [candidate.summary for candidate in candidates(RULES.extract([said(text)], Context()))]
    assert all(" ".join(text.split())[-20:] in summary for summary in kept), kept
    assert _only_facts(text) == []
