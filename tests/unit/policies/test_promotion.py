"""What becomes lasting, and what a person must agree to first."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policies.promotion import candidate, confidence, conflicts, patterns
from schema import Fact, Memory, MemoryType
from tests.unit.policies.builders import NOON, POLICY, memory

SWIMS = Fact(entity="Ana", verb="swims", object="in the lake")
NOW = NOON + timedelta(days=59)


def episode(number: int, **changes: Any) -> Memory:
    at = NOON + timedelta(days=number)
    fields: dict[str, Any] = {"type": MemoryType.EPISODIC, "facts": (SWIMS,), "occurred_at": at, "trust_score": 0.85}
    return memory("Ana swam in the lake.", turn_id=f"t{number}", **{**fields, **changes})


def test_a_fact_of_three_episodes_in_sixty_days_is_a_pattern() -> None:
    [pattern] = patterns([episode(number) for number in range(3)], NOW, POLICY)
    proposed = candidate(pattern, POLICY)
    assert (proposed.type, proposed.facts) == (MemoryType.SEMANTIC, (SWIMS,))
    assert proposed.summary == "Ana swims in the lake."
    assert {proposed.turn_id, *proposed.context_turn_ids} == {"t0", "t1", "t2"}


def test_two_episodes_are_none_nor_is_one_turn_told_three_times() -> None:
    assert patterns([episode(0), episode(1)], NOW, POLICY) == []
    assert patterns([episode(0), episode(0, ordinal=1), episode(0, ordinal=2)], NOW, POLICY) == []


def test_what_is_old_private_or_little_trusted_does_not_count() -> None:
    two = [episode(0), episode(1)]
    assert patterns([*two, episode(2)], NOW + timedelta(days=3), POLICY) == []
    assert patterns([*two, episode(2, private=True)], NOW, POLICY) == []
    assert patterns([*two, episode(2, trust_score=0.7)], NOW, POLICY) == []


def painted(number: int, what: str, **changes: Any) -> Memory:
    fact = Fact(entity="user", verb="painted", object=what)
    return episode(number, **{"facts": (fact,), "tags": ("art",), **changes})


def test_a_tag_of_episodes_in_which_the_same_was_done_is_a_pattern_that_never_does_without_a_person() -> None:
    told = [painted(number, f"picture {number}") for number in range(30)]
    [pattern] = patterns(told, NOW, POLICY)
    assert pattern.fact is None
    assert confidence(pattern, POLICY) < POLICY.promote_confidence
    assert candidate(pattern, POLICY).summary == (
        "Ana painted picture 27, picture 28, picture 29, 30 times between 2 March 2026 and 31 March 2026."
    )


def test_that_somebody_often_speaks_of_something_is_no_pattern() -> None:
    verbs = ("painted", "sold", "admired", "lost", "went to", "went for", "went with")
    told = [
        painted(number, "a picture", facts=(Fact(entity="user", verb=verb, object=f"thing {number}"),))
        for number, verb in enumerate(verbs)
    ]
    assert patterns(told, NOW, POLICY) == []
    assert patterns([painted(number, f"picture {number}", facts=()) for number in range(9)], NOW, POLICY) == []


@pytest.mark.parametrize("tag", ["family", "Work", "personal", "attachment"])
def test_a_tag_that_only_names_a_part_of_life_is_never_promoted(tag: str) -> None:
    told = [painted(number, f"picture {number}", tags=(tag,)) for number in range(9)]
    assert patterns(told, NOW, POLICY) == []


@pytest.mark.parametrize(
    ("tag", "says"), [("loves-black-coffee", "Ana loves black coffee."), ("avoid dairy", "Ana avoids dairy.")]
)
def test_a_tag_that_says_something_by_itself_is_told_as_it_says(tag: str, says: str) -> None:
    [pattern] = patterns([episode(number, facts=(), tags=(tag,)) for number in range(3)], NOW, POLICY)
    assert candidate(pattern, POLICY).summary == says
    assert confidence(pattern, POLICY) < POLICY.promote_confidence


@given(
    st.lists(st.tuples(st.sampled_from(["art", "family", "loves-tea"]), st.booleans(), st.floats(0, 1)), max_size=40)
)
def test_a_pattern_of_a_tag_is_always_below_the_bar(told: list[tuple[str, bool, float]]) -> None:
    episodes = [
        painted(number, f"picture {number}", tags=(tag,), confidence=sure, **({} if does else {"facts": ()}))
        for number, (tag, does, sure) in enumerate(told)
    ]
    for pattern in patterns(episodes, NOW, POLICY):
        assert confidence(pattern, POLICY) < POLICY.promote_confidence
        assert "family" not in pattern.name


def test_what_once_was_is_told_with_how_often_and_when() -> None:
    went = Fact(entity="user", verb="went to", object="the gym")
    [pattern] = patterns([episode(number, facts=(went,)) for number in range(3)], NOW, POLICY)
    assert candidate(pattern, POLICY).summary == ("Ana went to the gym, 3 times between 2 March 2026 and 4 March 2026.")


def test_a_fact_that_contradicts_what_is_known_is_not_promoted() -> None:
    home = Fact(entity="Ana", verb="lives in", object="Porto", attribute="home_city")
    [pattern] = patterns([episode(number, facts=(home,)) for number in range(3)], NOW, POLICY)
    known = memory("Ana lives in Lisbon.", facts=(home.model_copy(update={"object": "Lisbon"}),))
    assert conflicts(pattern, [known])
    assert not conflicts(pattern, [memory("Ana lives in Porto.", facts=(home,))])


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0.71, 1)), min_size=3, max_size=12))
def test_more_of_the_same_makes_surer_and_never_certain(told: list[tuple[float, float]]) -> None:
    episodes = [episode(number, confidence=sure, trust_score=trust) for number, (sure, trust) in enumerate(told)]
    [pattern] = patterns(episodes, NOW, POLICY)
    assert 0.0 <= confidence(pattern, POLICY) <= 0.95
    lone = [episode(number, confidence=0.5) for number in range(len(told))]
    [short], [long] = patterns(lone[:3], NOW, POLICY), patterns(lone, NOW, POLICY)
    assert confidence(short, POLICY) <= confidence(long, POLICY)


def test_no_two_patterns_of_the_same_turn_become_the_same_memory() -> None:
    verbs, objects = (
        ("likes", "loves", "plays", "hates", "owns"),
        ("tea", "eat", "ate", "chess", "rock", "cork", "jazz"),
    )
    facts = [Fact(entity=who, verb=verb, object=what) for who in ("Ana", "Ben") for verb in verbs for what in objects]
    tags = tuple(f"{verb}-{what}" for verb in verbs for what in (*objects, "a-long-walk", "long-walks"))
    told = [
        *(episode(number, facts=tuple(facts)) for number in range(3)),
        *(episode(number, ordinal=1, facts=(), tags=tags) for number in range(3)),
    ]
    proposed = [candidate(pattern, POLICY) for pattern in patterns(told, NOW, POLICY)]
    assert len(proposed) == len(facts) + len(tags)
    assert len({(one.turn_id, one.ordinal) for one in proposed}) == len(proposed)
