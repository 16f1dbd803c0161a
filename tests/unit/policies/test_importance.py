from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policies.decay import half_life_days
from policies.importance import affect, from_five, importance, proactivity_weight, source_trust, to_five, use
from schema import Kind, MemoryType, Policy, Valence
from tests.unit.policies.builders import POLICY

share = st.floats(min_value=0, max_value=1)
flag = st.booleans()
EPISODIC = MemoryType.EPISODIC
BY_THE_SUM = POLICY.model_copy(update={"importance_kind_weight": 0.0})
count = st.integers(min_value=0, max_value=10_000)


def _importance(
    pinned: bool = False,
    trust: float = 0.0,
    access_count: int = 0,
    valence: Valence = Valence.NEUTRAL,
    intensity: float = 0.0,
    explicit: bool = False,
    kind: Kind = Kind.USER_FACT,
    policy: Policy = BY_THE_SUM,
    type_: MemoryType = MemoryType.SEMANTIC,
) -> float:
    return importance(
        pinned=pinned,
        trust=trust,
        access_count=access_count,
        valence=valence,
        intensity=intensity,
        explicit=explicit,
        kind=kind,
        type_=type_,
        policy=policy,
    )


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({}, 0.0),
        ({"pinned": True}, 0.25),
        ({"trust": 1.0}, 0.20),
        ({"trust": 0.85}, 0.17),
        ({"access_count": 9}, 0.20),
        ({"access_count": 10_000}, 0.20),
        ({"valence": Valence.POSITIVE, "intensity": 1.0}, 0.20),
        ({"valence": Valence.NEGATIVE, "intensity": 1.0}, 0.16),
        ({"explicit": True}, 0.15),
        ({"trust": 0.85, "valence": Valence.POSITIVE, "intensity": 0.7, "explicit": True}, 0.46),
        (
            {
                "pinned": True,
                "trust": 1.0,
                "access_count": 9,
                "valence": Valence.POSITIVE,
                "intensity": 1.0,
                "explicit": True,
            },
            1.0,
        ),
    ],
)
def test_importance_is_the_weighted_sum_of_the_mechanics(given: dict[str, object], expected: float) -> None:
    assert _importance(**given) == pytest.approx(expected)  # type: ignore[arg-type]


@given(flag, share, count, st.sampled_from(Valence), share, flag)
def test_importance_never_falls_when_anything_rises(
    pinned: bool, trust: float, accesses: int, valence: Valence, intensity: float, explicit: bool
) -> None:
    base = _importance(pinned, trust, accesses, valence, intensity, explicit)
    assert 0.0 <= base <= 1.0
    assert _importance(True, trust, accesses, valence, intensity, explicit) >= base
    assert _importance(pinned, min(1.0, trust + 0.1), accesses, valence, intensity, explicit) >= base
    assert _importance(pinned, trust, accesses + 1, valence, intensity, explicit) >= base
    assert _importance(pinned, trust, accesses, valence, min(1.0, intensity + 0.1), explicit) >= base
    assert _importance(pinned, trust, accesses, valence, intensity, True) >= base


@given(st.sampled_from(Kind), share, share)
def test_a_memory_matters_at_least_as_much_as_its_kind_does_by_itself(kind: Kind, trust: float, weight: float) -> None:
    policy = POLICY.model_copy(update={"importance_kind_weight": weight})
    least = _importance(kind=kind, policy=policy)
    assert least == pytest.approx(weight * _importance(kind=kind, policy=POLICY))
    assert _importance(trust=trust, kind=kind, policy=policy) == max(least, _importance(trust=trust))


@pytest.mark.parametrize("kind", [Kind.USER_FACT, Kind.USER_PREFERENCE, Kind.AGENT_PROCEDURE])
def test_what_somebody_is_or_likes_has_the_longest_half_life(kind: Kind) -> None:
    assert half_life_days(_importance(trust=0.85, kind=kind, policy=POLICY), POLICY) == POLICY.half_life_high_days


@pytest.mark.parametrize("kind", Kind)
def test_what_happened_once_fades_before_what_is_so(kind: Kind) -> None:
    happened, is_so = (_importance(kind=kind, policy=POLICY, type_=type_) for type_ in (EPISODIC, MemoryType.SEMANTIC))
    assert happened == min(is_so, 0.55)


def test_a_memory_is_fully_used_after_nine_accesses() -> None:
    assert use(0) == 0.0
    assert use(8) < 1.0
    assert use(9) == pytest.approx(1.0)
    assert use(100) == 1.0


def test_a_negative_feeling_counts_four_fifths() -> None:
    assert affect(Valence.NEGATIVE, 0.5, POLICY) == pytest.approx(0.4)
    assert affect(Valence.POSITIVE, 0.5, POLICY) == pytest.approx(0.5)


def test_what_comes_from_elsewhere_is_not_trusted_enough_to_be_promoted() -> None:
    assert source_trust("bank_api") > source_trust("chat") == 0.85
    assert max(source_trust("external"), source_trust("instagram")) < 0.7


def test_the_private_and_the_agents_own_work_are_never_brought_up_unasked() -> None:
    assert proactivity_weight(kind=Kind.USER_FACT, importance=1.0, trust=1.0, private=True) == 0.0
    assert proactivity_weight(kind=Kind.AGENT_PROCEDURE, importance=1.0, trust=1.0, private=False) == 0.0
    assert proactivity_weight(kind=Kind.PROACTIVE_ACTION, importance=1.0, trust=1.0, private=False) == 1.0


@given(st.sampled_from(Kind), share, share)
def test_proactivity_is_a_share(kind: Kind, weight: float, trust: float) -> None:
    assert 0.0 <= proactivity_weight(kind=kind, importance=weight, trust=trust, private=False) <= 1.0


@given(st.integers(min_value=1, max_value=5))
def test_stars_survive_the_way_there_and_back(stars: int) -> None:
    assert to_five(from_five(stars)) == stars
    assert 0.2 <= from_five(stars) <= 1.0


@pytest.mark.parametrize(("weight", "stars"), [(0.0, 1), (0.29, 1), (0.3, 2), (0.5, 3), (0.63, 3), (1.0, 5)])
def test_importance_shows_as_the_nearest_star(weight: float, stars: int) -> None:
    assert to_five(weight) == stars


@pytest.mark.parametrize("stars", [0, 6, -1])
def test_there_are_no_stars_beyond_one_to_five(stars: int) -> None:
    with pytest.raises(ValueError, match="from 1 to 5"):
        from_five(stars)
