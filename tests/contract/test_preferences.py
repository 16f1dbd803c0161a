"""What a subject wants of their memory holds from the turn on that says so."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from pydantic import ValidationError

from memory.preferences import TooManyTopics, set_preference, set_preferences
from memory.publish import publish
from recall.retrieve import retrieve
from schema import MAX_BLOCKED_TOPICS, MemoryType, Preference, PreferenceName, Preferences, Subject
from schema.base import ANY_ETAG
from schema.errors import Outdated
from schema.preferences import conversation_key
from stores.catalog import Outcome
from tests.contract.pipeline import EVERYTHING, Worker, only
from tests.turns import a_turn, subject

NOW = datetime(2026, 11, 2, 9, tzinfo=UTC)
HEALTH = Preference(name=PreferenceName.BLOCKED_TOPIC, value="health")
WITHDRAWN = Preference(name=PreferenceName.CONSENT, value="withdrawn")
GRANTED = Preference(name=PreferenceName.CONSENT, value="granted")


def want(worker: Worker, user: str, preference: Preference, *, holds: bool = True) -> Preferences:
    return set_preference(subject(user), preference, worker.context, by="dora", now=NOW, holds=holds)


def test_nothing_on_a_blocked_topic_is_kept_in_any_byte(alone: Worker, anna: str) -> None:
    want(alone, anna, HEALTH)
    turn = a_turn(anna, 0, "I live in Lisbon. I was diagnosed with epilepsy in spring.")
    turn["messages"].append({"role": "assistant", "content": "Lisbon is nice. How do you cope with the epilepsy?"})
    alone.park(turn)
    alone.work(subject(anna))
    assert "Lisbon" in only(alone.known(subject(anna), *EVERYTHING)).summary
    assert "blocked_topic" in str(alone.rows("audit", subject(anna)))
    assert [name for name, held in alone.files().items() if b"epilepsy" in held] == []
    assert "epilepsy" not in json.dumps(alone.events(subject(anna)))


def test_a_user_says_which_topic_is_blocked_and_when_it_is_no_more(worker: Worker, anna: str) -> None:
    whose = subject(anna)
    worker.hear(anna, "Don't remember anything about my health.")
    assert worker.context.catalog.preferences.of(whose).blocked_topics == ("health",)
    assert worker.known(whose, *EVERYTHING) == []
    assert worker.audited(whose) == ["preference"]
    assert "health" not in str(worker.rows("audit", whose))
    worker.hear(anna, "I was diagnosed with asthma.", first=1)
    assert worker.known(whose, *EVERYTHING) == []
    assert worker.outcomes(whose)[f"{anna}-1"] == Outcome.REFUSED
    worker.hear(anna, "You can remember things about my health again.", "I was diagnosed with asthma.", first=2)
    assert "asthma" in only(worker.known(whose)).summary
    assert worker.context.catalog.preferences.of(whose) == Preferences()


def test_a_wish_holds_for_the_turn_that_says_it_and_those_behind_it_in_the_batch(worker: Worker, anna: str) -> None:
    worker.hear(
        anna,
        "I have a dog called Rex.",
        "I work at Nordbank. Don't store anything about my divorce, my divorce from Karin is painful.",
        "My divorce from Karin is final.",
    )
    kept = " ".join(memory.summary for memory in worker.known(subject(anna), *EVERYTHING))
    assert ("Rex" in kept, "Nordbank" in kept, "Karin" in kept) == (True, True, False)


def test_without_consent_nothing_is_kept_until_it_is_given_again(alone: Worker, anna: str) -> None:
    whose = subject(anna)
    want(alone, anna, WITHDRAWN)
    turn = a_turn(anna, 0, "I live in Hamburg.")
    turn["messages"].append({"role": "assistant", "content": "Do you like Hamburg?"})
    alone.park(turn)
    alone.work(whose)
    assert alone.known(whose, *EVERYTHING) == []
    assert alone.outcomes(whose) == {f"{anna}-0": Outcome.SKIPPED}
    assert [name for name, held in alone.files().items() if b"Hamburg" in held] == []
    assert want(alone, anna, GRANTED).consent == "granted"
    alone.hear(anna, "I live in Lisbon.", first=1)
    assert "Lisbon" in only(alone.known(whose)).summary


def test_of_a_paused_conversation_nothing_is_kept_and_of_others_all(alone: Worker, anna: str) -> None:
    whose = subject(anna)
    paused = Preference(name=PreferenceName.PAUSED_CONVERSATION, value=conversation_key("kitchen" * 25))
    assert want(alone, anna, paused).pauses("kitchen" * 25)
    alone.park(a_turn(anna, 0, "I live in Hamburg.") | {"conversation_id": "kitchen" * 25})
    alone.park(a_turn(anna, 1, "I have a dog called Rex.") | {"conversation_id": "garden"})
    alone.work(whose)
    assert "Rex" in only(alone.known(whose, *EVERYTHING)).summary
    assert [name for name, held in alone.files().items() if b"Hamburg" in held] == []
    assert not want(alone, anna, paused, holds=False).paused_conversations
    alone.park(a_turn(anna, 2, "I live in Lisbon.") | {"conversation_id": "kitchen" * 25})
    alone.work(whose)
    assert "Lisbon" in str([memory.summary for memory in alone.known(whose)])


def test_a_user_pauses_a_conversation_in_so_many_words_and_goes_on_with_it(worker: Worker, anna: str) -> None:
    whose = subject(anna)
    worker.hear(anna, "Please don't remember any of this conversation.", "I owe Karin 400 euros.")
    assert worker.known(whose, *EVERYTHING) == []
    assert worker.context.catalog.preferences.of(whose).pauses(a_turn(anna, 0, "")["conversation_id"])
    worker.hear(anna, "You can remember this conversation again.", "I have a dog called Rex.", first=2)
    assert "Rex" in only(worker.known(whose)).summary
    assert worker.context.catalog.preferences.of(whose) == Preferences()


def test_a_user_withdraws_and_gives_consent_in_so_many_words(worker: Worker, anna: str) -> None:
    whose = subject(anna)
    worker.hear(anna, "Never store anything about me.", "I live in Lisbon.")
    assert worker.known(whose, *EVERYTHING) == []
    assert worker.context.catalog.preferences.of(whose).consent == "withdrawn"
    worker.hear(anna, "You can remember things about me again.", "I live in Lisbon.", first=2)
    assert "Lisbon" in only(worker.known(whose)).summary
    assert [row["reason"] for row in worker.rows("audit", whose)][:2] == ["consent_withdrawn", "consent_granted"]


def test_without_consent_a_request_to_forget_is_still_done(worker: Worker, anna: str) -> None:
    worker.hear(anna, "My ex-wife Karin lives in Hamburg.")
    want(worker, anna, WITHDRAWN)
    worker.hear(anna, "Please forget what I told you about Karin. I live in Lisbon.", first=1)
    assert worker.known(subject(anna), *EVERYTHING) == []
    assert "Karin" not in worker.everywhere(subject(anna))


def test_what_one_subject_wants_is_nothing_to_another(worker: Worker, anna: str) -> None:
    want(worker, anna, WITHDRAWN)
    other = Subject(tenant_id="globex", subject_id=anna)
    worker.hear(anna, "I live in Lisbon.", tenant_id="globex")
    assert len(worker.known(other)) == 1
    assert worker.context.catalog.preferences.of(other) == Preferences()


def test_a_consent_and_a_time_zone_replace_the_one_before(worker: Worker, anna: str) -> None:
    zones = [Preference(name=PreferenceName.TIME_ZONE, value=zone) for zone in ("Europe/Berlin", "Asia/Tokyo")]
    for preference in (WITHDRAWN, *zones, GRANTED, HEALTH, HEALTH):
        want(worker, anna, preference)
    assert worker.context.catalog.preferences.of(subject(anna)) == Preferences(
        blocked_topics=("health",), consent="granted", time_zone="Asia/Tokyo"
    )
    assert want(worker, anna, HEALTH, holds=False).blocked_topics == ()
    assert "health" not in str(worker.rows("audit", subject(anna)))


@pytest.mark.parametrize(
    ("name", "value"), [("time_zone", "Mars/Olympus"), ("consent", "perhaps"), ("blocked_topic", "x" * 61)]
)
def test_what_cannot_be_wanted_is_refused(worker: Worker, anna: str, name: str, value: str) -> None:
    with pytest.raises(ValidationError):
        want(worker, anna, Preference(name=PreferenceName(name), value=value))
    assert worker.rows("preferences", subject(anna)) == []


def test_there_is_an_end_to_blocked_topics(worker: Worker, anna: str) -> None:
    for number in range(MAX_BLOCKED_TOPICS):
        want(worker, anna, Preference(name=PreferenceName.BLOCKED_TOPIC, value=f"topic {number}"))
    with pytest.raises(TooManyTopics):
        want(worker, anna, HEALTH)
    worker.hear(anna, "Don't remember anything about my health.", occurred_at=(NOW + timedelta(1)).isoformat())
    assert len(worker.context.catalog.preferences.of(subject(anna)).blocked_topics) == MAX_BLOCKED_TOPICS


TOLD = "My sister Karin has epilepsy and she lives in Hamburg."


def test_who_else_is_ill_is_kept_without_their_name(alone: Worker, anna: str) -> None:
    alone.hear(anna, TOLD)
    assert "epilepsy" in " ".join(memory.summary for memory in alone.known(subject(anna)))
    assert [name for name, held in alone.files().items() if b"Karin" in held] == []
    assert "Karin" not in json.dumps(alone.events(subject(anna)))


@pytest.mark.parametrize(("handling", "kept"), [("keep", True), ("drop", False)])
def test_what_is_done_with_what_is_sensitive_of_others_is_a_setting(
    worker: Worker, anna: str, handling: str, kept: bool
) -> None:
    policy = worker.context.policy.model_copy(update={"others_sensitive_data": handling})
    worker.with_parts(policy=policy).hear(anna, TOLD)
    summaries = " ".join(memory.summary for memory in worker.known(subject(anna)))
    assert ("Karin" in summaries and "epilepsy" in summaries) is kept
    assert ("others_sensitive_data" in str(worker.rows("audit", subject(anna)))) is not kept


def test_what_is_never_to_be_mentioned_is_kept_and_not_told_but_for_that(worker: Worker, anna: str) -> None:
    whose = subject(anna)
    worker.hear(anna, "My divorce was in 2020.", "Never mention my divorce again.", "My divorce cost 9,000 euros.")
    assert worker.context.catalog.preferences.of(whose).unmentioned_topics == ("divorce",)
    assert len([one for one in worker.known(whose) if one.type is not MemoryType.PROCEDURAL]) == 2
    told = retrieve(None, [whose], "What about the divorce?", worker.context, relevant_only=False, now=NOW)
    assert {hit.memory.type for hit in told} == {MemoryType.PROCEDURAL}
    worker.hear(anna, "You may talk about my divorce again.", first=5)
    assert worker.context.catalog.preferences.of(whose).left_alone == ()
    assert len(retrieve(None, [whose], "What about the divorce?", worker.context, now=NOW)) >= 2


def test_what_is_never_to_be_mentioned_is_told_again_once_somebody_unblocks_it(worker: Worker, anna: str) -> None:
    worker.hear(anna, "Let's not talk about my divorce.")
    divorce = Preference(name=PreferenceName.BLOCKED_TOPIC, value="divorce")
    assert want(worker, anna, divorce, holds=False).left_alone == ()


def test_what_a_caller_has_read_is_changed_only_while_it_stands(worker: Worker, anna: str) -> None:
    whose, zone = subject(anna), Preference(name=PreferenceName.TIME_ZONE, value="Europe/Lisbon")
    read = want(worker, anna, HEALTH)
    changed = set_preferences(whose, [GRANTED, zone], worker.context, by="dora", now=NOW, etags={read.etag})
    assert (changed.consent, changed.time_zone, changed.etag != read.etag) == ("granted", "Europe/Lisbon", True)
    with pytest.raises(Outdated):
        set_preferences(whose, [WITHDRAWN], worker.context, by="dora", now=NOW, etags={read.etag})
    assert want(worker, anna, GRANTED) == changed, "to want the same again changes nothing"
    assert (
        set_preferences(whose, [WITHDRAWN], worker.context, by="dora", now=NOW, etags=ANY_ETAG).consent == "withdrawn"
    )


def test_a_change_between_reading_and_writing_counts(
    worker: Worker, anna: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    whose, read = subject(anna), want(worker, anna, GRANTED)

    def publish_late(*args: Any, **kwargs: Any) -> None:
        with monkeypatch.context() as undone:
            undone.setattr("memory.preferences.publish", publish)
            if worker.context.catalog.preferences.of(whose) == read:
                want(worker, anna, HEALTH)
        publish(*args, **kwargs)

    monkeypatch.setattr("memory.preferences.publish", publish_late)
    with pytest.raises(Outdated):
        set_preferences(whose, [WITHDRAWN], worker.context, by="dora", now=NOW, etags={read.etag})
    assert worker.context.catalog.preferences.of(whose) == Preferences(consent="granted", blocked_topics=("health",))
    assert set_preferences(whose, [WITHDRAWN], worker.context, by="dora", now=NOW).consent == "withdrawn"


def test_nothing_of_an_everyday_topic_that_is_blocked_is_kept_in_any_byte_though_it_lacks_its_word(
    alone: Worker, anna: str
) -> None:
    alone.hear(anna, "Don't remember anything about my job.")
    alone.hear(anna, "I'm a nurse at Kestrel Clinic. My cat is called Biscuit.", first=1)
    assert ["Biscuit" in memory.summary for memory in alone.known(subject(anna))] == [True]
    assert "Kestrel" not in alone.everywhere(subject(anna))
    assert [name for name, held in alone.files().items() if b"Kestrel" in held] == []


@pytest.mark.parametrize(
    ("said", "topic"),
    [
        ("I lost the baby last week. Please never bring it up.", "lost baby"),
        ("I don't talk to my father any more. Please don't mention him.", "father"),
        ("We're getting divorced, please don't bring that up", "divorced"),
    ],
)
def test_what_was_just_said_is_not_mentioned_where_somebody_asks_for_that(
    worker: Worker, anna: str, said: str, topic: str
) -> None:
    worker.hear(anna, said)
    assert worker.context.catalog.preferences.of(subject(anna)).unmentioned_topics == (topic,)
    assert len(worker.known(subject(anna))) == 1


def test_what_is_not_to_be_stored_is_not_and_nothing_else_is_touched(worker: Worker, anna: str) -> None:
    worker.hear(anna, "My son Leo is five.")
    worker.hear(anna, "my salary is 52k, don't store that please", first=1)
    assert "Leo" in only(worker.known(subject(anna), *EVERYTHING)).summary
    assert "52k" not in worker.everywhere(subject(anna))
