"""Windows and facts with vectors: off unless asked for, and kept, found, counted and erased with what they are of."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sqlalchemy import Engine, event

from interfaces.doctor.stores import check_agreement
from memory.erasure.subjects import erase_subject, erase_turns
from memory.indexing import index_all
from memory.publish import publish
from memory.reindex import finish, must_be_built, reindex
from memory.selectors import text_of
from recall.anchors import EntityFacts, EntityName, Mode, Question, look_up
from recall.audience import audiences
from recall.retrieve import retrieve
from recall.selectors import turns_near
from schema import Capability, Principal, Scope, Subject, Visibility
from schema.errors import IndexUnbuilt
from schema.health import HealthStatus
from schema.selectors import dialogue_of
from stores.catalog import Changes
from stores.index.base import SELECTORS, Family, Where
from stores.open import open_beside
from tests.contract.indexes import opened
from tests.contract.pipeline import Worker, only
from tests.erasing import erase_memory
from tests.turns import subject
from worker.nights.cleanup import clean_up

NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)
ON = {"episodic_windows": "on", "fact_vectors": "on"}
SAID = ("I live in Lisbon", "My brother owns a bakery in Porto", "I am a vegetarian")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "worker" in metafunc.fixturenames:
        metafunc.parametrize(
            "worker", ["sqlite"] if "alone" in metafunc.fixturenames else ["sqlite", "postgres"], indirect=True
        )


def switched(worker: Worker, **settings: Any) -> Worker:
    return worker.with_parts(settings=worker.context.settings.model_copy(update=settings or ON))


def held(worker: Worker, whose: Subject, family: Family) -> dict[Any, int]:
    """The versions of what an index has of a subject."""
    anywhere = np.eye(1, worker.context.embedder.dimensions, dtype=np.float32)[0]
    hits = worker.context.index_of(family).query(anywhere, Where(whose, statuses=()), 100)
    return {hit.memory_id: hit.version for hit in hits}


def kept(worker: Worker, whose: Subject, family: Family) -> dict[Any, Any]:
    pages = worker.context.catalog.families.pages(family, whose, 2)
    return {item.id: item for page in pages for item in page}


def assert_in_order(worker: Worker, whose: Subject) -> None:
    """Each index has what the catalog has, with the vectors of what is there now, and nothing waits."""
    assert worker.context.catalog.index_jobs(whose) == []
    for family in Family:
        items = kept(worker, whose, family)
        assert held(worker, whose, family) == {id_: item.version for id_, item in items.items()}
        entries = worker.context.index_of(family).fetch(whose, [item.index_key for item in items.values()])
        for entry in entries:
            [vector] = worker.context.embedder.embed([text_of(items[entry.memory_id])])
            assert np.allclose(entry.vector, vector, atol=1e-3)


def windows_of(worker: Worker, whose: Subject) -> list[str]:
    items = kept(worker, whose, Family.WINDOWS).values()
    return [item.content for item in sorted(items, key=lambda item: item.turn.occurred_at)]


@contextmanager
def statements() -> Iterator[list[str]]:
    """All SQL that is run meanwhile."""
    run: list[str] = []

    def hear(_connection: object, _cursor: object, statement: str, *_: object) -> None:
        run.append(statement)

    event.listen(Engine, "before_cursor_execute", hear)
    try:
        yield run
    finally:
        event.remove(Engine, "before_cursor_execute", hear)


def test_while_they_are_off_nothing_is_written_and_nothing_asked(worker: Worker, anna: str) -> None:
    whose = subject(anna)
    beside = {family: None if family in SELECTORS else one for family, one in worker.context.beside.items()}
    off = worker.with_parts(beside=beside)
    with statements() as run:
        off.hear(anna, *SAID)
        assert retrieve(None, [whose], "Where is my home?", off.context, now=NOW)
        anchors_of(off, whose, Question("Where is my home?", mode="hybrid"))
    assert [statement for statement in run if "windows" in statement] == []
    assert off.rows("windows", whose) == []
    assert {(row["id"], row["version"]) for row in off.rows("facts", whose)} == {(None, None)}


def test_a_turn_that_is_kept_has_a_window_with_what_was_said_before_and_each_fact_a_vector(
    worker: Worker, anna: str
) -> None:
    on, whose = switched(worker), subject(anna)
    on.hear(anna, SAID[0], "Hello")
    on.hear(anna, SAID[1], first=2)
    first, second = (dialogue_of(turn) for turn in on.context.catalog.sources(whose, [f"{anna}-0", f"{anna}-2"]))
    assert windows_of(on, whose) == [first, f"{first}\n{second}"], "of the turn without a memory there is none"
    facts = kept(on, whose, Family.FACTS)
    assert len(facts) == sum(len(memory.facts) for memory in on.known(whose)) > 0
    assert "The entity lives in Location: Lisbon" in {text_of(fact) for fact in facts.values()}
    assert_in_order(on, whose)
    assert not any("Lisbon" in str(row) for row in on.rows("windows", whose))


def test_a_turn_of_another_conversation_or_of_the_day_before_is_not_what_was_said_before(
    worker: Worker, anna: str
) -> None:
    on, whose = switched(worker), subject(anna)
    on.hear(anna, SAID[0])
    on.hear(anna, SAID[1], first=1, conversation_id="another")
    on.hear(anna, SAID[2], first=2, occurred_at="2026-11-09T10:00:00Z")
    assert all(item.before is None for item in kept(on, whose, Family.WINDOWS).values())


def test_a_long_turn_has_windows_that_are_read_whole(worker: Worker, anna: str) -> None:
    on, whose = switched(worker), subject(anna)
    on.hear(anna, SAID[0])
    answer = {"role": "assistant", "content": "A bakery opens early, and its oven is never cold. " * 60}
    on.hear(anna, SAID[1], first=1, messages=[{"role": "user", "content": SAID[1]}, answer])
    windows = [item for item in kept(on, whose, Family.WINDOWS).values() if item.turn.turn_id == f"{anna}-1"]
    assert sorted(item.number for item in windows) == list(range(len(windows)))
    assert len(windows) > 1
    own = dialogue_of(windows[0].turn)
    assert max(item.end for item in windows) == len(own.rstrip())
    assert all(item.content and (item.start >= 0 or item.number == 0) for item in windows)


def test_a_changed_memory_has_the_vectors_of_its_facts_anew_even_when_they_are_off_by_then(
    worker: Worker, anna: str
) -> None:
    on, whose = switched(worker), subject(anna)
    on.hear(anna, SAID[0])
    memory = only(on.known(whose))
    other = memory.facts[0].model_copy(update={"object": "Rome"})
    changed = memory.model_copy(update={"version": memory.version + 1, "facts": (other,)})
    publish(Changes(subject=whose, at=NOW, updated=(changed,)), {}, on.context)
    assert_in_order(on, whose)
    again = changed.model_copy(update={"version": changed.version + 1})
    publish(Changes(subject=whose, at=NOW, updated=(again,)), {}, worker.context)
    index_all(whose, worker.context)
    assert kept(worker, whose, Family.FACTS) == held(worker, whose, Family.FACTS) == {}


def test_an_erased_turn_is_in_no_window_any_more(worker: Worker, anna: str) -> None:
    on, whose = switched(worker), subject(anna)
    on.hear(anna, *SAID)
    facts = len(kept(on, whose, Family.FACTS))
    proof, _ = erase_turns(whose, Scope.TURN, f"{anna}-0", on.context, by="dora", now=NOW)
    assert proof.is_clean
    assert (proof.removed["index of windows"], proof.left["index of windows"]) == (1, 0)
    assert proof.removed["index of facts"] == facts - len(kept(on, whose, Family.FACTS)) > 0
    second, third = (dialogue_of(turn) for turn in on.context.catalog.sources(whose, [f"{anna}-1", f"{anna}-2"]))
    assert windows_of(on, whose) == [second, f"{second}\n{third}"]
    assert f"{anna}-0" not in str(on.rows("windows", whose))
    assert_in_order(on, whose)


@pytest.mark.parametrize("now_on", [True, False])
def test_windows_and_facts_go_with_their_memory_on_or_off(worker: Worker, anna: str, *, now_on: bool) -> None:
    on, whose = switched(worker), subject(anna)
    on.hear(anna, *SAID[:2])
    gone, stays = sorted(on.known(whose), key=lambda memory: memory.source_turn_ids)
    erase_memory(whose, gone.id, (on if now_on else worker).context, by="dora", now=NOW)
    assert [item.turn.turn_id for item in kept(on, whose, Family.WINDOWS).values()] == list(stays.source_turn_ids)
    assert {item.memory.id for item in kept(on, whose, Family.FACTS).values()} <= {stays.id}
    assert_in_order(on, whose)


def test_what_is_left_of_a_turn_of_which_one_memory_is_erased_is_embedded_anew(worker: Worker, anna: str) -> None:
    on, whose = switched(worker), subject(anna)
    on.hear(anna, "I live in Lisbon. I am a vegetarian.")
    [lives] = [memory for memory in on.known(whose) if "Lisbon" in memory.summary]
    erase_memory(whose, lives.id, on.context, by="dora", now=NOW)
    [content] = windows_of(on, whose)
    assert "vegetarian" in content
    assert "Lisbon" not in content
    assert_in_order(on, whose)


def test_windows_go_with_the_raw_turns_that_were_kept_long_enough(worker: Worker, anna: str) -> None:
    on, whose = switched(worker, **ON, source_days=1), subject(anna)
    on.hear(anna, SAID[0])
    on.hear(anna, SAID[1], first=1, occurred_at="2026-11-02T20:00:00Z")
    clean_up(on.context, datetime(2026, 11, 3, 12, tzinfo=UTC))
    index_all(whose, on.context)
    [content] = windows_of(on, whose)
    assert "Lisbon" not in content
    assert_in_order(on, whose)


def test_of_an_erased_subject_no_family_has_anything_on_any_index(
    adapter: str, alone: Worker, anna: str, tmp_path: Path
) -> None:
    embedder = alone.context.embedder
    indexes = {one: opened(adapter, tmp_path / one, embedder.dimensions, embedder.name) for one in Family}
    beside = {family: one for family, one in indexes.items() if family is not Family.MEMORIES}
    on = switched(alone).with_parts(index=indexes[Family.MEMORIES], beside=beside)
    bert = anna.replace("anna", "bert")
    for user in (anna, bert):
        on.hear(user, *SAID)
    counts = {family: len(kept(on, subject(anna), family)) for family in SELECTORS}
    assert_in_order(on, subject(anna))
    proof = erase_subject(subject(anna), on.context, by="dora", now=NOW)
    assert proof.is_clean
    for family in SELECTORS:
        assert proof.removed[f"index of {family}"] == counts[family] > 0
        assert proof.left[f"index of {family}"] == 0
        assert held(on, subject(anna), family) == kept(on, subject(anna), family) == {}
        assert indexes[family].count() == counts[family], "Bert's are there"
    assert_in_order(on, subject(bert))
    for index in indexes.values():
        index.close()


def test_reindex_builds_them_again_and_makes_those_of_before_they_were_on(alone: Worker, anna: str) -> None:
    whose, settings = subject(anna), alone.context.settings
    alone.hear(anna, SAID[0])
    on = switched(alone)
    on.hear(anna, SAID[1], first=1)
    assert len(kept(on, whose, Family.WINDOWS)) == 1
    for family in SELECTORS:
        on.context.index_of(family).close()
        shutil.rmtree(settings.data_dir / f"index-{settings.index_name}-{family}")
    on = on.with_parts(beside=open_beside(settings, on.context.embedder))
    with pytest.raises(IndexUnbuilt, match="has nothing"):
        must_be_built(on.context)
    reindex(on.context)
    finish(on.context)
    assert len(kept(on, whose, Family.WINDOWS)) == 2
    assert {item.memory.id for item in kept(on, whose, Family.FACTS).values()} == {
        memory.id for memory in on.known(whose) if memory.facts
    }
    index_all(whose, on.context)
    assert_in_order(on, whose)
    found = {one.part: one for one in check_agreement(on.context)}
    for family in SELECTORS:
        count = len(kept(on, whose, family))
        assert found[f"index of {family}"].found == f"{count} vectors of {count}"
        assert found[f"index of {family}"].status is HealthStatus.OK
        on.context.index_of(family).close()


# -- what is found by them -------------------------------------------------------------------------------------------


def anchors_of(worker: Worker, whose: Subject, question: Question, principal: Principal | None = None) -> EntityFacts:
    entity = EntityName("user_id", whose.subject_id)
    return look_up(principal, whose, entity, worker.context, question=question, now=NOW)


OVEN = "Which oven is never cold?"
"""What only the assistant said, so that no memory says it."""


def reader(user: str | None) -> Principal:
    return Principal(tenant_id="acme", user_id=user, key_id="k", capabilities=frozenset({Capability.READ}))


def talked(worker: Worker, user: str) -> None:
    messages = [{"role": "user", "content": SAID[0]}, {"role": "assistant", "content": "Is your oven never cold?"}]
    worker.hear(user, SAID[0], messages=messages)
    worker.hear(user, SAID[1], first=1)
    worker.hear(user, SAID[2], first=2)


def shares(worker: Worker, whose: Subject, principal: Principal | None = None) -> dict[str, float]:
    asked = retrieve(principal, [whose], OVEN, worker.context, explain=True, relevant_only=False, now=NOW)
    return {hit.memory.source_turn_ids[0][-1]: hit.why.terms.relevance for hit in asked if hit.why}


def test_a_window_lifts_the_memories_of_its_turn_while_it_is_on(worker: Worker, anna: str) -> None:
    on, whose = switched(worker), subject(anna)
    talked(on, anna)
    assert shares(on, whose)["0"] > shares(worker, whose)["0"]
    flat = on.with_parts(policy=on.context.policy.model_copy(update={"retrieval_windows_weight": 0.0}))
    assert shares(flat, whose) == shares(worker, whose)


def test_a_window_counts_only_for_who_may_read_turns_and_sees_all_that_came_of_them(worker: Worker, anna: str) -> None:
    on, whose = switched(worker), subject(anna)
    talked(on, anna)
    [vector] = on.context.embedder.embed([OVEN])
    owner = reader(anna)
    service = reader(None)

    def near(principal: Principal | None) -> set[str]:
        [audience] = audiences(principal, [whose], on.context)
        return set(turns_near(vector, audience, 10, on.context).turns)

    assert near(None) == near(owner) == {f"{anna}-{number}" for number in range(3)}
    assert near(service) == set()
    assert shares(on, whose, service) == shares(worker, whose, service)
    [bakery] = [memory for memory in on.known(whose) if f"{anna}-1" in memory.source_turn_ids]
    others = {"visibility": Visibility.INDIVIDUAL, "agent_id": "planner", "version": bakery.version + 1}
    publish(Changes(subject=whose, at=NOW, updated=(bakery.model_copy(update=others),)), {}, on.context)
    assert near(owner) == {f"{anna}-0"}, "the third turn's window begins with the second"


@pytest.mark.parametrize(("mode", "has_memories"), [("episodic", False), ("hybrid", True)])
def test_turns_are_anchors_by_their_windows(worker: Worker, anna: str, mode: Mode, *, has_memories: bool) -> None:
    on, whose = switched(worker, **ON | {"fact_vectors": "off"}), subject(anna)
    talked(on, anna)
    found = anchors_of(on, whose, Question("Where is my home in Lisbon?", mode=mode))
    sources = [anchor for anchor in found.anchors if anchor.type == "source"]
    assert {anchor.family for anchor in sources} == {Family.WINDOWS}
    assert {anchor.id for anchor in sources} == {f"{anna}-{number}" for number in range(3)}
    assert any(anchor.type == "memory" for anchor in found.anchors) == has_memories
    assert "Lisbon" in {fact.relation.object for fact in found.facts}
    strict = anchors_of(on, whose, Question("Where is my home in Lisbon?", mode=mode, min_similarity=1.0))
    assert (strict.facts, strict.anchors) == ((), ())
    off = anchors_of(worker, whose, Question("Where is my home in Lisbon?", mode=mode))
    assert {anchor.family for anchor in off.anchors} == {Family.MEMORIES}


def test_facts_are_anchors_beside_memories_and_are_told_only_if_their_memory_is(worker: Worker, anna: str) -> None:
    on, whose = switched(worker), subject(anna)
    talked(on, anna)
    found = anchors_of(on, whose, Question("Where is my home in Lisbon?", most=1))
    [memory, fact] = found.anchors
    assert (memory.type, fact.type, fact.family, fact.is_verified) == ("memory", "fact", Family.FACTS, True)
    assert fact.relationship_key in {one.relationship_key for one in found.facts}
    [lisbon] = [one for one in on.known(whose) if "Lisbon" in one.summary]
    hidden = {"visibility": Visibility.INDIVIDUAL, "agent_id": "planner", "version": lisbon.version + 1}
    publish(Changes(subject=whose, at=NOW, updated=(lisbon.model_copy(update=hidden),)), {}, on.context)
    owner = reader(anna)
    asked = anchors_of(on, whose, Question("Which bakery is it, and where is home?"), owner)
    assert str(fact.id) not in {anchor.id for anchor in asked.anchors}
    assert "Lisbon" not in {one.relation.object for one in asked.facts}
