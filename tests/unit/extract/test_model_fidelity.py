"""What a language model may say of the words that it quotes."""

from __future__ import annotations

import pytest

from tests.scripted import Scripted, answer, told
from tests.unit.extract.asking import ask, candidates, said


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
def test_a_summary_needs_no_word_of_its_evidence_but_each_number_name_and_denial(
    user: str, summary: str, is_taken: bool
) -> None:
    found = candidates(ask(Scripted(answer(told(user, summary))), said(user)))
    assert [one.summary for one in found] == ([summary] if is_taken else [])


def test_what_the_user_doubts_is_less_sure_whatever_the_model_says() -> None:
    sure, doubted = (
        candidates(ask(Scripted(answer(told(text, "Maya is moving to Lisbon."))), said(text)))[0].confidence
        for text in ("I'm moving to Lisbon.", "I'm maybe moving to Lisbon.")
    )
    assert doubted < sure
