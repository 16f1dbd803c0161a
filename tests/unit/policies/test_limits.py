from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from policies.limits import within_rate
from tests.unit.policies.builders import POLICY


def test_the_twenty_first_write_of_an_hour_counts_half() -> None:
    assert within_rate(19, False, POLICY) == 1.0
    assert within_rate(20, False, POLICY) == 0.5


@given(st.integers(min_value=0, max_value=10_000))
def test_what_the_user_asked_for_is_never_lowered(writes: int) -> None:
    assert within_rate(writes, True, POLICY) == 1.0


@given(st.integers(min_value=0, max_value=10_000))
def test_more_writes_never_raise_the_factor(writes: int) -> None:
    assert within_rate(writes + 1, False, POLICY) <= within_rate(writes, False, POLICY)
