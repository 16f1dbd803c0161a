"""Examples of how requests are handled: loaded from a file, found by whoever hands requests on, and nobody's memory."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from memory.documents.indexing import make_searchable
from producers.examples import Example, InvalidExamples, load_examples, read_examples
from recall.context_block import context_block
from recall.examples import find_examples
from recall.tools import TOOLS, ToolContext, call
from schema import Capability, Principal, Subject
from schema.errors import NotAllowed
from tests.contract.pipeline import Worker, on_every_store_at_length
from tests.turns import subject

NOW = datetime(2026, 11, 2, 12, tzinfo=UTC)
READER = Principal(tenant_id="acme", user_id="maya", capabilities=frozenset({Capability.READ}), key_id="key")
LEFT = Example(input="How much is left of my budget this month?", actions=("Budget: sum the month", "Answer"))
LOAN = Example(input="Should I take out a loan for a car?", actions=("Finance: compare loans", "Coach: explain"))
TRIP = Example(id="trip", input="Plan a trip to Lisbon in May.", actions=("Goals: look up trips",))

pytest_generate_tests = on_every_store_at_length


def library(worker: Worker, name: str) -> Worker:
    """The worker, where the settings say that a subject holds the examples."""
    settings = worker.context.settings.model_copy(update={"examples": f"examples-{name}"})
    return worker.with_parts(settings=settings)


def load(worker: Worker, *examples: Example) -> dict[str, int]:
    whose = Subject(tenant_id="acme", subject_id=str(worker.context.settings.examples))
    outcomes = load_examples(examples, whose, worker.context, by="dora", now=NOW)
    for example in examples:
        make_searchable(whose, example.name, worker.context, lambda: NOW)
    return dict(outcomes)


def inputs(worker: Worker, request: str, limit: int = 3) -> list[str]:
    return [example.input for example in find_examples(READER, "acme", request, worker.context, limit=limit)]


def test_a_request_gets_the_example_that_is_like_it_with_all_that_is_done(worker: Worker, anna: str) -> None:
    worker = library(worker, anna)
    load(worker, LEFT, LOAN, TRIP)
    [best, *_] = find_examples(READER, "acme", "Can I still spend something this month?", worker.context)
    assert (best.input, best.actions) == (LEFT.input, LEFT.actions)
    assert inputs(worker, "How do I compile a kernel module?") == []


def test_a_file_takes_the_place_of_what_was_loaded_before(worker: Worker, anna: str) -> None:
    worker = library(worker, anna)
    assert load(worker, LEFT, TRIP) == {"accepted": 2}
    changed = TRIP.model_copy(update={"actions": ("Goals: look up trips", "Budget: what may it cost?")})
    assert load(worker, changed, LOAN) == {"accepted": 2, "deleted": 1}
    assert load(worker, changed, LOAN) == {"unchanged": 2}
    [trip] = find_examples(READER, "acme", TRIP.input, worker.context, limit=1)
    assert trip.actions == changed.actions
    assert LEFT.input not in inputs(worker, LEFT.input)


def test_examples_are_nobodys_memory_and_stand_in_no_context_block(worker: Worker, anna: str) -> None:
    worker = library(worker, anna)
    load(worker, LEFT)
    asked = READER.model_copy(update={"user_id": anna})
    assert context_block(asked, [subject(anna)], LEFT.input, worker.context, now=NOW).text == ""


def test_another_tenant_and_who_may_not_read_are_told_of_none(worker: Worker, anna: str) -> None:
    worker = library(worker, anna)
    load(worker, LEFT)
    stranger = READER.model_copy(update={"tenant_id": "globex"})
    assert find_examples(stranger, "acme", LEFT.input, worker.context) == []
    with pytest.raises(NotAllowed):
        find_examples(READER.model_copy(update={"capabilities": frozenset()}), "acme", LEFT.input, worker.context)


def test_an_orchestrator_asks_by_a_tool(worker: Worker, anna: str) -> None:
    worker = library(worker, anna)
    context = ToolContext(READER, subject("maya"), worker.context, NOW)
    tool = TOOLS["search_examples"]
    assert call(tool, {"request": LOAN.input}, context).message == "No example is like it: decide by yourself"
    load(worker, LEFT, LOAN)
    found = call(tool, {"request": "I want to borrow money for a car", "limit": 1}, context).model_dump()
    assert [example["actions"] for example in found["examples"]] == [list(LOAN.actions)]


@pytest.mark.parametrize(
    ("lines", "wrong"),
    [
        ('{"input": "a", "actions": ["b"]}\n\n{"input": "c"}', "line 3: actions: Field required"),
        ('{"input": "a", "actions": []}', "line 1: actions"),
        ('{"input": "a", "actions": ["b"], "then": "c"}', "line 1: then"),
        ("none", "line 1: not JSON"),
        ('{"input": "a", "actions": ["b"]}\n{"input": "a", "actions": ["c"]}', 'say "a": leave one out'),
    ],
)
def test_a_file_with_a_line_that_is_no_example_is_refused_whole(tmp_path: Path, lines: str, wrong: str) -> None:
    file = tmp_path / "examples.jsonl"
    file.write_text(lines)
    with pytest.raises(InvalidExamples) as refused:
        read_examples(file)
    assert wrong in str(refused.value)
