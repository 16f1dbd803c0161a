from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policies.retrieval import RECENCY_HALF_LIFE_DAYS, recency, score
from tests.unit.policies.builders import NOON, POLICY

share = st.floats(min_value=0, max_value=1)
NAMES = ("similarity", "importance", "recency", "scope_match", "trust")


def _score(**parts: float) -> float:
    return score(**dict.fromkeys(NAMES, 0.0) | parts, policy=POLICY)


@pytest.mark.parametrize(("part", "weight"), [*zip(NAMES, (0.5, 0.25, 0.15, 0.05, 0.05), strict=True)])
def test_each_part_weighs_what_the_mechanics_say(part: str, weight: float) -> None:
    assert _score(**{part: 1.0}) == pytest.approx(weight)


@given(st.fixed_dictionaries(dict.fromkeys(NAMES, share)), st.sampled_from(NAMES))
def test_a_better_part_never_lowers_the_score(parts: dict[str, float], raised: str) -> None:
    before = _score(**parts)
    assert 0.0 <= before <= 1.0 + 1e-9
    assert _score(**parts | {raised: 1.0}) >= before


def test_a_negative_cosine_counts_as_none() -> None:
    assert _score(similarity=-0.4) == _score(similarity=0.0)


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
