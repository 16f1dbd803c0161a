from __future__ import annotations

from datetime import timedelta
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policies.retrieval import RECENCY_HALF_LIFE_DAYS, Match, in_context, recency, relevances, score
from tests.unit.policies.builders import NOON, POLICY

share = st.floats(min_value=0, max_value=1)
NAMES = ("relevance", "importance", "recency", "scope_match", "trust")


def _score(**parts: float) -> float:
    return score(**dict.fromkeys(NAMES, 0.0) | parts, policy=POLICY)


WEIGHTS = {name: getattr(POLICY, f"retrieval_{name.removesuffix('_match')}_weight") for name in NAMES}


@pytest.mark.parametrize("part", NAMES)
def test_each_part_weighs_what_the_policy_says(part: str) -> None:
    assert _score(**{part: 1.0}) == pytest.approx(WEIGHTS[part])


def test_a_perfect_memory_scores_one() -> None:
    assert sum(WEIGHTS.values()) == pytest.approx(1.0)


@given(st.fixed_dictionaries(dict.fromkeys(NAMES, share)), st.sampled_from(NAMES))
def test_a_better_part_never_lowers_the_score(parts: dict[str, float], raised: str) -> None:
    before = _score(**parts)
    assert 0.0 <= before <= 1.0 + 1e-9
    assert _score(**parts | {raised: 1.0}) >= before


shares = st.floats(min_value=0, max_value=1)
matches = st.builds(
    Match,
    cosine=st.floats(min_value=-1, max_value=1),
    words=st.floats(min_value=0, max_value=30),
    conversation_id=st.sampled_from(["c1", "c2", None]),
    said_at=st.integers(min_value=0, max_value=90).map(lambda minutes: NOON + timedelta(minutes=minutes)),
)


def a_match(cosine: float = 0.0, words: float = 0.0, minute: float = 0.0, conversation_id: str | None = "c1") -> Match:
    return Match(cosine, words, conversation_id, NOON + timedelta(minutes=minute))


@given(st.lists(matches, max_size=12))
def test_relevances_are_shares_of_the_best(found: list[Match]) -> None:
    said = relevances(found, POLICY)
    assert len(said) == len(found)
    assert all(0.0 <= one <= 1.0 + 1e-9 for one in said)
    if any(match.cosine > 0 or match.words > 0 for match in found):
        assert max(said) == pytest.approx(1.0)


@given(st.lists(matches, min_size=1, max_size=12), st.randoms())
def test_relevance_does_not_depend_on_the_order_of_matches(found: list[Match], chance: Random) -> None:
    order = list(range(len(found)))
    chance.shuffle(order)
    said = relevances(found, POLICY)
    shuffled = relevances([found[place] for place in order], POLICY)
    assert shuffled == pytest.approx([said[place] for place in order])


def test_a_negative_cosine_counts_as_none() -> None:
    assert relevances([a_match(0.8), a_match(-0.4, minute=900)], POLICY)[1] == pytest.approx(0.0, abs=1e-6)


def test_words_and_meaning_weigh_what_the_policy_says() -> None:
    by_meaning, by_words = relevances(
        [a_match(cosine=0.7, conversation_id=None), a_match(words=5.0, conversation_id=None)], POLICY
    )
    assert by_words / by_meaning == pytest.approx(
        POLICY.retrieval_words_weight / (1 - POLICY.retrieval_words_weight), rel=1e-6
    )


@given(
    st.lists(matches, max_size=12).flatmap(
        lambda found: st.tuples(st.just(found), st.lists(shares, min_size=len(found), max_size=len(found)))
    )
)
def test_context_raises_by_the_best_neighbour_of_the_same_conversation(case: tuple[list[Match], list[float]]) -> None:
    found, own = case

    def near(one: Match, other: Match) -> float:
        minutes = abs((one.said_at - other.said_at).total_seconds()) / 60
        together = one.conversation_id == other.conversation_id and one.conversation_id is not None and minutes > 0
        return 0.5 ** (minutes / POLICY.retrieval_context_half_life_minutes) if together else 0.0

    expected = [
        mine
        + POLICY.retrieval_context_weight * max((near(one, o) * r for o, r in zip(found, own, strict=True)), default=0)
        for one, mine in zip(found, own, strict=True)
    ]
    assert in_context(found, own, POLICY) == pytest.approx(expected)


def test_memories_of_one_moment_do_not_raise_each_other() -> None:
    assert in_context([a_match(), a_match()], [1.0, 0.5], POLICY) == [1.0, 0.5]


def test_recency_halves_with_each_half_life() -> None:
    assert recency(NOON, NOON) == 1.0
    assert recency(NOON - timedelta(days=RECENCY_HALF_LIFE_DAYS), NOON) == pytest.approx(0.5)
    assert recency(NOON - timedelta(days=2 * RECENCY_HALF_LIFE_DAYS), NOON) == pytest.approx(0.25)


def test_what_is_dated_ahead_is_as_recent_as_can_be() -> None:
    assert recency(NOON + timedelta(days=5), NOON) == 1.0


@given(st.integers(min_value=0, max_value=100_000), st.integers(min_value=0, max_value=100_000))
def test_the_later_is_never_less_recent(one: int, other: int) -> None:
    early, late = sorted((NOON - timedelta(hours=one), NOON - timedelta(hours=other)))
    assert 0.0 <= recency(early, NOON) <= recency(late, NOON) <= 1.0
