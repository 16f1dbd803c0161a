"""What a batch of turns is looked at with, on every database that a catalog runs on."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import pytest

from schema import Context, Memory, OpenTopic, Preference, PreferenceName, Question, Scope, Status, Subject, Tombstone
from stores.catalog import BeforeBatch, Catalog, Changes
from tests.contract.catalogs import ANNA, BERT, NAMESAKE, NOW, a_memory, changes
from tests.contract.indexes import until

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


def test_all_subjects_that_wait_are_read_together_and_each_gets_its_own(
    catalog: Catalog, monkeypatch: pytest.MonkeyPatch
) -> None:
    batches = catalog.before_batches
    subjects = [Subject(tenant_id="acme", subject_id=f"user-{number}") for number in range(6)]
    for subject in subjects:
        catalog.commit(changes(f"of-{subject.subject_id}", subject, 1))
    sizes: list[int] = []
    is_read, goes_on = threading.Event(), threading.Event()
    read = batches._batcher._work

    def watched(asked: Sequence[Any]) -> Sequence[Any]:
        sizes.append(len(asked))
        is_read.set()
        assert goes_on.wait(30)
        return read(asked)

    monkeypatch.setattr(batches._batcher, "_work", watched)

    def processed(subject: Subject) -> dict[str, str]:
        turns = [f"of-{subject.subject_id}"]
        return batches.of(subject, turns, {"c"}, topics_since=NOW, questions_since=NOW).processed

    with ThreadPoolExecutor(len(subjects)) as threads:
        first = threads.submit(processed, subjects[0])
        assert is_read.wait(30)
        others = [threads.submit(processed, subject) for subject in subjects[1:]]
        until(lambda: len(batches._batcher._waiting) == len(subjects))
        goes_on.set()
        found = [future.result(30) for future in (first, *others)]
    assert [list(turns) for turns in found] == [[f"of-{subject.subject_id}"] for subject in subjects]
    assert sizes == [1, 5]
