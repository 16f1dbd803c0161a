"""What a message likely ends of what is known."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policies.likely_ended import beside_each_other, likely_ended, of_whom_it_tells

shares = st.floats(0, 1)


def test_what_is_surely_read_as_over_is_and_what_is_far_from_it_is_not() -> None:
    over, other = beside_each_other("We sold the van.", [0.95, 0.01], [0.7, 0.2], 2)
    assert (likely_ended(over), likely_ended(other)) == (True, False)


@pytest.mark.parametrize("opening", ["and ", "Also ", "oh and ", "plus "])
def test_a_message_that_goes_on_with_what_was_said_needs_to_read_surer(opening: str) -> None:
    (alone,) = beside_each_other("the dermatologist is the 14th", [0.5], [0.6], 2)
    (further,) = beside_each_other(f"{opening}the dermatologist is the 14th", [0.5], [0.6], 2)
    assert (likely_ended(alone), likely_ended(further)) == (True, False)


@pytest.mark.parametrize(
    ("said", "named", "tells"),
    [
        ("Ada has moved up to year 5.", [{"Ada"}, {"Bea"}], [True, False]),
        ("Ada has moved up, Bea too.", [{"Ada"}, {"Bea"}], [True, True]),
        ("Ada moved in with us.", [{"Ada"}, set()], [True, True]),
        ("My new boss is Annika.", [{"Prakash"}], [True]),
    ],
)
def test_of_several_people_a_message_tells_of_the_one_whom_it_names(
    said: str, named: list[set[str]], tells: list[bool]
) -> None:
    assert of_whom_it_tells(said, named) == tells


@given(shares, shares, shares, st.integers(1, 60))
def test_what_reads_likelier_to_be_over_is_over_too(read: float, more: float, cosine: float, among: int) -> None:
    (one,) = beside_each_other("We sold the van.", [min(read, more)], [cosine], among)
    (likelier,) = beside_each_other("We sold the van.", [max(read, more)], [cosine], among)
    assert likely_ended(likelier) >= likely_ended(one)
