"""Dedup's check range with a language model: one more call a batch at most, and its verdict is what is done."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest

from memory.draft import Draft
from memory.publish import publish
from memory.resolve import resolve
from memory.same_fact import PROMPT, Judge
from memory.scoring import Origin, Scored
from schema import AdmittedTurn, Candidate, Context, Extraction, Fact, Kind, MemoryType, Status, Turn
from schema.candidate import Certainty, Change
from schema.errors import LLMUnavailable
from stores.catalog import Changes
from stores.index import Entry, Hit
from tests.contract.catalogs import NOW, a_memory
from tests.contract.pipeline import EVERYTHING, Worker, only
from tests.scripted import Scripted, guarded
from tests.turns import subject

SAID = ("I enjoy long walks by the sea.", "I like strolling along the coast.")
TOLD = {SAID[0]: "The user enjoys long walks by the sea.", SAID[1]: "The user likes strolling along the coast."}


class Teller:
    """An extractor that says of what is said above what stands beside it, and how certain that is."""

    def __init__(self, certainty: Certainty = Certainty.FACT) -> None:
        self._certainty = certainty

    def prepare(self) -> None:
        """There is nothing to load."""

    def extract(self, turns: Sequence[AdmittedTurn], context: Context) -> Extraction:
        del context
        return Extraction(items=tuple(_candidate(one.turn, self._certainty) for one in turns), model="teller")


def _candidate(turn: Turn, certainty: Certainty) -> Candidate:
    return Candidate(
        turn_id=turn.turn_id,
        ordinal=0,
        type=MemoryType.SEMANTIC,
        kind=Kind.USER_PREFERENCE,
        category="Personal",
        summary=TOLD[turn.text_of("user")],
        confidence=0.9,
        certainty=certainty,
        occurred_at=turn.occurred_at,
        said_at=turn.occurred_at,
    )


def verdicts(**said: str) -> dict[str, Any]:
    return {"verdicts": [{"pair": pair.upper(), "verdict": verdict} for pair, verdict in said.items()]}


def judged(
    worker: Worker, *answers: Any, waits: bool = True, certainty: Certainty = Certainty.FACT
) -> tuple[Worker, Scripted]:
    """The worker with a judge whose model answers so, and an extractor that says what is said above."""
    provider = Scripted(*answers)
    return worker.with_parts(extractor=Teller(certainty), judge=Judge(guarded(provider), waits=waits)), provider


def test_without_a_model_what_words_cannot_settle_becomes_a_memory_of_its_own(worker: Worker, anna: str) -> None:
    asked, _ = judged(worker, verdicts())
    asked.with_parts(judge=None).hear(anna, *SAID)
    assert len(worker.known(subject(anna))) == 2


@pytest.mark.parametrize("together", [False, True], ids=["one after the other", "in one batch"])
@pytest.mark.parametrize(
    ("verdict", "statuses"),
    [
        ("same", [Status.ACTIVE]),
        ("changed", [Status.ACTIVE, Status.SUPERSEDED]),
        ("different", [Status.ACTIVE, Status.ACTIVE]),
        ("no idea", [Status.ACTIVE, Status.ACTIVE]),
    ],
)
def test_the_models_verdict_is_what_is_done(
    worker: Worker, anna: str, verdict: str, statuses: list[Status], together: bool
) -> None:
    asked, provider = judged(worker, verdicts(p1=verdict))
    whose = subject(anna)
    if together:
        asked.hear(anna, *SAID)
    else:
        asked.hear(anna, SAID[0])
        assert provider.prompts == []
        asked.hear(anna, SAID[1], first=1)
    assert len(provider.prompts) == 1
    assert sorted(memory.status for memory in worker.known(whose, *EVERYTHING)) == statuses
    if verdict == "same":
        assert only(worker.known(whose)).source_turn_ids == (f"{anna}-0", f"{anna}-1")
        [entry] = [entry for entry in worker.rows("audit", whose) if entry["action"] == "updated"]
        assert entry["details"]["check_prompt_version"] == PROMPT


def test_what_was_said_earlier_does_not_replace_what_was_said_later(worker: Worker, anna: str) -> None:
    asked, _ = judged(worker, verdicts(p1="changed"))
    asked.hear(anna, SAID[0], first=10)
    asked.hear(anna, SAID[1], first=0)
    assert only(worker.known(subject(anna), *EVERYTHING)).summary == TOLD[SAID[0]]


def test_what_nobody_says_is_so_supersedes_nothing_whatever_the_model_says(worker: Worker, anna: str) -> None:
    asked, _ = judged(worker, verdicts(p1="changed"), certainty=Certainty.SUPPOSITION)
    asked.hear(anna, *SAID)
    assert {memory.status for memory in worker.known(subject(anna), *EVERYTHING)} == {Status.ACTIVE}


@pytest.mark.parametrize("nonsense", ["no JSON", "{}", '{"verdicts": "same"}'])
def test_a_model_that_only_answers_nonsense_costs_a_duplicate_and_no_fact(
    worker: Worker, anna: str, nonsense: str
) -> None:
    asked, provider = judged(worker, nonsense)
    asked.hear(anna, *SAID)
    assert len(provider.prompts) == 2
    assert len(worker.known(subject(anna))) == 2


def test_a_model_that_is_away_is_waited_for_and_the_effect_happens_once(worker: Worker, anna: str) -> None:
    asked, _ = judged(worker, LLMUnavailable("throttled"), verdicts(p1="same"))
    whose = subject(anna)
    asked.hear(anna, *SAID)
    assert worker.outcomes(whose) == {}
    worker.wait_over(whose)
    asked.work(whose)
    assert only(worker.known(whose, *EVERYTHING)).source_turn_ids == (f"{anna}-0", f"{anna}-1")


def test_a_model_that_is_away_is_not_waited_for_where_the_settings_say_so(worker: Worker, anna: str) -> None:
    asked, _ = judged(worker, LLMUnavailable("throttled"), waits=False)
    asked.hear(anna, *SAID)
    assert len(worker.known(subject(anna))) == 2


class FindsNothing:
    """An index that finds nothing near."""

    def query(self, *_: Any) -> list[Hit]:
        return []

    def fetch(self, *_: Any) -> list[Entry]:
        return []


def test_what_only_a_shared_attribute_brings_up_is_asked_about_too(worker: Worker, anna: str) -> None:
    asked, provider = judged(worker, verdicts(p1="same"))
    whose, context = subject(anna), asked.with_parts(index=FindsNothing()).context

    def home(city: str) -> tuple[Fact, ...]:
        return (Fact(entity="user", verb="lives in", object=city, attribute="home_city"),)

    owns = {"summary": "The user owns a flat in Lisbon.", "facts": home("Lisbon")}
    known = a_memory("t0", whose).model_copy(update=owns)
    publish(Changes(subject=whose, at=NOW, created=(known,)), {}, worker.context)
    moved = Candidate(
        turn_id="t1",
        ordinal=0,
        type=known.type,
        kind=known.kind,
        category=known.category,
        summary="The user has a flat in Porto now.",
        facts=home("Porto"),
        certainty=Certainty.PAST,
        change=Change.REPLACES,
        confidence=0.9,
        occurred_at=NOW + timedelta(days=1),
        said_at=NOW + timedelta(days=1),
    )
    [vector] = context.embedder.embed([moved.summary])
    draft = Draft(whose, NOW + timedelta(days=1), context.policy.version, by="worker")
    origins = {"t1": Origin("c", None, anna)}
    [resolution] = resolve([Scored(moved, 0.5)], [vector], origins, draft, context)
    assert len(provider.prompts) == 1
    assert resolution.memory_id == known.id
