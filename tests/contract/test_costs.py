"""What language models cost is told call by call: once each, whoever the audit's lines are about."""

from __future__ import annotations

from datetime import timedelta

import pytest

from interfaces.cli.costs import By, Sum, added_up
from schema import Turn
from stores.catalog import Catalog, Changes
from tests.contract.catalogs import ANNA, BERT, NAMESAKE, NOW
from tests.contract.test_registry import a_line
from tests.turns import a_turn


@pytest.fixture
def asked(catalog: Catalog) -> Catalog:
    """Anna's call about two conversations and a turn that is not kept, another a day later, and one of Bert."""
    turns = [Turn.model_validate(a_turn("anna", number, "I swim") | {"turn_id": f"t{number}"}) for number in (1, 2)]
    talked = (turns[0], turns[1].model_copy(update={"conversation_id": "other"}))
    catalog.commit(Changes(subject=ANNA, at=NOW, sources=talked))
    tokens = {"batch_prompt_tokens": 900, "batch_completion_tokens": 40}
    for subject, turn_id, minutes in (
        *((ANNA, turn_id, 0) for turn_id in ("t1", "t1", "t2", "t3")),
        (ANNA, "t1", 24 * 60),
        (BERT, "t1", 0),
        (NAMESAKE, "t1", 0),
    ):
        line = a_line(subject, "worker", minutes).model_copy(update={"details": tokens, "turn_id": turn_id})
        catalog.registry.note(line)
    return catalog


def test_a_call_is_counted_once_and_split_over_the_conversations_that_it_was_about(asked: Catalog) -> None:
    [conversation] = {a_turn("anna", 1, "x")["conversation_id"]}
    found = added_up(asked.costs.calls("acme", NOW), By.CONVERSATION)
    assert found.keys() == {
        ("anna", conversation),
        ("anna", "other"),
        ("anna", "(its turn is not kept)"),
        ("bert", "(its turn is not kept)"),
    }
    assert found["anna", "other"].prompt_tokens == pytest.approx(300)
    assert found["anna", conversation].prompt_tokens == pytest.approx(300 + 900)
    assert sum(one.calls for one in found.values()) == pytest.approx(3)


def test_days_add_up_to_what_all_calls_asked_for_and_a_user_is_told_apart(asked: Catalog) -> None:
    by_day = added_up(asked.costs.calls("acme", NOW), By.DAY)
    assert [(day, round(one.calls), round(one.prompt_tokens)) for (day,), one in by_day.items()] == [
        ("2026-11-03", 1, 900),
        ("2026-11-02", 2, 1800),
    ]
    [bert] = added_up(asked.costs.calls("acme", NOW, "bert"), By.DAY).values()
    assert round(bert.completion_tokens) == 40
    assert added_up(asked.costs.calls("acme", NOW + timedelta(days=2)), By.DAY) == {}


def test_what_has_no_price_has_no_cost() -> None:
    spent = Sum(calls=1, prompt_tokens=2_000_000, completion_tokens=500_000)
    assert spent.cost((0.0, 0.0)) is None
    assert spent.cost((0.5, 2.0)) == pytest.approx(2.0)
