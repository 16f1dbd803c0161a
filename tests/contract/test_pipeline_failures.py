"""The pipeline when something fails in the middle of it: nothing is lost, doubled or half done."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import pytest

from recall.retrieve import retrieve
from schema import AdmittedTurn, Context, Extraction, Status, Subject, Turn
from schema.errors import IndexUnavailable
from stores.catalog import Changes, Outcome
from stores.index.base import Index
from stores.mailbox import Batch, key_of
from tests.contract.pipeline import EVERYTHING, Worker, only
from tests.turns import a_turn, subject
from worker import tasks

# -- crashes and lost leases ------------------------------------------------------------------------------------


@dataclass
class FailingOnce:
    """An index whose next call of one kind fails."""

    index: Index
    call: str
    error: Exception
    failed: int = 0

    def __getattr__(self, name: str) -> Any:
        return self._fail if name == self.call and not self.failed else getattr(self.index, name)

    def _fail(self, *_: object) -> None:
        self.failed += 1
        raise self.error


@dataclass
class Extracting:
    """The extractor with something that happens before it answers."""

    worker: Worker
    before: Callable[[Sequence[AdmittedTurn]], None]

    def prepare(self) -> None: ...

    def extract(self, turns: Sequence[AdmittedTurn], context: Context) -> Extraction:
        self.before(turns)
        return self.worker.context.extractor.extract(turns, context)


def failing_index(worker: Worker, call: str) -> tuple[Worker, FailingOnce]:
    index = FailingOnce(worker.context.index, call, IndexUnavailable("the disk is away"))
    return worker.with_parts(index=index), index


def sweep(worker: Worker, monkeypatch: pytest.MonkeyPatch) -> None:
    """The sweep of beat, for everything that was left behind until now."""
    monkeypatch.setattr(tasks, "_context", lambda: worker.context)
    monkeypatch.setattr(tasks, "app", worker.context.celery)
    monkeypatch.setattr(tasks, "settings", worker.context.settings.model_copy(update={"lease_seconds": 0.0}))
    # The claim of the sweep before, as if its time had passed.
    worker.context.redis.delete("afterturn:sweep:claim")
    tasks.sweep()


@pytest.mark.parametrize(
    ("first", "again"),
    [
        pytest.param("I live in Lisbon.", "As I said, my home is in Lisbon.", id="a fact of one value"),
        pytest.param(
            "I went hiking in the Harz with my daughter Lena last Saturday.",
            "Last Saturday I went hiking in the Harz with my daughter Lena.",
            id="an episode",
        ),
    ],
)
def test_a_turn_after_a_crash_between_commit_and_index_makes_no_duplicate(
    worker: Worker, anna: str, first: str, again: str
) -> None:
    whose = subject(anna)
    crashing, index = failing_index(worker, "upsert")
    crashing.hear(anna, first)
    assert (index.failed, len(worker.known(whose)), worker.hits(whose, first)) == (1, 1, [])
    assert len(worker.rows("index_jobs", whose)) == 1
    worker.hear(anna, again, first=1)
    memory = only(worker.known(whose, *EVERYTHING))
    assert memory.source_turn_ids == (f"{anna}-0", f"{anna}-1")
    assert [hit.memory_id for hit in worker.hits(whose, first)] == [memory.id]
    assert [row["version"] for row in worker.rows("index_jobs", whose)] == [memory.version], "a sweep does it once more"


def test_a_change_after_a_crash_between_commit_and_index_still_supersedes(worker: Worker, anna: str) -> None:
    whose = subject(anna)
    failing_index(worker, "upsert")[0].hear(anna, "My budget for the kitchen is 12,000 euros.")
    worker.hear(anna, "My budget for the kitchen is now 15,000 euros.", first=1)
    assert only(worker.known(whose)).supersedes == (only(worker.known(whose, Status.SUPERSEDED)).id,)
    assert worker.indexed(whose) == [Status.ACTIVE, Status.SUPERSEDED]


def test_the_sweep_indexes_and_announces_what_a_crash_left_behind(
    worker: Worker, anna: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    whose = subject(anna)
    failing_index(worker, "upsert")[0].hear(anna, "I live in Lisbon.")
    assert (worker.hits(whose, "Lisbon"), worker.events(whose)) == ([], [])
    worker.lose_index_jobs(whose)
    sweep(worker, monkeypatch)
    assert [hit.memory_id for hit in worker.hits(whose, "Lisbon")] == [only(worker.known(whose)).id]
    assert worker.event_names(whose) == ["memory.created"]
    assert worker.rows("index_jobs", whose) == worker.rows("outbox", whose) == []


def test_the_sweep_removes_the_vector_of_what_was_forgotten_before_a_crash(
    worker: Worker, anna: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    whose = subject(anna)
    worker.hear(anna, "My ex-wife Karin lives in Hamburg.")
    failing_index(worker, "delete")[0].hear(anna, "Please forget what I told you about Karin.", first=1)
    assert worker.known(whose, *EVERYTHING) == []
    assert len(worker.hits(whose, "Karin")) == 1
    assert retrieve(None, [whose], "Karin", worker.context, now=datetime.now(UTC)) == []
    sweep(worker, monkeypatch)
    assert worker.hits(whose, "Karin") == []


def test_a_crash_between_the_catalogs_commit_and_the_mailboxs_changes_nothing_the_second_time(
    worker: Worker, anna: str
) -> None:
    whose = subject(anna)
    dying = worker.with_parts(mailbox=_DyingMailbox(worker))
    said = [
        "I live in Lisbon.",
        "I moved to Berlin.",
        "My password is tulip-Harbor-93.",
        "My ex-wife Karin lives in Rome.",
    ]
    dying.park(*(a_turn(anna, number, text) for number, text in enumerate(said)))
    with pytest.raises(SystemExit):
        dying.work(whose)
    before = worker.state(whose), worker.audited(whose), worker.events(whose), worker.outcomes(whose)
    assert len(before[0]) == 3
    worker.lose_lease(whose)
    worker.work(whose)
    assert (worker.state(whose), worker.audited(whose), worker.events(whose), worker.outcomes(whose)) == before
    assert worker.context.redis.llen(key_of(whose, "order")) == 0
    assert [letter for letter in worker.dead_letters() if letter["turn_id"].startswith(f"{anna}-")] == []


@dataclass
class _DyingMailbox:
    """A mailbox whose worker dies before it can commit."""

    worker: Worker

    def acquire(self, whose: Subject, limit: int, lease_seconds: float) -> Batch | None:
        return self.worker.context.mailbox.acquire(whose, limit, lease_seconds)

    def append(self, turn: Turn, look_after: float) -> Any:
        return self.worker.context.mailbox.append(turn, look_after)

    def commit(self, *_: object) -> None:
        raise SystemExit


def test_a_worker_whose_lease_was_taken_over_writes_nothing(worker: Worker, anna: str) -> None:
    whose = subject(anna)

    def taken_over(turns: Sequence[AdmittedTurn]) -> None:
        worker.lose_lease(whose)
        worker.park(a_turn(anna, 9, "I have a dog called Rex."))
        worker.work(whose)

    late = worker.with_parts(extractor=Extracting(worker, taken_over))
    late.hear(anna, "I live in Lisbon.")
    assert worker.outcomes(whose) == {f"{anna}-0": Outcome.KEPT, f"{anna}-9": Outcome.KEPT}
    assert worker.audited(whose) == ["created", "created"]
    assert {memory.version for memory in worker.state(whose)} == {1}
    assert worker.event_names(whose) == ["memory.created", "memory.created"]


def test_a_worker_that_comes_back_after_another_wrote_leaves_the_turns_to_it(worker: Worker, anna: str) -> None:
    """The late one must not even note turns as processed that the other has not come to yet."""
    whose = subject(anna)

    def taken_over(turns: Sequence[AdmittedTurn]) -> None:
        worker.lose_lease(whose)
        batch = worker.context.mailbox.acquire(whose, 1, 60)
        assert batch is not None
        worker.context.catalog.commit(Changes(subject=whose, at=datetime.now(UTC), fence=batch.lease.token))

    worker.with_parts(extractor=Extracting(worker, taken_over)).hear(anna, "I live in Lisbon.")
    assert worker.state(whose) == []
    assert worker.outcomes(whose) == {}
    assert worker.context.redis.llen(key_of(whose, "order")) == 1
    worker.lose_lease(whose)
    worker.work(whose)
    assert worker.outcomes(whose) == {f"{anna}-0": Outcome.KEPT}


# -- failures ---------------------------------------------------------------------------------------------------


def poisoned_by(worker: Worker, word: str, error: Exception) -> Worker:
    """A worker whose extractor cannot take a batch in which a word is said."""

    def fail(turns: Sequence[AdmittedTurn]) -> None:
        if any(word in one.turn.text_of("user") for one in turns):
            raise error

    return worker.with_parts(extractor=Extracting(worker, fail))


def test_a_turn_that_can_never_be_processed_becomes_a_dead_letter_and_the_others_go_on(
    worker: Worker, anna: str
) -> None:
    whose = subject(anna)
    poisoned = poisoned_by(worker, "poison", ValueError("I love poison"))
    poisoned.hear(anna, "I live in Lisbon.", "I love poison.", "I moved to Berlin.")
    assert worker.outcomes(whose) == {
        f"{anna}-0": Outcome.KEPT,
        f"{anna}-1": Outcome.DEAD,
        f"{anna}-2": Outcome.KEPT,
    }
    letters = [letter for letter in worker.dead_letters() if letter["turn_id"] == f"{anna}-1"]
    assert [Turn.model_validate(letter["turn"]).text_of("user") for letter in letters] == ["I love poison."]
    assert "poison" not in letters[0]["reason"]
    assert "Berlin" in only(worker.known(whose)).summary
    assert len(worker.known(whose, Status.SUPERSEDED)) == 1
    assert worker.context.redis.llen(key_of(whose, "order")) == 0


@pytest.mark.parametrize("error", [TimeoutError(), IndexUnavailable("the disk is away")], ids=["a turn's", "a store's"])
def test_a_failure_that_passes_leaves_every_turn_in_its_place_and_the_subject_backing_off(
    worker: Worker, anna: str, error: Exception
) -> None:
    whose = subject(anna)
    poisoned_by(worker, "Berlin", error).hear(anna, "I live in Lisbon.", "I moved to Berlin.")
    assert (worker.state(whose), worker.outcomes(whose)) == ([], {})
    order = worker.context.redis.lrange(key_of(whose, "order"), 0, -1)
    assert order == [f"{anna}-0".encode(), f"{anna}-1".encode()]
    assert worker.context.redis.pttl(key_of(whose, "retry")) > 0
    worker.work(whose)
    assert worker.outcomes(whose) == {}
    worker.wait_over(whose)
    worker.work(whose)
    assert set(worker.outcomes(whose).values()) == {Outcome.KEPT}
    assert "Berlin" in only(worker.known(whose)).summary
    assert [letter for letter in worker.dead_letters() if letter["turn_id"].startswith(f"{anna}-")] == []


def test_a_search_that_fails_before_the_commit_is_repeated_without_a_trace(worker: Worker, anna: str) -> None:
    whose = subject(anna)
    failing, index = failing_index(worker, "query")
    failing.hear(anna, "I live in Lisbon.")
    assert (index.failed, worker.state(whose), worker.audited(whose)) == (1, [], [])
    worker.wait_over(whose)
    worker.work(whose)
    assert worker.audited(whose) == ["created"]


def test_a_subject_that_backs_off_keeps_nobody_else_waiting(worker: Worker, anna: str) -> None:
    bert = f"bert-{anna}"
    poisoned = poisoned_by(worker, "Lisbon", TimeoutError())
    poisoned.hear(anna, "I live in Lisbon.")
    poisoned.hear(bert, "I live in Berlin.")
    assert (len(worker.known(subject(anna))), len(worker.known(subject(bert)))) == (0, 1)


def test_a_turn_that_workers_keep_dying_over_becomes_a_dead_letter_and_the_next_goes_on(
    worker: Worker, anna: str
) -> None:
    whose = subject(anna)
    worker.park(a_turn(anna, 0, "I live in Lisbon."), a_turn(anna, 1, "I have a dog called Rex."))
    for _ in range(worker.context.settings.max_deliveries):
        assert worker.context.mailbox.acquire(whose, 1, 60) is not None
        worker.lose_lease(whose)
    worker.work(whose)
    assert worker.outcomes(whose) == {f"{anna}-0": Outcome.DEAD, f"{anna}-1": Outcome.KEPT}
    [letter] = [letter for letter in worker.dead_letters() if letter["turn_id"] == f"{anna}-0"]
    assert letter["turn"] == json.loads(Turn.model_validate(a_turn(anna, 0, "I live in Lisbon.")).canonical_json())


def test_an_outage_of_a_store_costs_no_turn_however_long_it_lasts(worker: Worker, anna: str) -> None:
    whose = subject(anna)
    settings = worker.context.settings
    away = poisoned_by(worker, "Lisbon", IndexUnavailable("the disk is away"))
    away.hear(anna, "I live in Lisbon.")
    for _ in range(settings.max_deliveries + settings.max_failures):
        worker.wait_over(whose)
        away.work(whose)
    worker.wait_over(whose)
    worker.work(whose)
    assert worker.outcomes(whose) == {f"{anna}-0": Outcome.KEPT}


def test_more_turns_than_a_batch_holds_are_all_processed_in_order(worker: Worker, anna: str) -> None:
    cities = ["Lisbon", "Berlin", "Paris", "Rome", "Oslo", "Madrid", "Vienna", "Prague", "Athens", "Dublin"]
    worker.hear(anna, *(f"I live in {city}." for city in cities))
    whose = subject(anna)
    assert set(worker.outcomes(whose).values()) == {Outcome.KEPT}
    assert len(worker.known(whose, Status.SUPERSEDED)) == len(cities) - 1
    assert "Dublin" in only(worker.known(whose)).summary


@pytest.mark.parametrize(
    ("written", "said_at"),
    [
        pytest.param(Turn.digest, "2026-11-02T08:00:00+00:00", id="as this revision writes it"),
        pytest.param(Turn.digest, "2026-11-03T08:00:00+00:00", id="with another moment"),
        pytest.param(Turn.dated_digest, "2026-11-02T08:00:00+00:00", id="as an earlier revision wrote it"),
    ],
)
def test_a_turn_of_the_ledger_that_is_delivered_again_long_after_is_no_dead_letter(
    worker: Worker, anna: str, written: Callable[[Turn], str], said_at: str
) -> None:
    whose = subject(anna)
    worker.hear(anna, "I live in Lisbon.")
    worker.note_digest(whose, written(Turn.model_validate(a_turn(anna, 0, "I live in Lisbon."))))
    before = worker.state(whose)
    worker.context.redis.delete(key_of(whose, "done"), key_of(whose, "contents"))
    worker.hear(anna, "I live in Lisbon.", occurred_at=said_at)
    assert [letter for letter in worker.dead_letters() if letter["turn_id"] == f"{anna}-0"] == []
    assert (worker.state(whose), worker.outcomes(whose)) == (before, {f"{anna}-0": Outcome.KEPT})


def test_another_turn_under_an_id_of_the_ledger_is_a_dead_letter_long_after_the_mailbox_forgot_the_first(
    worker: Worker, anna: str
) -> None:
    worker.hear(anna, "I live in Lisbon.")
    worker.context.redis.delete(key_of(subject(anna), "done"))
    worker.hear(anna, "I live in Berlin.", "I have two dogs.")
    [letter] = [letter for letter in worker.dead_letters() if letter["turn_id"] == f"{anna}-0"]
    assert "other content" in letter["reason"]
    summaries = " ".join(memory.summary for memory in worker.known(subject(anna)))
    assert ("Lisbon" in summaries, "Berlin" in summaries, "dogs" in summaries) == (True, False, True)
