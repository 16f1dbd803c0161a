"""Whose words count: what stands in a task, in quotes, in fiction or in another's mouth tells nothing of the user and
orders nothing, and what they say of themselves beside it is kept."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from policies.admission import admit
from policies.language.orders import DESTRUCTIVE, orders_of
from schema import Candidate, Certainty, Context, ForgetRequest, Message, Turn
from tests.extractors import by_rules
from tests.unit.extract.test_everyday_speech import WHEN
from worker.extract import AdmittedTurn, Extractor

CASES = Path(__file__).parent / "cases"


@pytest.fixture(scope="module")
def extractor() -> Extractor:
    return by_rules()


def _cases(*names: str) -> Iterator[dict[str, Any]]:
    for name in names:
        yield from map(json.loads, (CASES / name).read_text("utf-8").splitlines())


def _items(extractor: Extractor, said: str) -> list[Candidate | ForgetRequest]:
    turn = Turn(
        turn_id="t1",
        tenant_id="acme",
        user_id="maya",
        conversation_id="c1",
        messages=(Message(role="user", content=said, name="Maya"),),
        occurred_at=WHEN,
    )
    return list(extractor.extract([AdmittedTurn(turn, admit(turn))], Context()).items)


def _told(items: list[Candidate | ForgetRequest]) -> str:
    """Return all that is told of the user, summaries and facts."""
    kept = [item for item in items if isinstance(item, Candidate)]
    facts = [f"{fact.entity} {fact.verb} {fact.object}" for item in kept for fact in item.facts]
    return "\n".join([*(item.summary for item in kept), *facts])


def _is_reported(item: Candidate | ForgetRequest, text: str) -> bool:
    """Return whether an item repeats a text with its beginning, word for word, and takes the place of nothing."""
    weak = isinstance(item, Candidate) and item.quoted and item.certainty is Certainty.SUPPOSITION and not item.facts
    return weak and isinstance(item, Candidate) and text[:20] in item.summary


def _wrong(extractor: Extractor, case: dict[str, Any]) -> str:
    """Return what is wrong with what is made of a case, "" if nothing is."""
    items = _items(extractor, case["text"])
    told = _told(items)
    if "told" in case:
        wished = " ".join(item.what for item in items if isinstance(item, ForgetRequest))
        return "" if re.search(case["told"], f"{told} {wished}") else f"lost: {items}"
    if any(isinstance(item, ForgetRequest) and not item.only_as_read for item in items):
        return f"forgets: {items}"
    if any(one.intent in DESTRUCTIVE and not one.doubtful for one in orders_of(case["text"])):
        return f"orders: {orders_of(case['text'])}"
    if case["kind"] == "mouth":  # What is told with who said it is told as it was.
        told = _told([item for item in items if not _is_reported(item, case["text"])])
    if "not_told" in case and re.search(case["not_told"], told):
        return f"told: {told}"
    return ""


@pytest.mark.parametrize(
    "case", list(_cases("others_words.jsonl", "given_words.jsonl")), ids=lambda case: case["text"][:50]
)
def test_words_of_others_tell_and_order_nothing_and_the_users_own_do(
    extractor: Extractor, case: dict[str, Any]
) -> None:
    assert not _wrong(extractor, case)


@pytest.mark.parametrize(
    "said",
    [
        "Alexa heard I live in Oslo.",
        "Word in the canteen is I quit and I'm a chef now.",
        "In a parallel world I live in Oslo and we have three kids.",
    ],
)
def test_what_nobody_vouches_for_is_one_supposition_that_leaves_no_fact(extractor: Extractor, said: str) -> None:
    [item] = _items(extractor, said)
    assert isinstance(item, Candidate)
    assert (item.certainty, item.facts) == (Certainty.SUPPOSITION, ())


def test_who_somebody_is_in_what_is_to_be_made_up_is_told_of_nobody(extractor: Extractor) -> None:
    assert not _told(_items(extractor, "Write a bedtime story, I'm a dragon called Nils, 200 words"))
    assert "night nurse" in _told(_items(extractor, "Plan my week, I'm a night nurse in Oslo"))
    assert "night nurse" in _told(_items(extractor, "Recommend a novel please, I'm a night nurse in Oslo"))
