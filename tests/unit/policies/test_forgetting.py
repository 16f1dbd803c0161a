"""What a wish to forget takes, and what it leaves."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policies.forgetting import Known, meant_by
from schema import ForgetRequest
from tests.unit.policies.builders import POLICY, memory


def wish(what: str, **more: object) -> ForgetRequest:
    return ForgetRequest.model_validate({"turn_id": "t", "ordinal": 0, "what": what, **more})


def known(summary: str, similarity: float = 0.2, **shares: float) -> Known:
    return Known(memory(summary=summary), similarity, shares)


def test_a_wish_takes_what_has_all_of_its_words_and_leaves_the_rest() -> None:
    meant = meant_by(wish("my knee"), [known("Maya hurt a knee skiing."), known("Maya plays chess.")], POLICY, "Maya")
    assert (meant.surely, meant.perhaps) == ((0,), ())


def test_what_is_told_of_somebody_else_is_never_meant() -> None:
    facts = [known("Maya likes coffee.", 0.8), known("Maya's boss likes coffee.", 0.99)]
    assert meant_by(wish("I like coffee"), facts, POLICY, "Maya").surely == (0,)


def test_a_wish_about_somebody_takes_only_what_tells_of_them() -> None:
    facts = [known("Maya likes coffee.", 0.9), known("Maya's boss likes coffee.", 0.5)]
    assert meant_by(wish("my boss"), facts, POLICY, "Maya").surely == (1,)


def test_an_attribute_that_the_wish_names_is_found_in_other_words() -> None:
    facts = [known("Maya earns 52k.", 0.3, income=0.8), known("Maya has two cats.", 0.3, pet=0.9)]
    assert meant_by(wish("my salary"), facts, POLICY, "Maya").surely == (0,)


def test_where_nothing_is_surely_meant_the_nearest_may_be() -> None:
    facts = [known("Maya hit a swan with the van.", 0.5), known("Maya's favourite colour is blue.", 0.1)]
    assert meant_by(wish("the bird"), facts, POLICY, "Maya").perhaps == (0,)


def test_nothing_is_meant_where_nothing_is_near() -> None:
    meant = meant_by(wish("the lighthouse"), [known("Maya has two cats.", 0.05)], POLICY, "Maya")
    assert (meant.surely, meant.perhaps) == ((), ())


@pytest.mark.parametrize("doubtful", [False, True])
def test_everything_is_meant_where_all_is_and_hidden_where_that_is_doubtful(doubtful: bool) -> None:
    facts = [known("Maya has two cats."), known("Maya's boss likes coffee.")]
    meant = meant_by(wish("everything", scope="all", doubtful=doubtful), facts, POLICY, "Maya")
    assert (meant.surely, meant.perhaps) == (((), (0, 1)) if doubtful else ((0, 1), ()))


@given(st.lists(st.floats(-1, 1), max_size=6))
def test_of_a_doubtful_wish_nothing_is_surely_meant(similarities: list[float]) -> None:
    facts = [known(f"Maya said thing{place}.", similarity) for place, similarity in enumerate(similarities)]
    assert meant_by(wish("my knee", doubtful=True), facts, POLICY, "Maya").surely == ()
