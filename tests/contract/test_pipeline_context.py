"""What a conversation carries from batch to batch: the last question, the user's name, and no longer than it may."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from schema import OpenTopic, Question, Subject
from stores.catalog import Changes, Outcome
from tests.contract.pipeline import Worker, only
from tests.turns import a_turn, subject
from worker.nights.cleanup import clean_up


def exchange(user: str, number: int, *said: tuple[str, str], name: str | None = None, **fields: Any) -> dict[str, Any]:
    messages = [
        {"role": role, "content": content} | ({"name": name} if name and role == "user" else {})
        for role, content in said
    ]
    return a_turn(user, number, "") | {"messages": messages} | fields


def tell(worker: Worker, turn: dict[str, Any]) -> None:
    worker.park(turn)
    worker.work(Subject(tenant_id=turn["tenant_id"], subject_id=turn["user_id"]))


def summaries(worker: Worker, user: str) -> list[str]:
    return [memory.summary for memory in worker.known(subject(user))]


@pytest.mark.parametrize(
    ("question", "answer", "word"),
    [
        pytest.param("Do you have any pets?", "Yes, two cats.", "cats", id="yes and more"),
        pytest.param("Do you drink alcohol?", "No.", "alcohol", id="a bare no"),
        pytest.param("Where do you live now?", "Lisbon.", "Lisbon", id="a place"),
    ],
)
def test_a_question_is_answered_in_a_later_batch(
    worker: Worker, anna: str, question: str, answer: str, word: str
) -> None:
    tell(worker, exchange(anna, 0, ("user", "Hello there!"), ("assistant", f"Good morning! {question}")))
    assert worker.outcomes(subject(anna)) == {f"{anna}-0": Outcome.SKIPPED}
    tell(worker, exchange(anna, 1, ("user", answer), ("assistant", "Nice.")))
    memory = only(worker.known(subject(anna)))
    assert word in memory.summary
    assert memory.source_turn_ids == (f"{anna}-0", f"{anna}-1")
    assert worker.rows("questions", subject(anna)) == []


def history(*said: tuple[str, str]) -> dict[str, Any]:
    return {"schema_version": 2, "history": [{"role": role, "content": content} for role, content in said]}


def test_a_question_in_a_turns_history_is_answered_and_nothing_of_the_history_is_kept(
    worker: Worker, anna: str
) -> None:
    before = history(("user", "I live in Lisbon."), ("assistant", "How nice! Do you have any pets?"))
    tell(worker, exchange(anna, 0, ("user", "Yes, two cats."), ("assistant", "Nice."), **before))
    memory = only(worker.known(subject(anna)))
    assert "cats" in memory.summary
    assert memory.source_turn_ids == (f"{anna}-0",)
    assert "Lisbon" not in worker.everywhere(subject(anna))


def test_a_history_stands_for_what_earlier_turns_left(worker: Worker, anna: str) -> None:
    tell(worker, exchange(anna, 0, ("user", "Hello!"), ("assistant", "Do you drink alcohol?")))
    since = history(("assistant", "Do you drink alcohol?"), ("user", "Later."), ("assistant", "All right."))
    tell(worker, exchange(anna, 1, ("user", "No."), ("assistant", "Fine."), **since))
    assert summaries(worker, anna) == []


def test_a_secret_that_a_history_asks_for_is_kept_nowhere(worker: Worker, anna: str) -> None:
    asked = history(("assistant", "What is your password?"))
    tell(worker, exchange(anna, 0, ("user", "tulip-Harbor-93. And I live in Lisbon."), **asked))
    assert "tulip-Harbor" not in worker.everywhere(subject(anna))


def test_what_an_application_notes_is_kept_with_the_turn_and_masked_as_it_is(worker: Worker, anna: str) -> None:
    noted = {"plan": "free", "turns": 3, "card": 4111111111111111, "said": "my password is tulip-Harbor-93"}
    tell(worker, exchange(anna, 0, ("user", "I live in Lisbon."), schema_version=2, metadata=noted))
    [turn] = worker.context.catalog.sources(subject(anna), [f"{anna}-0"])
    assert (turn.metadata["plan"], turn.metadata["turns"]) == ("free", 3)
    kept = worker.everywhere(subject(anna))
    assert not any(secret in kept for secret in ("4111111111111111", "tulip-Harbor"))


def test_a_question_of_another_conversation_is_not_answered(worker: Worker, anna: str) -> None:
    tell(worker, exchange(anna, 0, ("user", "Hello!"), ("assistant", "Do you drink alcohol?")))
    tell(worker, exchange(anna, 1, ("user", "No."), ("assistant", "Fine."), conversation_id="another"))
    assert summaries(worker, anna) == []
    [row] = worker.rows("questions", subject(anna))
    assert row["question"] == "Do you drink alcohol?"


def test_a_question_is_answered_by_the_next_words_only(worker: Worker, anna: str) -> None:
    tell(worker, exchange(anna, 0, ("user", "Hello!"), ("assistant", "Do you drink alcohol?")))
    tell(worker, exchange(anna, 1, ("user", "What is the capital of Peru?"), ("assistant", "It is Lima.")))
    tell(worker, exchange(anna, 2, ("user", "No."), ("assistant", "As you like.")))
    assert summaries(worker, anna) == []


def test_a_question_is_stale_after_its_hours(worker: Worker, anna: str) -> None:
    tell(worker, exchange(anna, 0, ("user", "Hello!"), ("assistant", "Do you drink alcohol?")))
    hours = timedelta(hours=worker.context.policy.question_hours)
    late = datetime.now(UTC) + hours
    whose = subject(anna)
    fresh = worker.context.catalog.context(whose, ["c"], topics_since=late, questions_since=late - hours - hours)
    stale = worker.context.catalog.context(whose, ["c"], topics_since=late, questions_since=late)
    assert (list(fresh.questions), list(stale.questions)) == (["c"], [])


def test_what_is_stale_is_dropped_from_the_catalog(worker: Worker, anna: str) -> None:
    stale = datetime.now(UTC) - timedelta(hours=worker.context.policy.open_topic_hours + 1)
    fresh, whose = datetime.now(UTC), subject(anna)
    for agent, at in (("planner", stale), ("coach", fresh)):
        topic = OpenTopic(agent_id=agent, text="a trip to Japan", turn_id="t")
        asked = Question(conversation_id=agent, text="When?", turn_id="t")
        worker.context.catalog.commit(Changes(subject=whose, at=at, topics={agent: topic}, questions={agent: asked}))
    clean_up(worker.context, fresh)
    assert [row["agent_id"] for row in worker.rows("open_topics", whose)] == ["coach"]
    assert [row["conversation_id"] for row in worker.rows("questions", whose)] == ["coach"]


@pytest.mark.parametrize(
    "said",
    [
        pytest.param("Off the record: I may lose my job.", id="off the record"),
        pytest.param("My password is tulip-Harbor-93.", id="a secret"),
    ],
)
def test_what_was_asked_about_what_must_not_be_kept_is_not_kept(worker: Worker, anna: str, said: str) -> None:
    reply = "Shall I use tulip-Harbor-93 for your job?"
    tell(worker, exchange(anna, 0, ("user", said), ("assistant", reply)))
    assert worker.rows("questions", subject(anna)) == []
    assert "arbor" not in worker.everywhere(subject(anna))


def test_what_answers_a_question_for_a_secret_is_in_no_table(worker: Worker, anna: str) -> None:
    tell(worker, exchange(anna, 0, ("user", "Hello!"), ("assistant", "What is your wifi password?")))
    tell(worker, exchange(anna, 1, ("user", "It's bluehorse. I live in Lisbon."), ("assistant", "Thanks.")))
    assert any("Lisbon" in summary for summary in summaries(worker, anna))
    [source] = worker.rows("sources", subject(anna))
    assert "bluehorse" not in str(source)


def test_a_secret_that_a_turn_announces_is_in_no_table_with_the_next(worker: Worker, anna: str) -> None:
    tell(worker, exchange(anna, 0, ("user", "Here comes my wifi password."), ("assistant", "Go ahead.")))
    tell(worker, exchange(anna, 1, ("user", "Pelican_55_dusk"), ("user", "I live in Lisbon."), ("assistant", "Ok.")))
    assert any("Lisbon" in summary for summary in summaries(worker, anna))
    assert "Pelican" not in worker.everywhere(subject(anna))


def test_a_name_told_once_is_used_ever_after(worker: Worker, anna: str) -> None:
    tell(worker, exchange(anna, 0, ("user", "My name is Maya.")))
    tell(worker, exchange(anna, 1, ("user", "I live in Lisbon."), conversation_id="another"))
    assert "Maya lives in Lisbon." in summaries(worker, anna)


def test_a_name_that_was_forgotten_is_used_no_more(worker: Worker, anna: str) -> None:
    tell(worker, exchange(anna, 0, ("user", "My name is Maya.")))
    tell(worker, exchange(anna, 1, ("user", "Forget that my name is Maya.")))
    tell(worker, exchange(anna, 2, ("user", "I live in Lisbon.")))
    assert summaries(worker, anna) == ["The user lives in Lisbon."]


def test_nothing_is_carried_past_a_request_to_forget(worker: Worker, anna: str) -> None:
    tell(worker, exchange(anna, 0, ("user", "Hello!"), ("assistant", "Still in Lisbon?"), conversation_id="other"))
    tell(worker, exchange(anna, 1, ("user", "I live in Lisbon."), ("assistant", "Do you like Lisbon?")))
    assert len(worker.rows("questions", subject(anna))) == 2
    gone = ("user", "Forget that I live in Lisbon."), ("assistant", "Lisbon is forgotten. Anything else about Lisbon?")
    tell(worker, exchange(anna, 2, *gone))
    assert worker.outcomes(subject(anna))[f"{anna}-2"] == Outcome.FORGOTTEN
    assert "Lisbon" not in worker.everywhere(subject(anna))
