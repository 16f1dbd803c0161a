"""Consolidation on a real catalog and index, and what becomes of it when a part is forgotten."""

from __future__ import annotations

import json
import uuid
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from pydantic import BaseModel

from policies.consolidation import consolidated
from schema import Fact, Memory, MemoryType, Preference, PreferenceName, Status, Subject
from schema.errors import LLMAnswerInvalid, LLMUnavailable
from stores.catalog import Changes
from stores.llm import Completion
from tests.contract.catalogs import a_memory
from tests.contract.pipeline import Worker, on_every_store_at_length, only
from tests.erasing import erase_memory
from tests.turns import subject
from worker.nights.base import Plan, preview
from worker.nights.consolidate import AT_ONCE, CONSOLIDATE
from worker.nights.forget import FORGET
from worker.nights.subject_run import run_for_subject
from worker.nights.throttle import Pace
from worker.nights.unconsolidate import NothingToUndo, unconsolidate

SAID = (
    "I went hiking in the hills with my sister yesterday",
    "I lost my hiking boots on the coast yesterday",
)
pytest_generate_tests = on_every_store_at_length
NOW = datetime.now(UTC) + timedelta(days=4)


def night(worker: Worker, whose: Subject, now: datetime = NOW) -> Plan | None:
    return run_for_subject(whose, CONSOLIDATE, worker.context, worker.leases, now)


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


def test_a_night_lets_turns_go_first_wherever_it_compares_tells_or_writes(
    worker: Worker, anna: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two memories are compared, told as one and written: before each of the three it rests, and holds no lease."""
    worker.hear(anna, *SAID)
    whose, free = subject(anna), list[bool]()

    def rest(_: Pace) -> None:
        lease = worker.context.mailbox.acquire_lease(whose, 10)
        free.append(lease is not None)
        if lease:
            worker.context.mailbox.release_lease(lease)

    monkeypatch.setattr(Pace, "rest", rest)
    assert night(worker, whose) is not None
    assert free == [True] * 3


def test_while_consent_is_withdrawn_nothing_is_told_anew(worker: Worker, anna: str) -> None:
    worker.hear(anna, *SAID)
    whose = subject(anna)
    withdrawn = Preference(name=PreferenceName.CONSENT, value="withdrawn")
    worker.context.catalog.commit(Changes(subject=whose, at=NOW, preferred=(withdrawn,)))
    assert night(worker, whose) is None
    assert run_for_subject(whose, AT_ONCE, worker.context, worker.leases, NOW) is None


def test_taking_it_apart_brings_them_back_for_good(worker: Worker, hiked: tuple[Subject, Memory, list[Memory]]) -> None:
    whose, whole, before = hiked
    unconsolidate(whose, whole.id, worker.context, by="dora", now=NOW)
    assert {memory.summary for memory in worker.known(whose)} == {memory.summary for memory in before}
    assert worker.indexed(whose) == [Status.ACTIVE, Status.ACTIVE]
    assert night(worker, whose) is None
    assert "restored" in worker.audited(whose)
    with pytest.raises(NothingToUndo):
        unconsolidate(whose, before[0].id, worker.context, by="dora", now=NOW)


def test_erasing_one_of_two_brings_the_other_back_and_leaves_nothing_of_it(
    worker: Worker, hiked: tuple[Subject, Memory, list[Memory]]
) -> None:
    whose, _, [gone, left] = hiked
    assert erase_memory(whose, gone.id, worker.context, by="dora", now=NOW).is_clean
    assert only(worker.known(whose)).id == left.id
    assert gone.summary not in worker.everywhere(whose)
    assert worker.indexed(whose) == [Status.ACTIVE]


def test_of_three_the_two_that_are_left_are_told_anew_and_nothing_tells_of_the_third(worker: Worker, anna: str) -> None:
    worker.hear(anna, *SAID, "I bought new hiking poles in the hills yesterday")
    whose = subject(anna)
    lost = next(memory for memory in worker.known(whose) if "lost" in memory.summary)
    generous = worker.context.policy.model_copy(update={"consolidate_similarity": 0.2})
    night(worker.with_parts(policy=generous), whose)
    whole = only(worker.known(whose))
    assert "lost" in whole.summary
    assert "lost" in str(worker.events(whose))
    assert erase_memory(whose, lost.id, worker.context, by="dora", now=NOW).is_clean
    anew = only(worker.known(whose))
    assert (anew.id, len(anew.consolidated_from)) == (whole.id, 2)
    assert "lost" not in worker.everywhere(whose) + str(worker.events(whose))
    assert [json.loads(event["payload"]).get("anew") for event in worker.events(whose)[-2:]] == [None, True]


def test_a_spoken_wish_to_forget_reaches_what_is_told_in_a_consolidated_memory(
    worker: Worker, hiked: tuple[Subject, Memory, list[Memory]]
) -> None:
    whose, whole, _ = hiked
    worker.hear(whose.subject_id, "Forget about my hiking boots on the coast", first=5)
    assert "coast" not in worker.everywhere(whose) + str(worker.events(whose))
    assert only(worker.known(whose)).id != whole.id


def test_what_changes_of_a_consolidated_memory_does_not_take_the_rest_of_it_along(worker: Worker, anna: str) -> None:
    whose = subject(anna)
    lives = Fact(entity="user", verb="lives in", object="Lisbon", attribute="home_city")
    said = {"Anna moved to a flat in Lisbon.": (lives,), "Anna painted a boat.": ()}
    moments = {"created_at": NOW, "updated_at": NOW, "type": MemoryType.EPISODIC}
    group = [
        a_memory(f"t{number}", whose).model_copy(update={**moments, "summary": summary, "facts": facts})
        for number, (summary, facts) in enumerate(said.items())
    ]
    whole = consolidated(group, " ".join(said), NOW, worker.context.policy, embedding_model=group[0].embedding_model)
    archived = {"status": Status.ARCHIVED, "consolidated_into": whole.id}
    context = tuple(memory.model_copy(update=archived) for memory in group)
    worker.context.catalog.commit(Changes(subject=whose, at=NOW, created=(whole, *context)))
    worker.hear(anna, "I live in Porto", occurred_at=NOW.isoformat())
    home = f"{anna.title()} lives in Porto."
    assert {memory.summary for memory in worker.known(whose)} == {"Anna painted a boat.", home}
    old = only(worker.known(whose, Status.SUPERSEDED))
    assert old.summary == "Anna moved to a flat in Lisbon."
    assert next(memory for memory in worker.known(whose) if memory.summary == home).supersedes == (old.id,)
    assert worker.indexed(whose) == [Status.ACTIVE, Status.ACTIVE, Status.SUPERSEDED]


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
        ("{name} went hiking in the hills with their sister and lost their hiking boots on the coast {days}.", True),
        ("{name} went hiking in the hills with their sister and lost their hiking boots on the coast.", False),
        ("{name} went hiking with their sister for 12 days.", False),
        ("{name} went hiking with Roberto and lost their boots on the coast.", False),
        ("{name} went hiking in the hills. It was fun. They lost their boots. That was on the coast.", False),
        (None, False),
    ],
)
def test_a_models_words_are_taken_only_if_they_say_what_was_said_and_no_more(
    worker: Worker, anna: str, answer: str | None, taken: bool
) -> None:
    worker.hear(anna, *SAID)
    told = {memory.occurred_at.date() for memory in worker.known(subject(anna))}
    days = " and ".join(f"on {day.day} {day:%B %Y}" for day in sorted(told))
    said = answer.format(name=anna.title(), days=days) if answer else None
    night(worker.with_parts(llm=Model(said)), subject(anna))
    whole = only(worker.known(subject(anna)))
    assert (whole.summary == said) == taken
    assert len(whole.consolidated_from) == 2


def test_where_the_rules_are_to_answer_for_a_model_that_is_away_they_condense_too(worker: Worker, anna: str) -> None:
    worker.hear(anna, *SAID)

    class Away(Model):
        def complete(self, prompt: str, response_model: type[BaseModel]) -> Completion[Any]:
            raise LLMUnavailable("no route")

    with_model = worker.with_parts(llm=Away(None))
    with pytest.raises(LLMUnavailable):
        night(with_model, subject(anna))
    settings = worker.context.settings.model_copy(update={"llm_fallback": "rules"})
    night(with_model.with_parts(settings=settings), subject(anna))
    assert len(only(worker.known(subject(anna))).consolidated_from) == 2


class SlowClock:
    """In the place of the module `time`: a day has passed at each look at it."""

    def __init__(self) -> None:
        self.now = 0.0

    def monotonic(self) -> float:
        self.now += 86_400
        return self.now


def test_a_model_that_is_slow_is_asked_no_longer_than_a_hand_may_be_silent_and_the_rest_is_done_later(
    worker: Worker, anna: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    worker.hear(anna, *SAID, "I painted the kitchen blue yesterday", "I painted the kitchen door green yesterday")
    monkeypatch.setattr("worker.nights.consolidate.time", SlowClock())
    nights = [night(worker, subject(anna)) for _ in range(3)]
    assert [plan and plan.counts().get("consolidate") for plan in nights] == [1, 1, None]


def test_what_was_told_as_one_before_does_not_keep_a_night_from_what_is_older(worker: Worker, anna: str) -> None:
    worker.hear(anna, "I painted the kitchen blue yesterday", "I painted the kitchen door green yesterday")
    worker.hear(anna, *SAID, first=5)
    few = worker.context.settings.model_copy(update={"night_memories": 2})
    nights = [night(worker.with_parts(settings=few), subject(anna)) for _ in range(3)]
    assert [plan and plan.counts().get("consolidate") for plan in nights] == [1, 1, None]


def test_a_look_at_what_a_night_would_do_asks_no_model_and_changes_nothing(worker: Worker, anna: str) -> None:
    worker.hear(anna, *SAID)
    whose, before = subject(anna), worker.state(subject(anna))

    class Dear(Model):
        def complete(self, prompt: str, response_model: type[BaseModel]) -> Completion[Any]:
            pytest.fail("a preview costs nothing")

    steps = preview(CONSOLIDATE, whose, worker.with_parts(llm=Dear(None), judge=Dear(None)).context, NOW)
    assert [step.action for step in steps] == ["consolidate", "join", "join"]
    assert worker.state(whose) == before


def hold(worker: Worker, id_: uuid.UUID, whose: Subject, *, held: bool) -> None:
    [memory] = worker.context.catalog.memories(whose, [id_]).values()
    changed = memory.model_copy(update={"legal_hold": held, "version": memory.version + 1})
    worker.context.catalog.commit(Changes(subject=whose, at=NOW, updated=(changed,)))


def test_originals_are_kept_for_as_long_as_what_they_became_and_go_with_it(
    worker: Worker, hiked: tuple[Subject, Memory, list[Memory]]
) -> None:
    whose, whole, before = hiked
    part = worker.known(whose, Status.ARCHIVED)[0]
    assert run_for_subject(whose, FORGET, worker.context, worker.leases, NOW + timedelta(days=20)) is None
    far = NOW + timedelta(days=900)
    archived = run_for_subject(whose, FORGET, worker.context, worker.leases, far)
    assert archived is not None
    assert [(step.action, step.memory_id) for step in archived.steps] == [("archive", whole.id)]
    hold(worker, part.id, whose, held=True)
    assert run_for_subject(whose, FORGET, worker.context, worker.leases, far + timedelta(days=200)) is None, (
        "one is to stay"
    )
    hold(worker, part.id, whose, held=False)
    gone = run_for_subject(whose, FORGET, worker.context, worker.leases, far + timedelta(days=200))
    assert gone is not None
    assert {step.memory_id for step in gone.steps} == {whole.id, *(memory.id for memory in before)}
    assert worker.state(whose) == []
