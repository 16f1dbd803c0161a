"""What an agent is given before it answers, by rounds of a model that a test scripts."""

from __future__ import annotations

import threading
import zlib
from datetime import UTC, datetime
from typing import Any

import pytest

from recall.iterative import Limits, Outcome, Retrieved, retrieve_in_rounds
from schema import Capability, Message, Principal, Subject
from schema.errors import LLMUnavailable, NotAMember
from schema.settings_agents import AgentSwitches
from tests.contract.pipeline import Worker
from tests.scripted import Scripted, guarded
from tests.turns import subject

TOLD = (
    "I prefer Celsius for temperatures.",
    "I like detailed weather forecasts.",
    "My favourite display settings are dark mode and big letters.",
    "I live in Lisbon.",
    "My sister Ana plays the cello.",
    "I am allergic to peanuts.",
)
WEATHER = Message(role="user", content="What's the weather like today?")


def step(decision: str, *queries: str, selected: tuple[str, ...] = ()) -> dict[str, Any]:
    return {"decision": decision, "queries": list(queries), "selected": list(selected)}


@pytest.fixture
def maya(worker: Worker, request: pytest.FixtureRequest) -> Subject:
    """A user of the test, of whom some things are known."""
    user = f"u{zlib.crc32(request.node.name.encode())}"
    worker.hear(user, *TOLD)
    assert len(worker.known(subject(user))) == len(TOLD)
    return subject(user)


def retrieved(
    worker: Worker, whose: Subject, model: Scripted | None, *messages: Message, limits: Limits | None = None
) -> Retrieved:
    return retrieve_in_rounds(
        None,
        [whose],
        messages or (WEATHER,),
        worker.context,
        llm=guarded(model) if model else None,
        limits=limits or Limits(seconds=60),
        now=datetime.now(UTC),
    )


def test_a_model_searches_twice_and_gives_what_it_selects(worker: Worker, maya: Subject) -> None:
    model = Scripted(
        step("GET_MEMORIES", "temperature preferences", "weather forecasts"),
        step("GET_MEMORIES", "celsius or fahrenheit"),
        lambda prompt: step("GIVE_MEMORIES", selected=tuple(_labels(prompt, "Celsius", "forecasts"))),
    )
    found = retrieved(worker, maya, model)
    assert (found.outcome, found.rounds) == (Outcome.GIVEN, 3)
    assert ["Celsius" in hit.memory.summary for hit in found.hits] == [True, False]
    assert "forecasts" in found.hits[1].memory.summary


def test_the_model_sees_labels_and_masked_words_and_never_an_id(worker: Worker, maya: Subject) -> None:
    model = Scripted(step("GET_MEMORIES", "allergies"), step("IGNORE"))
    retrieved(worker, maya, model, Message(role="user", content="Book it on 4111 1111 1111 1111, please. Any peanuts?"))
    assert "4111" not in "".join(model.prompts)
    assert "M1 (" in model.prompts[1]
    assert not any(str(memory.id) in model.prompts[1] for memory in worker.known(maya))


def test_what_need_not_be_known_gives_nothing_and_counts_as_no_use(worker: Worker, maya: Subject) -> None:
    found = retrieved(worker, maya, Scripted(step("GET_MEMORIES", "allergies"), step("IGNORE")))
    assert (found.outcome, found.hits) == (Outcome.IGNORED, ())
    worker.context.accesses.close()
    assert worker.rows("accesses", maya) == []


def test_only_what_is_given_counts_as_used(worker: Worker, maya: Subject) -> None:
    model = Scripted(
        step("GET_MEMORIES", "allergic to peanuts", "Lisbon"),
        lambda prompt: step("GIVE_MEMORIES", selected=(*_labels(prompt, "peanuts"), "M99")),
    )
    [hit] = retrieved(worker, maya, model).hits
    worker.context.accesses.close()
    assert [row["memory_id"] for row in worker.rows("accesses", maya)] == [hit.memory.id]
    assert [row["way"] for row in worker.rows("uses", maya)] == ["rounds"]


def test_a_model_that_never_stops_searching_is_cut_off_with_the_best_found(worker: Worker, maya: Subject) -> None:
    queries = iter(("temperature", "forecasts", "Lisbon", "cello"))
    found = retrieved(worker, maya, Scripted(lambda _prompt: step("GET_MEMORIES", next(queries))))
    assert (found.outcome, found.rounds) == (Outcome.CUT, 3)
    assert found.hits


def test_a_repeated_search_ends_it(worker: Worker, maya: Subject) -> None:
    found = retrieved(worker, maya, Scripted(step("GET_MEMORIES", "temperature preferences")))
    assert (found.outcome, found.rounds) == (Outcome.CUT, 2)
    assert found.hits


@pytest.mark.parametrize("answer", [LLMUnavailable("away"), "no JSON at all"])
def test_without_a_useful_answer_one_search_by_the_users_words_is_given(
    worker: Worker, maya: Subject, answer: Any
) -> None:
    found = retrieved(worker, maya, Scripted(answer), Message(role="user", content="What am I allergic to?"))
    assert found.outcome is Outcome.FALLBACK
    assert "peanuts" in found.hits[0].memory.summary


def test_an_agent_does_not_wait_for_a_model_that_is_late(worker: Worker, maya: Subject) -> None:
    late = threading.Event()
    found = retrieved(
        worker,
        maya,
        Scripted(lambda _prompt: late.wait(60) and step("IGNORE")),
        Message(role="user", content="What am I allergic to?"),
        limits=Limits(seconds=0.05),
    )
    late.set()
    assert found.outcome is Outcome.CUT
    assert "peanuts" in found.hits[0].memory.summary


def test_a_model_that_hangs_takes_no_more_than_so_many_threads(worker: Worker, maya: Subject) -> None:
    over = threading.Event()

    def hangs(_prompt: str) -> Any:
        over.wait(20)
        return step("IGNORE")

    model, limits = Scripted(hangs), Limits(seconds=0.02)
    try:
        for _ in range(24):
            assert retrieved(worker, maya, model, limits=limits).outcome is Outcome.CUT
        assert sum(one.name.startswith("retriever") for one in threading.enumerate()) <= 16
    finally:
        over.set()


def test_no_model_is_asked_for_whoever_may_see_nothing(worker: Worker, maya: Subject) -> None:
    model = Scripted(step("IGNORE"))
    stranger = Principal(
        tenant_id=maya.tenant_id, user_id="stranger", capabilities=frozenset({Capability.READ}), key_id="k"
    )
    with pytest.raises(NotAMember):
        retrieve_in_rounds(
            stranger,
            [maya],
            [WEATHER],
            worker.context,
            llm=guarded(model),
            limits=Limits(seconds=60),
            now=datetime.now(UTC),
        )
    assert model.prompts == []


def test_without_a_model_it_is_one_search(worker: Worker, maya: Subject) -> None:
    found = retrieved(worker, maya, None, Message(role="user", content="Where do I live?"))
    assert (found.outcome, found.rounds) == (Outcome.SINGLE, 0)
    assert "Lisbon" in found.hits[0].memory.summary


def test_what_is_said_to_an_agent_that_does_not_remember_is_skipped_but_for_orders(worker: Worker) -> None:
    agents = {"weather": AgentSwitches(creator=False)}
    quiet = worker.with_parts(settings=worker.context.settings.model_copy(update={"agents": agents}))
    said = ("I moved to Porto last week.", "Remember that my flight leaves on Friday.")
    quiet.hear("ines", *said, agent_id="weather")
    quiet.hear("ines", "I work as a nurse.", first=5, agent_id="travel")
    kept = [memory.summary for memory in quiet.known(subject("ines"))]
    assert [("flight" in " ".join(kept)), ("nurse" in " ".join(kept)), ("Porto" in " ".join(kept))] == [
        True,
        True,
        False,
    ]
    assert sorted(worker.outcomes(subject("ines")).values()) == ["kept", "kept", "skipped"]


def _labels(prompt: str, *words: str) -> list[str]:
    """The labels of the memories in a prompt that have these words, in their order."""
    found = prompt.split("Memories found so far:")[1].splitlines()
    return [next(line.split(" ")[0] for line in found if word in line) for word in words]
