from __future__ import annotations

from hypothesis import given

from policies.facts import compare_facts
from schema import Fact, SameFact
from tests.unit.policies.builders import facts

SAME, CHANGED, DIFFERENT, UNSURE = SameFact.SAME, SameFact.CHANGED, SameFact.DIFFERENT, SameFact.UNSURE


def _fact(object_: str, attribute: str | None = "home_city", verb: str = "lives in", entity: str = "user") -> Fact:
    return Fact(entity=entity, verb=verb, object=object_, attribute=attribute)


def test_another_value_of_what_there_is_one_of_is_a_change_however_it_is_worded() -> None:
    assert compare_facts((_fact("Lisbon"),), (_fact("Porto", entity="User", verb="sleeps in"),)) is CHANGED


def test_the_same_value_is_the_same_however_it_is_worded() -> None:
    assert compare_facts((_fact("Lisbon"),), (_fact("Lisbon, Portugal", verb="sleeps in"),)) is SAME


def test_of_what_there_may_be_several_each_stands() -> None:
    assert compare_facts((_fact("Isla", "child", "has"),), (_fact("Rory", "child", "has"),)) is UNSURE


def test_one_value_per_thing_is_one_of_each_thing() -> None:
    book = _fact("Beloved", "favourite", "has as favourite book")
    assert compare_facts((book,), (_fact("Moonlight", "favourite", "has as favourite film"),)) is UNSURE
    assert compare_facts((book,), (_fact("Dune", "favourite", "has as favourite book"),)) is CHANGED


def test_what_is_said_of_people_of_other_names_is_another_fact() -> None:
    ines, jan = (_fact("chess", None, "plays", f"user's friend {name}") for name in ("Ines", "Jan"))
    assert compare_facts((ines,), (jan,)) is DIFFERENT
    assert compare_facts((ines,), (ines,)) is UNSURE


def test_what_is_said_of_somebody_else_changes_nothing() -> None:
    assert compare_facts((_fact("Lisbon"),), (_fact("Porto", entity="Tom"),)) is UNSURE


def test_a_thing_that_ended_contradicts_that_it_is() -> None:
    assert compare_facts((_fact("tea", None, "likes"),), (_fact("tea", None, "does not like"),)) is CHANGED
    assert compare_facts((_fact("a kayak", None, "owns"),), (_fact("a kayak", None, "sold"),)) is CHANGED


def test_that_one_thing_ended_says_nothing_of_another() -> None:
    ended, holds = _fact("Initech", "employer", "no longer works at"), _fact("Hooli", "employer", "works at")
    assert compare_facts((ended,), (holds,)) is DIFFERENT


def test_facts_without_an_attribute_stand_side_by_side() -> None:
    assert compare_facts((_fact("tea", None, "likes"),), (_fact("milk", None, "likes"),)) is UNSURE


@given(facts, facts)
def test_the_order_of_two_statements_does_not_matter(a: tuple[Fact, ...], b: tuple[Fact, ...]) -> None:
    assert compare_facts(a, b) is compare_facts(b, a)
