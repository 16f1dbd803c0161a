"""Entities looked up over real stores: all their facts, those that a question is about, and their summary."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime

import pytest

from memory.publish import publish
from recall.anchors import EntityFacts, EntityName, Question, look_up
from recall.cursors import InvalidCursor
from recall.entity_summary import sum_up
from schema import Capability, Fact, Memory, Principal, Status, Subject, Visibility
from schema.errors import LLMUnavailable, NotFound
from stores.catalog import Changes
from tests.contract.catalogs import a_memory
from tests.contract.pipeline import Worker
from tests.scripted import Scripted, guarded
from tests.turns import subject

NOW = datetime(2026, 11, 2, 12, 0, tzinfo=UTC)


def stating(whose: Subject, turn: str, summary: str, *facts: Fact) -> Memory:
    return a_memory(f"{whose.subject_id}-{turn}", whose).model_copy(update={"summary": summary, "facts": facts})


@pytest.fixture
def maya(worker: Worker, anna: str) -> Subject:
    """A user who hikes, and has a sister in Graz; a turn said two things."""
    whose = subject(anna)
    hikes = Fact(entity="User", verb="enjoys", object="hiking", attribute="hobby")
    sister = Fact(entity="Karin", verb="is sister of", object="User", attribute="sibling")
    lives = Fact(entity="Karin", verb="lives in", object="Graz", attribute="home_city")
    city = Fact(entity="Graz", verb="lies in", object="Styria")
    memories = (
        stating(whose, "1", "Maya enjoys hiking in the mountains.", hikes),
        stating(whose, "2", "Maya's sister is called Karin.", sister),
        stating(whose, "3", "Maya's sister Karin lives in Graz.", lives),
        stating(whose, "4", "The city of Graz lies in Styria.", city),
    )
    publish(Changes(subject=whose, at=NOW, created=memories), {}, worker.context)
    return whose


def found(worker: Worker, whose: Subject, name: str = "", question: Question | None = None) -> EntityFacts:
    entity = EntityName("name", name) if name else EntityName("user_id", whose.subject_id)
    return look_up(None, whose, entity, worker.context, question=question, now=NOW)


def said(known: EntityFacts) -> list[str]:
    return [f"{fact.relation.entity} {fact.relation.verb} {fact.relation.object}" for fact in known.facts]


HIKES, SISTER, LIVES, CITY = (
    "user enjoys hiking",
    "karin is sister of User",
    "karin lives in Graz",
    "graz lies in Styria",
)


def test_without_a_question_all_facts_are_told(worker: Worker, maya: Subject) -> None:
    assert set(said(found(worker, maya))) == {HIKES, SISTER, LIVES, CITY}
    assert set(said(found(worker, maya, "KARIN"))) == {SISTER, LIVES}


def test_a_fact_has_the_ids_that_name_its_object_and_the_assertion(worker: Worker, maya: Subject) -> None:
    known = found(worker, maya, question=Question("What does Maya do in the mountains?", most=1))
    [fact] = known.facts
    assert fact.fact_id == "Hobby:hiking"
    assert fact.relationship_key == f"{known.entity_id}:enjoys:Hobby:hiking"
    assert known.entity_id == uuid.uuid5(uuid.NAMESPACE_URL, maya.key)
    assert {one.fact_id for one in found(worker, maya, "karin").facts} == {"Person:User", "Location:Graz"}


def test_a_question_selects_the_facts_of_the_memories_that_it_finds(worker: Worker, maya: Subject) -> None:
    known = found(worker, maya, question=Question("Who is Maya's sister?", most=2))
    assert HIKES not in said(known)
    assert SISTER in said(known)
    assert all(fact.score is not None for fact in known.facts)
    assert {anchor.type for anchor in known.anchors} == {"memory"}
    assert set(known.seconds) == {"vector_search", "graph_verify", "graph_fetch"}


def test_what_is_not_near_enough_is_no_anchor(worker: Worker, maya: Subject) -> None:
    known = found(worker, maya, question=Question("Who is Maya's sister?", min_similarity=1.0))
    assert (known.facts, known.anchors) == ((), ())


def test_a_walk_goes_on_from_what_was_found(worker: Worker, maya: Subject) -> None:
    lives = "Where does Maya's sister Karin live?"
    near = found(worker, maya, question=Question(lives, most=1))
    far = found(worker, maya, question=Question(lives, most=1, hops=1))
    assert said(near) == [LIVES]
    assert set(said(far)) == {LIVES, SISTER, CITY}
    assert [fact.relation.distance for fact in far.facts] == [0, 1, 1]
    assert [fact.score is None for fact in far.facts] == [False, True, True]


def test_a_question_about_a_name_tells_no_fact_of_anything_else(worker: Worker, maya: Subject) -> None:
    known = found(worker, maya, "Karin", Question("Where do people live, and what do they enjoy?"))
    assert set(said(known)) <= {SISTER, LIVES}
    assert known.facts


def test_episodic_anchors_are_turns_and_tell_all_that_came_of_them(worker: Worker, anna: str) -> None:
    whose = subject(anna)
    worker.hear(anna, "I live in Lisbon. I have two cats.")
    asked = Question("Which city is home?", most=1, mode="episodic")
    known = found(worker, whose, question=asked)
    assert [(anchor.type, anchor.id, anchor.is_verified) for anchor in known.anchors] == [("source", f"{anna}-0", True)]
    one = found(worker, whose, question=Question(asked.text, most=1))
    assert {fact.memory.id for fact in one.facts} < {fact.memory.id for fact in known.facts}
    both = found(worker, whose, question=Question(asked.text, most=1, mode="hybrid"))
    assert {anchor.type for anchor in both.anchors} == {"memory", "source"}
    assert set(said(both)) == set(said(known))


def test_what_does_not_hold_any_more_is_no_fact(worker: Worker, maya: Subject) -> None:
    [memory] = [fact.memory for fact in found(worker, maya).facts if fact.relation.object == "Graz"]
    old = memory.model_copy(update={"status": Status.ARCHIVED, "version": 2})
    worker.context.catalog.commit(Changes(subject=maya, at=NOW, updated=(old,)))
    assert LIVES not in said(found(worker, maya))
    assert LIVES not in said(found(worker, maya, question=Question("Where does Maya's sister live?", mode="hybrid")))


@pytest.mark.parametrize("entity", [EntityName("name", "Nobody"), EntityName("user_id", "somebody-else")])
def test_what_has_no_such_name_is_not_found(worker: Worker, maya: Subject, entity: EntityName) -> None:
    for question in (None, Question("Where does Maya's sister live?")):
        with pytest.raises(NotFound):
            look_up(None, maya, entity, worker.context, question=question, now=NOW)


def test_who_has_no_memory_that_may_be_told_is_not_found(worker: Worker, anna: str) -> None:
    whose, user = subject(anna), EntityName("user_id", anna)
    for question in (None, Question("Where do they live?")):
        with pytest.raises(NotFound):
            look_up(None, whose, user, worker.context, question=question, now=NOW)
    worker.context.catalog.commit(Changes(subject=whose, at=NOW, created=(a_memory("one", whose),)))
    assert look_up(None, whose, user, worker.context, now=NOW).entity == user


def test_a_question_that_an_entitys_facts_do_not_answer_finds_the_entity_and_no_fact(
    worker: Worker, maya: Subject
) -> None:
    known = found(worker, maya, "Graz", Question("How do I compile a kernel module?"))
    assert known.facts == ()


def test_what_may_not_be_told_takes_no_place_of_what_may(worker: Worker, maya: Subject) -> None:
    hidden = tuple(
        stating(
            maya, f"h{n}", f"Aaron owns boat {n}.", Fact(entity="Aaron", verb="owns", object=f"boat {n}")
        ).model_copy(update={"visibility": Visibility.INDIVIDUAL, "agent_id": "nobody"})
        for n in range(5)
    )
    publish(Changes(subject=maya, at=NOW, created=hidden), {}, worker.context)
    principal = Principal(
        tenant_id=maya.tenant_id, user_id=maya.subject_id, capabilities=frozenset({Capability.READ}), key_id="k"
    )
    whole = EntityName("user_id", maya.subject_id)
    assert len(look_up(principal, maya, whole, worker.context, limit=2, now=NOW).facts) == 2


def test_pages_of_all_facts_are_complete_and_tell_each_assertion_once_while_others_write(
    worker: Worker, maya: Subject
) -> None:
    def owning(turn: str, thing: str) -> Memory:
        return stating(maya, turn, f"Maya owns {thing}.", Fact(entity="User", verb="owns", object=thing))

    # Each is said twice, so that one of the two may go while the assertion stays; and more than are read at once.
    lasting = {f"book {n:03}" for n in range(250)}
    twice = [owning(f"{copy}{thing}", thing) for thing in sorted(lasting) for copy in "ab"]
    publish(Changes(subject=maya, at=NOW, created=tuple(twice)), {}, worker.context)
    whole, told, cursor, turn = EntityName("user_id", maya.subject_id), list[str](), "", 0
    while True:
        page = look_up(None, maya, whole, worker.context, cursor=cursor, limit=37, now=NOW)
        assert len(page.facts) <= 37
        told += [fact.relationship_key for fact in page.facts]
        if page.cursor is None:
            break
        cursor, turn = page.cursor, turn + 1
        gone = twice[2 * (turn * 31 % 250)]
        gone = gone.model_copy(update={"status": Status.ARCHIVED, "version": gone.version + 1})
        fresh = owning(f"new{turn}", f"book {turn * 53 % 250:03} of another shelf")
        publish(Changes(subject=maya, at=NOW, created=(fresh,), updated=(gone,)), {}, worker.context)
    assert turn >= 6
    assert len(told) == len(set(told))
    names = {key.split(":", 3)[-1].split(":")[-1] for key in told}
    assert names >= lasting | {"hiking", "Graz", "Styria", "User"}
    with pytest.raises(InvalidCursor):
        look_up(None, maya, whole, worker.context, cursor="x", now=NOW)


def test_a_summary_without_a_model_is_the_words_of_the_memories(worker: Worker, maya: Subject) -> None:
    summary = sum_up(found(worker, maya, "Graz"), None)
    assert summary.by == "memories"
    assert summary.text == "The city of Graz lies in Styria. Maya's sister Karin lives in Graz."
    assert len(summary.relationship_keys) == 2


def test_a_model_sums_up_and_each_sentence_rests_on_facts_it_was_shown(worker: Worker, maya: Subject) -> None:
    model = Scripted(
        {
            "sentences": [
                {"text": "Graz lies in Styria.", "facts": ["F1"]},
                {"text": "It is rich.", "facts": []},
                {"text": "Karin likes it.", "facts": ["F9"]},
            ]
        }
    )
    known = found(worker, maya, "Graz")
    summary = sum_up(known, guarded(model))
    assert (summary.by, summary.text) == ("model", "Graz lies in Styria.")
    assert summary.relationship_keys == (known.facts[0].relationship_key,)
    assert '"graz lies in Styria"' in model.prompts[0]


@pytest.mark.parametrize("answer", [LLMUnavailable("away"), {"sentences": []}])
def test_a_model_that_says_nothing_of_use_leaves_the_words_of_the_memories(
    worker: Worker, maya: Subject, answer: object
) -> None:
    summary = sum_up(found(worker, maya, "Graz"), guarded(Scripted(answer)))
    assert summary.by == "memories"
    assert summary.text
