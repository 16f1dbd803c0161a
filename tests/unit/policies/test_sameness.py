from __future__ import annotations

from datetime import datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policies.sameness import Statement, compare, compare_facts, compare_texts, weighed
from schema import Entity, Fact, MemoryType, SameFact
from tests.unit.policies.builders import NOON, POLICY, candidate, facts, memory, moments, summaries

SAME, CHANGED, DIFFERENT, UNSURE = SameFact.SAME, SameFact.CHANGED, SameFact.DIFFERENT, SameFact.UNSURE


@st.composite
def statements(draw: st.DrawFn) -> Statement:
    return Statement(
        summary=draw(summaries),
        entities=(),
        facts=draw(facts),
        category=draw(st.sampled_from(("Personal", "Finance"))),
        type=draw(st.sampled_from((MemoryType.SEMANTIC, MemoryType.EPISODIC))),
        occurred_at=draw(moments),
    )


def _statement(summary: str, *, at: datetime = NOON, **changes: object) -> Statement:
    return Statement.of(candidate(summary, occurred_at=at, **changes))


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("The user has two kids.", "The user has 2 children."),
        ("The user earns $12k a month.", "The user earns 12,000 dollars a month."),
        ("The user's rent is 1,200 euros.", "The user's rent is €1200."),
        ("The user is allergic to peanuts.", "The user has a peanut allergy."),
        ("The user likes hiking.", "The user enjoys hikes in the mountains."),
        ("The user hates flying.", "The user can't stand flying."),
        ("The user lives in Lisbon.", "The user lives in Lisbon, Portugal."),
        ("The user's kids are Tom and Mia.", "The user's kids are Mia and Tom."),
        ("The user is twenty-five years old.", "The user is 25 years old."),
        ("The user lives in Lisbon.", "In Lisbon the user lives."),
    ],
)
def test_the_same_fact_in_other_words_is_the_same(a: str, b: str) -> None:
    assert compare_texts(a, b) is SAME


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("The user lives in Lisbon.", "The user moved to Porto."),
        ("The user likes coffee.", "The user hates coffee."),
        ("The user is a vegetarian.", "The user loves steak."),
        ("The user works at Initech.", "The user no longer works at Initech."),
        ("The user owns a kayak.", "The user sold the kayak last week."),
        ("The user smokes.", "The user quit smoking."),
        ("The user smokes a pack a day.", "The user quit smoking in May."),
        ("The user takes 20 mg of Prozac.", "The user stopped taking Prozac."),
        ("The user plays tennis every week.", "The user stopped playing tennis."),
        ("The user uses Android.", "The user switched from Android to iPhone."),
        ("The user is married.", "The user is divorced."),
        ("The user has a meeting on Monday.", "The user has a meeting on Tuesday."),
        ("The user is 34 years old.", "The user is 35 years old."),
        ("The user has two kids.", "The user has three kids."),
        ("The user's flight is at 7:30.", "The user's flight is at 9:15."),
        ("The user prefers tea over coffee.", "The user prefers coffee over tea."),
        ("The user can swim.", "The user cannot swim."),
        ("The user works as a teacher.", "The user works as a nurse."),
        ("The user drew a girl beside a small boy.", "The user drew a boy beside a small boy."),
        ("The user looks after the older horse.", "The user looks after the young horse."),
    ],
)
def test_what_cannot_hold_beside_it_any_more_is_a_change(a: str, b: str) -> None:
    assert compare_texts(a, b) is CHANGED


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("The user likes coffee.", "The user likes tea."),
        ("The user has been to Paris.", "The user has been to Rome."),
        ("The user's sister lives in Lisbon.", "The user lives in Porto."),
        ("The user's sister is a vegetarian.", "The user loves steak."),
        ("Anna lent Bob 50 dollars.", "Bob lent Anna 50 dollars."),
        ("The user has three dogs.", "The user has two cats."),
        ("The user lived in Berlin.", "The user lives in Lisbon."),
        ("The user enjoys jazz.", "The quarterly budget review is due."),
        ("The user wore a blue shirt and white socks.", "The user wore a blue shirt and blue socks."),
        ("The user's team objected to the plan for a new office.", "The user's team has a plan for a new office."),
        ("The user used to live in Porto.", "The user lives in Braga."),
        ("The user's cat is called Miso.", "The user's other cat is called Tofu."),
    ],
)
def test_what_may_stand_beside_it_is_different(a: str, b: str) -> None:
    assert compare_texts(a, b) is DIFFERENT


@given(statements(), statements())
def test_the_order_of_two_statements_does_not_matter(a: Statement, b: Statement) -> None:
    assert compare(a, b, POLICY) is compare(b, a, POLICY)


@given(statements())
def test_a_statement_is_the_same_as_itself(statement: Statement) -> None:
    assert compare(statement, statement, POLICY) is SAME


@given(st.text(max_size=400), st.text(max_size=400))
def test_any_two_texts_can_be_compared_either_way(a: str, b: str) -> None:
    assert compare_texts(a, b) is compare_texts(b, a)


@given(st.integers(min_value=2, max_value=89), st.integers(min_value=2, max_value=89))
def test_other_numbers_of_the_same_thing_are_never_the_same(one: int, other: int) -> None:
    said = compare_texts(f"The user has {one} chickens.", f"The user has {other} chickens.")
    assert (said is SAME) == (one == other)


@given(summaries)
def test_a_negated_statement_is_never_the_same(summary: str) -> None:
    negated = summary.replace("The user ", "It is not true that the user ", 1)
    if negated != summary and " no " not in summary and " not " not in summary:
        assert compare_texts(summary, negated) is not SAME


def _fact(object_: str, attribute: str | None = "home_city", verb: str = "lives in", entity: str = "user") -> Fact:
    return Fact(entity=entity, verb=verb, object=object_, attribute=attribute)


def test_another_value_of_an_attribute_is_a_change_however_it_is_worded() -> None:
    here = _statement("The user is at home in Lisbon.", facts=(_fact("Lisbon"),))
    there = _statement(
        "Porto has become where the user sleeps.", facts=(_fact("Porto", entity="User", verb="sleeps in"),)
    )
    assert compare(here, there, POLICY) is CHANGED


def test_the_same_value_of_an_attribute_is_the_same_however_it_is_worded() -> None:
    here = _statement("The user is at home in Lisbon.", facts=(_fact("Lisbon"),))
    there = _statement("Where the user sleeps is Lisbon, mostly.", facts=(_fact("Lisbon, Portugal"),))
    assert compare(here, there, POLICY) is SAME


def test_the_same_object_with_the_opposite_verb_is_a_change() -> None:
    assert compare_facts((_fact("tea", None, "likes"),), (_fact("tea", None, "hates"),)) is CHANGED
    assert compare_facts((_fact("tea", None, "likes"),), (_fact("tea", None, "does not like"),)) is CHANGED


def test_facts_without_an_attribute_stand_side_by_side() -> None:
    assert compare_facts((_fact("tea", None, "likes"),), (_fact("milk", None, "likes"),)) is UNSURE


def test_alike_episodes_beyond_the_window_are_two() -> None:
    then = _statement("The user went for a run.", type=MemoryType.EPISODIC)
    hours = POLICY.episodic_merge_window_hours
    soon = _statement("The user went for a run.", type=MemoryType.EPISODIC, at=NOON + timedelta(hours=hours))
    late = _statement("The user went for a run.", type=MemoryType.EPISODIC, at=NOON + timedelta(hours=hours + 1))
    assert compare(then, soon, POLICY) is SAME
    assert compare(then, late, POLICY) is DIFFERENT


def test_another_number_is_another_event_but_a_changed_fact() -> None:
    for type_, expected in ((MemoryType.EPISODIC, DIFFERENT), (MemoryType.SEMANTIC, CHANGED)):
        short = _statement("The user ran 5 km along the river.", type=type_)
        long = _statement("The user ran 10 km along the river.", type=type_)
        assert compare(short, long, POLICY) is expected


def test_an_appointment_on_another_day_is_a_changed_one_even_as_an_episode() -> None:
    before = _statement("The user has a dentist appointment on Monday.", type=MemoryType.EPISODIC)
    after = _statement("The user has a dentist appointment on Tuesday.", type=MemoryType.EPISODIC)
    assert compare(before, after, POLICY) is CHANGED


def test_another_category_settles_a_doubt_to_different() -> None:
    here = _statement("The user plans a garden shed for spring.")
    there = _statement("The user wants a small shed built near the roses.")
    assert compare(here, there, POLICY) is UNSURE
    elsewhere = _statement("The user wants a small shed built near the roses.", category="Finance")
    assert compare(here, elsewhere, POLICY) is DIFFERENT


def test_shared_names_settle_a_doubt_to_the_same_if_the_policy_says_so() -> None:
    names = (Entity(text="Maria", type="PERSON"), Entity(text="Initech", type="ORG"))
    here = _statement("Maria joined Initech to lead the payroll team.", entities=names)
    there = _statement("Maria took over payroll leadership: the Initech team is glad.", entities=names)
    assert compare(here, there, POLICY) is SAME
    without = POLICY.model_copy(update={"memory_enable_entity_heuristics": False})
    assert compare(here, there, without) is UNSURE


def test_memories_and_candidates_are_the_same_kind_of_statement() -> None:
    assert Statement.of(candidate("The user likes tea.")) == Statement.of(memory("The user likes tea."))


def test_who_halts_somewhere_has_not_ended_anything() -> None:
    assert compare_texts("The user owns a bakery.", "The user stopped at the bakery.") is not CHANGED


def test_a_relative_is_not_the_user() -> None:
    assert compare_texts("The user's sister lives in Lisbon.", "The user lives in Lisbon.") is DIFFERENT
    assert compare_texts("The user's sister lives in Lisbon.", "The user's sister resides in Lisbon.") is SAME


def test_what_is_done_at_home_says_nothing_of_where_home_is() -> None:
    assert compare_texts("The user speaks Dutch at home.", "The user speaks Polish at home.") is not CHANGED


@pytest.mark.parametrize(
    ("a", "b", "similarity", "expected"),
    [
        ("The user repairs old radios in a shed.", "In the shed the user mends old broken radios.", 0.80, SAME),
        ("The user repairs old radios in a shed.", "In the shed the user mends old broken radios.", 0.60, UNSURE),
        ("The user reads books on gardening.", "The user reads books on history.", 0.89, UNSURE),
    ],
)
def test_shared_words_lower_the_cosine_that_is_enough_but_not_for_one_word_in_the_place_of_another(
    a: str, b: str, similarity: float, expected: SameFact
) -> None:
    one, other = _statement(a), _statement(b)
    assert compare(one, other, POLICY) is UNSURE
    assert weighed(UNSURE, one, other, similarity, 0.90) is expected


def test_words_alone_do_not_make_the_same_of_what_the_cosine_finds_far_apart() -> None:
    one, other = _statement("The user has a dog."), _statement("The user has a dog that barks at night.")
    assert weighed(SAME, one, other, 0.66, 0.90) is UNSURE
    assert weighed(SAME, one, one, 0.66, 0.90) is SAME
