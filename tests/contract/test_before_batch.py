"""What a batch of turns is looked at with, on every database that a catalog runs on."""

from __future__ import annotations

from dataclasses import replace

from schema import Context, Memory, OpenTopic, Preference, PreferenceName, Question, Scope, Status, Subject, Tombstone
from stores.catalog import BeforeBatch, Catalog, Changes
from tests.contract.catalogs import ANNA, BERT, NAMESAKE, NOW, a_memory, changes

_NOTHING = BeforeBatch([], {}, [], Context())


def _before(catalog: Catalog, subject: Subject = ANNA) -> BeforeBatch:
    return catalog.before_batches.of(subject, ["t1", "t2"], {"c"}, topics_since=NOW, questions_since=NOW)


def _noted(turn_id: str, summary: str) -> Memory:
    return a_memory(turn_id).model_copy(update={"status": Status.PROVISIONAL, "summary": summary})


def test_what_comes_before_a_batch_is_all_that_earlier_ones_and_others_left(catalog: Catalog) -> None:
    assert _before(catalog) == _NOTHING
    question = Question(conversation_id="c", text="Wie heißt „es“?", turn_id="t1")
    topic = OpenTopic(agent_id=None, text="Japan", turn_id="t1")
    catalog.commit(replace(changes("t1"), topics={None: topic}, questions={"c": question}))
    catalog.commit(replace(changes("t0"), preferred=(Preference(name=PreferenceName.BLOCKED_TOPIC, value="health"),)))
    noted = _noted("t2", "Anna said: „Grüße – ünïcode“.")
    catalog.commit(Changes(subject=ANNA, at=NOW, created=(noted, _noted("t3", "Of a turn that is not asked for."))))
    erased = [Tombstone(Scope.CONVERSATION, "c", NOW), Tombstone(Scope.TURN, "t9", NOW)]
    catalog.commit(Changes(subject=ANNA, at=NOW, tombstones=tuple(erased)))
    before = _before(catalog)
    assert before.noted == [noted] == catalog.provisional.of_turns(ANNA, ["t1", "t2"])
    assert before.processed == {"t1": "d" * 64} == catalog.processed(ANNA, ["t1", "t2"])
    assert sorted(before.tombstones, key=str) == sorted(erased, key=str)
    assert before.context == catalog.context(ANNA, ["c"], topics_since=NOW, questions_since=NOW)
    assert (before.context.questions, before.context.open_topics) == ({"c": question}, {None: topic})
    assert before.context.preferences.blocked_topics == ("health",)


def test_what_comes_before_a_batch_is_nobody_elses(catalog: Catalog) -> None:
    catalog.commit(changes("t1"))
    catalog.commit(Changes(subject=ANNA, at=NOW, created=(_noted("t2", "Anna is allergic to nuts."),)))
    catalog.commit(Changes(subject=ANNA, at=NOW, tombstones=(Tombstone(Scope.SUBJECT, "", NOW),)))
    assert _before(catalog, BERT) == _before(catalog, NAMESAKE) == _NOTHING
