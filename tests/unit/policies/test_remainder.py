from __future__ import annotations

import uuid
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policies.dedup import Neighbour, decide
from policies.language.remainder import left_alone, remainder_of
from policies.merge import merge, supersede
from policies.unconsolidation import without
from schema import Candidate, DecisionAction, Entity, Fact, Memory, Status
from tests.unit.policies.builders import NOON, POLICY, candidate, from_candidate, memory

LATER = NOON + timedelta(days=9)
VERBS = {"home_city": "lives in", "employer": "works at", "car": "drives", "age": "is aged"}
VALUES = {
    "home_city": ("Lisbon", "Porto", "Faro"),
    "employer": ("Initech", "Hooli", "Globex"),
    "car": ("Volvo", "Fiat", "Tesla"),
    "age": ("34", "35", "36"),
}


def _fact(attribute: str, value: str, entity: str = "user") -> Fact:
    return Fact(entity=entity, verb=VERBS[attribute], object=value, attribute=attribute)


def _left(old: Memory, by: Memory, *others: Memory, name: str | None = "Ana") -> list[str]:
    return [one.summary for one in remainder_of(old, by, others, name, LATER, "p")]


ALL = memory(
    "Ana, 34, lives in Lisbon with two cats and works at Initech.",
    facts=(_fact("age", "34"), _fact("home_city", "Lisbon"), _fact("employer", "Initech")),
    entities=(Entity(text="Lisbon", type="LOCATION"), Entity(text="Initech", type="ORG")),
    pinned=True,
    private=True,
)
MOVED = memory("Ana moved to Porto.", turn_id="t2", facts=(_fact("home_city", "Porto"),))


def test_what_one_change_leaves_untouched_stays_known_one_fact_a_memory() -> None:
    assert sorted(_left(ALL, MOVED)) == ["Ana is 34.", "Ana works at Initech."]


def test_what_remains_carries_the_labels_turns_and_times_of_what_it_was_a_part_of() -> None:
    [job, age] = remainder_of(ALL, MOVED, (), "Ana", LATER, "p")
    assert (job.facts, age.facts) == ((_fact("employer", "Initech"),), (_fact("age", "34"),))
    assert [entity.text for entity in job.entities] == ["Initech"]
    assert (job.merged_from, job.related_ids[0]) == ((ALL.id,), MOVED.id)
    assert (job.source_turn_ids, job.said_at, job.occurred_at) == (ALL.source_turn_ids, ALL.said_at, ALL.occurred_at)
    assert (job.status, job.pinned, job.private, job.created_at, job.version) == (Status.ACTIVE, True, True, LATER, 1)
    assert job.id != age.id
    assert [one.id for one in remainder_of(ALL, MOVED, (), None, NOON, "q")] == [job.id, age.id]


def test_what_says_all_that_was_superseded_does_not_remain() -> None:
    diet = Fact(entity="user", verb="is", object="vegetarian", attribute="diet")
    assert not _left(memory("Ana is vegetarian.", facts=(diet,)), memory("Ana eats fish again now.", turn_id="t2"))


def test_what_may_have_ended_with_what_changed_does_not_remain() -> None:
    job = Fact(entity="user", verb="works as", object="welder", attribute="job_title")
    old = memory("Ana works at Initech as a welder.", facts=(_fact("employer", "Initech"), job))
    joined = memory("Ana joined Hooli.", turn_id="t2", facts=(_fact("employer", "Hooli"),))
    assert _left(old, joined) == []
    moved = memory(
        "Ana moved to Porto and works at Initech as a welder.", facts=(_fact("home_city", "Faro"), *old.facts)
    )
    assert _left(moved, MOVED) == ["Ana works as a welder.", "Ana works at Initech."]


def test_what_goes_with_what_words_end_does_not_remain() -> None:
    partner = Fact(entity="user", verb="is engaged to", object="Sami", attribute="partner")
    engaged = Fact(entity="user", verb="is", object="engaged", attribute="marital_status")
    old = memory("Ana is engaged to Sami.", facts=(partner, engaged))
    assert _left(old, memory("Sami and Ana called it off.", turn_id="t2")) == []


def test_nothing_remains_of_what_said_one_thing() -> None:
    assert _left(memory("Ana lives in Lisbon.", facts=(_fact("home_city", "Lisbon"),)), MOVED) == []


def test_what_another_memory_says_or_says_otherwise_is_left_to_it() -> None:
    same = memory("Ana is employed by Initech.", turn_id="t3", facts=(_fact("employer", "Initech"),))
    other = memory("Ana works at Hooli.", turn_id="t3", facts=(_fact("employer", "Hooli"),))
    assert _left(ALL, MOVED, same) == _left(ALL, MOVED, other) == ["Ana is 34."]


def test_an_amount_that_another_amount_corrects_does_not_remain() -> None:
    age = Fact(entity="user's mother", verb="is", object="71", attribute="age")
    old = memory("Ana's mother is 71 and lives in Nagpur.", facts=(age, _fact("home_city", "Nagpur", "user's mother")))
    assert _left(old, memory('Ana: "sorry 72, she just corrected me."', turn_id="t2")) == [
        "Ana's mother lives in Nagpur."
    ]


def test_the_only_value_of_what_words_end_does_not_remain() -> None:
    old = memory("Ana drives a Skoda, fifteen years old.", facts=(_fact("car", "Skoda"),))
    assert _left(old, memory("Ana switched to a Fiat.", turn_id="t2")) == []


def test_words_that_contradict_leave_only_the_facts_that_they_do_not_speak_of() -> None:
    old = memory("Ana lives in Lisbon and has 2 cats.", facts=(_fact("home_city", "Lisbon"),))
    assert _left(old, memory("Ana has 3 cats.", turn_id="t2")) == ["Ana lives in Lisbon."]
    assert _left(old, memory("Ana does not live in that city any more.", turn_id="t2")) == []


@pytest.mark.parametrize(
    ("entity", "name", "told"),
    [
        ("user", "Ana", "Ana drives a Volvo."),
        ("user", None, "The user drives a Volvo."),
        ("user", "Bea", "The user drives a Volvo."),
        ("user's sister", "Ana", "Ana's sister drives a Volvo."),
        ("Tom", "Ana", "Tom drives a Volvo."),
    ],
)
def test_it_says_of_whom_it_holds(entity: str, name: str | None, told: str) -> None:
    old = memory("So Ana said.", facts=(_fact("home_city", "Lisbon"), _fact("car", "Volvo", entity)))
    assert _left(old, MOVED, name=name) == [told]


def test_with_what_remains_goes_what_it_was_a_part_of_when_it_is_erased() -> None:
    job = remainder_of(ALL, MOVED, (), "Ana", LATER, "p")[0]
    gone = without([job.id], {job.id: job, ALL.id: ALL}, NOON, POLICY)
    assert {one.id for one in gone.deleted} == {job.id, ALL.id}


statements = st.dictionaries(st.sampled_from(sorted(VERBS)), st.integers(0, 2), min_size=1, max_size=3)


def _said(values: dict[str, int], number: int, in_words: bool) -> Candidate:
    facts = tuple(_fact(attribute, VALUES[attribute][place]) for attribute, place in values.items())
    clauses = " and ".join(f"{fact.verb} {fact.object}" for fact in facts)
    at = NOON + timedelta(minutes=number)
    words = f"Ana {clauses}." if in_words else f"All in all Ana {clauses}, as she told on the phone."
    return candidate(words, turn_id=f"turn-{number}", facts=facts, occurred_at=at, said_at=at)


@given(st.lists(st.tuples(statements, st.booleans(), st.floats(0, 1)), min_size=1, max_size=8))
def test_after_any_statements_of_several_things_each_ones_last_value_is_told_and_no_other(
    said: list[tuple[dict[str, int], bool, float]],
) -> None:
    active: dict[uuid.UUID, Memory] = {}
    last: dict[str, str] = {}
    for number, (values, in_words, cosine) in enumerate(said):
        statement = _said(values, number, in_words)
        last |= {fact.attribute: fact.object for fact in statement.facts if fact.attribute}
        known = list(active.values())
        near = [Neighbour(one, cosine) for one in known]
        decision = decide(statement, near, known, POLICY, statement.said_at)
        if decision.action is DecisionAction.UPDATE:
            [target] = decision.targets
            by = active[target] = merge(active[target], statement, 0.5, statement.said_at, "p")
        else:
            by = from_candidate(statement)
            active[by.id] = by
        replaced = [active.pop(id_) for id_ in (*decision.outdated, *decision.targets) if id_ != by.id]
        for old in replaced:
            assert supersede(old, by.id, LATER).status is Status.SUPERSEDED
            active |= {one.id: one for one in remainder_of(old, by, list(active.values()), "Ana", LATER, "p")}
        told = {(fact.attribute, fact.object) for one in active.values() for fact in one.facts}
        assert told == set(last.items())
        assert all(any(value in one.summary for one in active.values()) for value in last.values())
        outdated = {value for values in VALUES.values() for value in values} - set(last.values())
        assert not any(value in one.summary for one in active.values() for value in outdated)


def test_what_is_told_beside_an_amount_that_changed_stays_known() -> None:
    saving = memory(
        "Ana is saving 12,000 for a kitchen by June 2027.",
        facts=(Fact(entity="user", verb="is saving", object="12,000"),),
        entities=(Entity(text="June 2027", type="DATE"),),
    )
    assert _left(saving, memory("Ana's budget for the kitchen is now 15,000.", turn_id="t2")) == [
        "Ana is saving for a kitchen by June 2027."
    ]
    for ended in ("Ana gave up on the kitchen, the 15,000 go into the roof.", "Ana no longer saves for a kitchen."):
        assert _left(saving, memory(ended, turn_id="t2")) == []


def test_what_is_told_beside_a_day_that_moved_stays_known_of_the_new_day() -> None:
    meeting = memory(
        "Ana meets the architect Ines on 4 May 2026 in Porto.",
        entities=(Entity(text="Ines", type="PERSON"), Entity(text="4 May 2026", type="DATE")),
    )
    moved = memory(
        "The architect moved Ana to 11 May 2026.",
        turn_id="t2",
        entities=(Entity(text="11 May 2026", type="DATE"),),
        occurred_at=LATER,
    )
    [rest] = remainder_of(meeting, moved, (), "Ana", LATER, "p")
    assert (rest.summary, rest.occurred_at) == ("Ana meets the architect Ines in Porto.", LATER)
    assert _left(meeting, memory("The meeting was moved to 11 May 2026 and is with Ben.", turn_id="t2")) == []


def test_a_fact_goes_with_the_words_that_bore_it_out() -> None:
    old = memory(
        "The user works as a cook and lives with their boyfriend Max.",
        facts=(
            Fact(entity="user", verb="works as", object="cook", attribute="job_title"),
            Fact(entity="Max", verb="lives with", object="user"),
        ),
    )
    left = left_alone(old, MOVED, "The user works as a cook.", LATER, "p")
    assert [fact.object for fact in left.facts] == ["cook"]
