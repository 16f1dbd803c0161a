"""Facts of which somebody has one value at a time: each row of `statement_forms.toml` by its examples."""

from __future__ import annotations

import re
from fnmatch import fnmatch

import pytest

from memory.parser.english import parse
from policies.language.reading.attributes import attribute_facts
from policies.language.reading.facts import facts_of, triples_of
from policies.language.statement_forms import STATED, Stated
from schema import Fact


def _facts(said: str) -> tuple[Fact, ...]:
    return attribute_facts(parse([said])[0])


@pytest.mark.parametrize(
    ("row", "said"), [pytest.param(row, said, id=f"{row.name}: {said}") for row in STATED for said in row.examples]
)
def test_every_row_finds_its_own_examples(row: Stated, said: str) -> None:
    attribute, verb, ended = (re.sub(r"\{\w+\}", "*", text) for text in (row.attribute, row.verb, row.ended))
    found = [(fact.attribute or "", fact.verb) for fact in _facts(said)]
    assert any(fnmatch(at, attribute) and (fnmatch(v, verb) or v == ended) for at, v in found), found


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
    "said",
    [
        "We moved the shop to Leith.",
        # Who shares something, or works with somebody, is no partner, and no employer.
        "Ana and I broke the window.",
        "Tom and I split the bill.",
        "Tom and I work together.",
        "I work with Tom.",
        "I work with Python every day.",
        "I joined Tom for lunch.",
        # How somebody does something is no trade, and whose daughter somebody is neither.
        "I'm a terrible cook.",
        "I'm the worst driver in town.",
        "I'm a doctor's daughter.",
        # How many somebody are is nobody's age.
        "We're 12 in the choir.",
        "I'm 2 in the queue.",
        # Words of every day that are makes of cars and phones, too.
        "I got a seat by the window.",
        "I have golf on Saturday.",
        "I bought a polo shirt.",
        "I have car trouble.",
        # What was, and what is never to be, is not so now.
        "My rent was 900 back then.",
        "My boss was Tom.",
        "I have never lived in Oslo.",
        # One of several, a former or a wished one is not the one that somebody has.
        "My old landlord is Tom.",
        "My ex wife is Ana.",
        "My dream car is a Porsche.",
        "My middle name is Rose.",
        "My ex-wife Ana is remarrying.",
        "My work laptop is a ThinkPad.",
        # A number of things is no pay, and whose brother somebody is no name.
        "I make 3,000 candles a year.",
        "I'm dating Tom's brother.",
        # Where somebody is for a while is not where they live, and what crashed is still there.
        "I'm staying in Rome this week.",
        "I crashed the car.",
    ],
)
def test_what_only_looks_like_a_statement_gives_no_value(said: str) -> None:
    assert _facts(said) == ()


def test_a_relative_clause_behind_a_comma_tells_something_of_its_own_and_one_without_does_not() -> None:
    told = _facts("I live in Lisbon, where I work at Nordbank.")
    assert {(fact.attribute, fact.object) for fact in told} == {("home_city", "Lisbon"), ("employer", "Nordbank")}
    assert _facts("I had a dream where I work at Nordbank.") == ()


def test_what_is_denied_behind_a_value_is_not_the_value() -> None:
    assert [(fact.verb, fact.object) for fact in _facts("I live in Oslo not Rome.")] == [("lives in", "Oslo")]


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("I went hiking with my brother Tom.", ("user", "went hiking with", "Tom")),
        ("My mum lives near the sea.", ("user's mum", "lives near", "sea")),
        ("My dog is scared of thunder.", ("user's dog", "is scared of", "thunder")),
        ("My sister Anna lent me a tent.", ("Anna", "is", "user's sister")),
        ("Woah Joanna, I went hiking!", ("user", "went", "hiking")),
        ("I hike with Tom every week.", ("Tom", "hikes with", "user")),
        ("Max and I had a blast at the lake.", ("Max", "had", "blast")),
        ("I read a book by Frank Herbert.", ("book", "is by", "Frank Herbert")),
        ("We got another cat named Bailey.", ("Bailey", "is", "cat")),
        ("I borrowed Tom's old boat.", ("Tom", "has", "old boat")),
        ("I met a couple who had a dog.", ("couple", "had", "dog")),
    ],
)
def test_a_preposition_belongs_to_the_verb_and_people_are_named_alike(said: str, told: tuple[str, str, str]) -> None:
    assert told in [(fact.entity, fact.verb, fact.object) for fact in triples_of(parse([said])[0])]


@pytest.mark.parametrize(
    "said",
    ["Tom's dad works at Siemens.", "His dad works at Siemens.", "I met Tom and his mum works at Siemens."],
)
def test_what_is_said_of_somebody_elses_relative_is_not_said_of_the_users_nor_of_somebody(said: str) -> None:
    assert {fact.entity for fact in (*_facts(said), *triples_of(parse([said])[0])) if "works" in fact.verb} == set()


def test_what_somebody_is_like_is_not_who_they_are() -> None:
    assert [(fact.entity, fact.attribute) for fact in _facts("My boss is Italian.")] == [("user's boss", "nationality")]


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ('I loved "Becoming Nicole" by Amy Ellis Nutt.', ("user", "loved", "Becoming Nicole")),
        ('I loved "Becoming Nicole" by Amy Ellis Nutt.', ("Becoming Nicole", "is by", "Amy Ellis Nutt")),
        ("I had lunch with Sara.", ("user", "had lunch with", "Sara")),
        ("Edinburgh, Scotland was lovely.", ("Edinburgh", "is in", "Scotland")),
        ("I watched the NBA games with my dad.", ("NBA games", "is of", "NBA")),
    ],
)
def test_names_hang_together_as_they_were_told(said: str, told: tuple[str, str, str]) -> None:
    assert told in [(fact.entity, fact.verb, fact.object) for fact in facts_of(parse([said]))]


@pytest.mark.parametrize(
    "said", ["I have been there before.", "Nate has gone down.", "I made it for them.", "I'm hanging in there."]
)
def test_what_is_said_of_how_and_when_is_no_thing(said: str) -> None:
    assert facts_of(parse([said])) == ()


def test_words_in_quotation_marks_that_are_no_title_stay_as_they_are() -> None:
    assert not [fact for fact in facts_of(parse(['She said "I am fine" to me.'])) if "I am" in fact.object]


def test_a_time_that_only_that_moment_tells_is_no_thing() -> None:
    told = triples_of(parse(["I'm starting a new job in two weeks."])[0])
    assert [(fact.verb, fact.object) for fact in told] == [("is starting", "new job")]
    assert triples_of(parse(["I swim on Mondays."])[0])[0].object == "Mondays"
