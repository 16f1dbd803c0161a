"""How memories fade: what is promised of weights, archives and deletions."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from policies.decay import DecayState, Fate, fate, half_life_days, weight
from schema import Policy, Status

NOW = datetime(2026, 11, 2, 4, 0, tzinfo=UTC)
POLICY = Policy()
LIGHT = Policy(forget_light=True)

shares = st.floats(min_value=0, max_value=1)
days = st.floats(min_value=0, max_value=4000)
statuses = st.sampled_from((Status.ACTIVE, Status.SUPERSEDED, Status.PROVISIONAL, Status.ARCHIVED))


def fading(**changes: Any) -> DecayState:
    fields: dict[str, Any] = {
        "status": Status.ACTIVE,
        "importance": 0.4,
        "pinned": False,
        "legal_hold": False,
        "last_used": NOW,
        "updated_at": NOW,
    }
    return DecayState(**fields | changes)


def test_the_half_lives_are_those_of_the_mechanics() -> None:
    assert [half_life_days(share, POLICY) for share in (1.0, 0.85, 0.84, 0.5, 0.49, 0.2, 0.19, 0.0)] == [
        365, 365, 180, 180, 90, 90, 30, 30,
    ]  # fmt: skip


@given(shares)
def test_a_weight_halves_in_its_half_life(share: float) -> None:
    later = NOW + timedelta(days=half_life_days(share, POLICY))
    assert abs(weight(share, NOW, later, POLICY) - share / 2) < 1e-9


@given(shares, days, days)
def test_a_weight_never_rises_by_waiting(share: float, first: float, more: float) -> None:
    at, later = NOW + timedelta(days=first), NOW + timedelta(days=first + more)
    assert weight(share, NOW, later, POLICY) <= weight(share, NOW, at, POLICY) <= share


@given(shares, statuses, days, days, st.sampled_from((POLICY, LIGHT)), st.booleans())
def test_what_is_pinned_or_held_never_fades(
    share: float, status: Status, unused: float, archived: float, policy: Policy, pinned: bool
) -> None:
    memory = fading(
        status=status,
        importance=share,
        pinned=pinned,
        legal_hold=not pinned,
        last_used=NOW - timedelta(days=unused),
        updated_at=NOW - timedelta(days=archived),
    )
    assert fate(memory, NOW, policy)[0] is Fate.KEEP


@given(shares, days, days)
def test_what_was_archived_once_is_never_kept_later(share: float, first: float, more: float) -> None:
    memory = fading(importance=share)
    at, later = (fate(memory, NOW + timedelta(days=d), POLICY)[0] for d in (first, first + more))
    assert at is Fate.KEEP or later is Fate.ARCHIVE


@given(shares, days)
def test_nothing_goes_without_having_been_archived(share: float, unused: float) -> None:
    memory = fading(importance=share, last_used=NOW - timedelta(days=unused))
    assert fate(memory, NOW, POLICY)[0] is not Fate.DELETE


def test_a_plain_memory_is_archived_two_months_after_its_last_use_and_deleted_half_a_year_later() -> None:
    told = fading(importance=0.17)
    kept = [day for day in range(400) if fate(told, NOW + timedelta(days=day), POLICY)[0] is Fate.KEEP]
    assert kept == list(range(53)), "0.17 halves in 30 days and is below 0.05 on day 53"
    archived = fading(importance=0.17, status=Status.ARCHIVED, updated_at=NOW)
    deleted = [day for day in range(400) if fate(archived, NOW + timedelta(days=day), POLICY)[0] is Fate.DELETE]
    assert deleted[0] == 181


def test_nothing_is_archived_within_a_month_of_its_use_however_little_it_weighs() -> None:
    assert fate(fading(importance=0.0, last_used=NOW - timedelta(days=30)), NOW, POLICY)[0] is Fate.KEEP
    assert fate(fading(importance=0.0, last_used=NOW - timedelta(days=31)), NOW, POLICY)[0] is Fate.ARCHIVE


def test_the_light_rule_deletes_what_is_unimportant_and_unused_for_two_months() -> None:
    unused = NOW - timedelta(days=61)
    assert fate(fading(importance=0.4, last_used=unused), NOW, LIGHT)[0] is Fate.DELETE
    assert fate(fading(importance=0.41, last_used=unused), NOW, LIGHT)[0] is Fate.KEEP
    assert fate(fading(importance=0.4, last_used=NOW - timedelta(days=60)), NOW, LIGHT)[0] is Fate.KEEP


def test_the_reason_has_the_numbers_and_no_content() -> None:
    assert fate(fading(importance=0.1, last_used=NOW - timedelta(days=60)), NOW, POLICY)[1] == (
        "weight 0.025, not used for 60 days"
    )
