"""Consolidation on a real catalog and index, and what becomes of it when a part is forgotten."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from pydantic import BaseModel

from memory.llm import Completion, LLMAnswerInvalid
from memory.schema import Memory, MemoryType, Status, Subject
from tests.contract.pipeline import Worker, on_every_store, only
from tests.turns import subject
from worker.erasing import erase_memory
from worker.nights.base import Plan
from worker.nights.consolidate import CONSOLIDATE
from worker.nights.forget import FORGET
from worker.nights.undo import NothingToUndo, take_apart
from worker.nights.visit import visit

SAID = (
    "I went hiking in the hills with my sister yesterday",
    "I lost my hiking boots on the coast yesterday",
)
pytest_generate_tests = on_every_store
NOW = datetime.now(UTC) + timedelta(days=4)


def night(worker: Worker, whose: Subject, now: datetime = NOW) -> Plan | None:
    return visit(whose, CONSOLIDATE, worker.parts, worker.leases, now)


@pytest.fixture
def hiked(worker: Worker, anna: str) -> tuple[Subject, Memory, list[Memory]]:
    """A subject of whom two episodes became one memory, that memory, and the two."""
    worker.hear(anna, *SAID)
    whose = subject(anna)
    before = worker.known(whose)
    assert [memory.type for memory in before] == [MemoryType.EPISODIC] * 2
    plan = night(worker, whose)
    assert plan is not None
    assert plan.counts() == {"consolidate": 1, "join": 2}
    return whose, only(worker.known(whose)), before


def test_episodes_that_belong_together_become_one_memory_and_are_kept(
    worker: Worker, hiked: tuple[Subject, Memory, list[Memory]]
) -> None:
    whose, whole, before = hiked
    assert set(whole.consolidated_from) == {memory.id for memory in before}
    assert all(memory.summary.rstrip(".") in whole.summary for memory in before)
    assert {memory.consolidated_into for memory in worker.known(whose, Status.ARCHIVED)} == {whole.id}
    assert worker.hits(whose, "hiking")[0].memory_id is not None
    assert worker.indexed(whose) == [Status.ACTIVE, Status.ARCHIVED, Status.ARCHIVED]
    assert len(worker.rows("sources", whose)) == 2
    assert night(worker, whose) is None, "a second night finds nothing to do"


def test_taking_it_apart_brings_them_back_for_good(worker: Worker, hiked: tuple[Subject, Memory, list[Memory]]) -> None:
    whose, whole, before = hiked
    take_apart(whose, whole.id, worker.parts, by="dora", now=NOW)
    assert {memory.summary for memory in worker.known(whose)} == {memory.summary for memory in before}
    assert worker.indexed(whose) == [Status.ACTIVE, Status.ACTIVE]
    assert night(worker, whose) is None
    assert "restored" in worker.audited(whose)
    with pytest.raises(NothingToUndo):
        take_apart(whose, before[0].id, worker.parts, by="dora", now=NOW)


def test_erasing_one_of_two_brings_the_other_back_and_leaves_nothing_of_it(
    worker: Worker, hiked: tuple[Subject, Memory, list[Memory]]
) -> None:
    whose, _, [gone, left] = hiked
    assert erase_memory(whose, gone.id, worker.parts, by="dora", now=NOW).is_clean
    assert only(worker.known(whose)).id == left.id
    assert gone.summary not in worker.everywhere(whose)
    assert worker.indexed(whose) == [Status.ACTIVE]


def test_a_spoken_wish_to_forget_reaches_what_is_told_in_a_consolidated_memory(
    worker: Worker, hiked: tuple[Subject, Memory, list[Memory]]
) -> None:
    whose, whole, _ = hiked
    worker.hear(whose.subject_id, "Forget about my hiking boots on the coast", first=5)
    assert "coast" not in worker.everywhere(whose)
    assert only(worker.known(whose)).id != whole.id


class Model:
    """A language model that answers what a test says."""

    name = "stub"

    def __init__(self, summary: str | None) -> None:
        self.summary = summary

    def complete(self, prompt: str, response_model: type[BaseModel]) -> Completion[Any]:
        assert "hiking" in prompt
        if self.summary is None:
            raise LLMAnswerInvalid("no JSON")
        return Completion(response_model(summary=self.summary), 1, 1)


@pytest.mark.parametrize(
    ("answer", "taken"),
    [
        ("{name} went hiking in the hills with their sister and lost their hiking boots on the coast.", True),
        ("{name} went hiking with their sister for 12 days.", False),
        ("{name} went hiking with Roberto.", False),
        (None, False),
    ],
)
def test_a_models_words_are_taken_only_if_they_add_nothing(
    worker: Worker, anna: str, answer: str | None, taken: bool
) -> None:
    worker.hear(anna, *SAID)
    said = answer.format(name=anna.title()) if answer else None
    night(worker.with_parts(llm=Model(said)), subject(anna))
    whole = only(worker.known(subject(anna)))
    assert (whole.summary == said) == taken
    assert len(whole.consolidated_from) == 2


def test_originals_are_kept_for_as_long_as_what_they_became_and_go_with_it(
    worker: Worker, hiked: tuple[Subject, Memory, list[Memory]]
) -> None:
    whose, whole, before = hiked
    assert visit(whose, FORGET, worker.parts, worker.leases, NOW + timedelta(days=20)) is None
    far = NOW + timedelta(days=900)
    archived = visit(whose, FORGET, worker.parts, worker.leases, far)
    assert archived is not None
    assert [(step.action, step.memory_id) for step in archived.steps] == [("archive", whole.id)]
    gone = visit(whose, FORGET, worker.parts, worker.leases, far + timedelta(days=200))
    assert gone is not None
    assert {step.memory_id for step in gone.steps} == {whole.id, *(memory.id for memory in before)}
    assert worker.state(whose) == []
