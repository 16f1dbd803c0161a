"""Facts of which somebody has one value at a time: each row of `stated.toml` by its examples, and whose they are."""

from __future__ import annotations

import pytest

from policies.language.stated import STATED, Stated
from schema import Fact
from worker.extract.attributes import attribute_facts
from worker.extract.facts import triples_of
from worker.extract.language import parse


def _facts(said: str) -> tuple[Fact, ...]:
    return attribute_facts(parse([said])[0])


@pytest.mark.parametrize(
    ("row", "said"), [pytest.param(row, said, id=f"{row.name}: {said}") for row in STATED for said in row.examples]
)
def test_every_row_finds_its_own_examples(row: Stated, said: str) -> None:
    verb = row.verb.partition("{")[0]
    assert any(fact.verb in (row.verb, row.ended) or fact.verb.startswith(verb) for fact in _facts(said) if verb)


@pytest.mark.parametrize(
    ("said", "entity", "attribute", "value"),
    [
        ("My sister lives in Porto.", "user's sister", "home_city", "Porto"),
        ("My cousin Tilda is a midwife.", "Tilda", "job_title", "midwife"),
        ("Henrik works at Maersk.", "Henrik", "employer", "Maersk"),
    ],
)
def test_a_fact_is_of_the_subject_of_its_clause(said: str, entity: str, attribute: str, value: str) -> None:
    assert [(fact.entity, fact.attribute, fact.object) for fact in _facts(said)] == [(entity, attribute, value)]


@pytest.mark.parametrize(
    "said",
    [
        "Next year we might move to Oslo.",
        "I used to live in Perth.",
        "If I lived in Rome I'd be fatter.",
        "I want to work at Pixar.",
        "I'm hiding a new amp from Donna.",
        "Our baby is due on 3 August.",
        "We hired a nanny, her name is Ruth and she is 24.",
    ],
)
def test_what_is_not_so_now_or_of_nobody_known_gives_no_value(said: str) -> None:
    assert _facts(said) == ()


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("I went hiking with my brother Tom.", ("user", "went hiking with", "Tom")),
        ("My mum lives near the sea.", ("user's mum", "lives near", "the sea")),
        ("My dog is scared of thunder.", ("user's dog", "is scared of", "thunder")),
        ("My sister Anna lent me a tent.", ("Anna", "is", "user's sister")),
    ],
)
def test_a_preposition_belongs_to_the_verb_and_people_are_named_alike(said: str, told: tuple[str, str, str]) -> None:
    assert told in [(fact.entity, fact.verb, fact.object) for fact in triples_of(parse([said])[0])]
