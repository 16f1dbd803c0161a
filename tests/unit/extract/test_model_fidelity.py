"""What a language model may say of the words that it quotes."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest

from schema import Context, KnownMemory, Question
from tests.scripted import Scripted, answer, told
from tests.unit.extract.asking import WHEN, a_turn, ask, candidates, said


@pytest.mark.parametrize(
    ("user", "summary", "is_taken"),
    [
        ("im veggie now", "Maya is vegetarian.", True),
        ("They put my rent up to 1350.", "Maya's rent is 1,350.", True),
        ("I pay 29,99 a month for the gym.", "Maya pays 29.99 a month for the gym.", True),
        ("I make 84k.", "Maya makes 84,000 a year.", True),
        ("I have two cats and the twins are five.", "Maya has 2 cats, and the twins are 5.", True),
        ("My rent is 1350.", "Maya's rent is 1450.", False),
        ("My brother moved.", "Maya's brother Leo moved.", False),
        ("I eat meat.", "Maya does not eat meat.", False),
        ("I quit eating meat.", "Maya does not eat meat.", True),
    ],
)
def test_a_summary_needs_no_word_of_its_evidence_but_each_number_name_and_denial_or_it_is_quoted(
    user: str, summary: str, is_taken: bool
) -> None:
    found = candidates(ask(Scripted(answer(told(user, summary))), said(user)))
    assert [one.summary for one in found] == [summary if is_taken else f'Maya: "{user}"']


def test_what_the_user_doubts_is_less_sure_whatever_the_model_says() -> None:
    sure, doubted = (
        candidates(ask(Scripted(answer(told(text, "Maya is moving to Lisbon."))), said(text)))[0].confidence
        for text in ("I'm moving to Lisbon.", "I'm maybe moving to Lisbon.")
    )
    assert doubted < sure


@pytest.mark.parametrize(
    ("memory", "why", "kept"),
    [
        pytest.param(
            told("love pottery", "Maya loves pottery by Hamada.", replaces=["K1"]),
            "not_the_users",
            'Maya: "I love pottery."',
            id="a name that only the assistant said",
        ),
        pytest.param(
            told("not doing the marathon", "Maya runs 2 marathons."),
            "not_the_users",
            'Maya: "And I am not doing the marathon on Friday [6 November 2026]."',
            id="a number that nobody said, and a day",
        ),
        pytest.param(told("pottery", "Pottery."), "no_subject", 'Maya: "I love pottery."', id="a word"),
        pytest.param(
            told("a flat in Lisbon", "A flat in Lisbon."),
            "no_subject",
            'Maya: "We bought a flat in Lisbon!"',
            id="something without anybody whose it is",
        ),
    ],
)
def test_what_a_sentence_does_not_tell_as_it_was_said_is_quoted_and_replaces_nothing(
    memory: dict[str, Any], why: str, kept: str
) -> None:
    dropped: list[str] = []
    text = "I love pottery. We bought a flat in Lisbon! And I am not doing the marathon on Friday."
    exchange = ("user", text), ("assistant", "Hamada was a potter.")
    context = Context(known=(KnownMemory(id=UUID(int=1), summary="Maya loves glass.", said_at=WHEN),))
    [candidate] = candidates(ask(Scripted(answer(memory)), a_turn(*exchange), context=context, dropped=dropped))
    assert (candidate.summary, candidate.replaces, candidate.facts, dropped) == (kept, (), (), [why])


@pytest.mark.parametrize(
    ("name", "summary", "is_taken"),
    [
        ("Li", "A flat in Lisbon.", False),
        ("Al", "Total rent.", False),
        ("Li", "Li's flat in Lisbon.", True),
        ("Anna-Maria K.", "Flat of Anna-Maria K. in Lisbon.", True),
    ],
)
def test_a_user_is_named_where_their_name_stands_and_not_where_a_longer_word_has_its_letters(
    name: str, summary: str, is_taken: bool
) -> None:
    text, dropped = "My total rent is for a flat in Lisbon.", list[str]()
    extraction = ask(Scripted(answer(told(text, summary))), said(text, name=name), dropped=dropped)
    [candidate] = candidates(extraction)
    assert candidate.summary == (summary if is_taken else f'{name}: "{text}"')
    assert dropped == ([] if is_taken else ["no_subject"])


@pytest.mark.parametrize(
    "summary", ["Maya: Lisbon.", "There is a flat in Lisbon.", "Her brother Tom is in Lisbon.", "Answer briefly."]
)
def test_a_sentence_that_names_its_subject_stands_as_the_model_wrote_it(summary: str) -> None:
    kind = "instruction" if summary.startswith("Answer") else "fact"
    told_so = Scripted(answer(told("in Lisbon", summary, kind=kind)))
    [candidate] = candidates(ask(told_so, said("Answer briefly: my brother Tom has a flat in Lisbon")))
    assert candidate.summary == summary


def test_a_word_that_answers_a_question_is_quoted_with_it() -> None:
    asked = Question(conversation_id="conversation-id", text="What is your favourite tree?", turn_id="asked-in")
    extraction = ask(
        Scripted(answer(told("Linden", "Linden."))),
        said("Linden"),
        context=Context(questions={"conversation-id": asked}),
    )
    [candidate] = candidates(extraction)
    assert candidate.summary == 'Asked "What is your favourite tree?", Maya said: "Linden."'
