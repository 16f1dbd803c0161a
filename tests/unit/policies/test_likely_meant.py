"""Which things a message likely means."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from policies.likely_meant import likely_meant

shares = st.floats(0, 1)


def test_what_is_surely_read_as_meant_is_and_what_is_far_from_it_is_not() -> None:
    assert likely_meant([(0.9, 0.3), (0.01, 0.1)]) == (0,)


def test_several_things_may_be_meant_that_are_about_as_likely() -> None:
    assert likely_meant([(0.9, 0.3), (0.7, 0.4), (0.0, 0.1)]) == (0, 1)


def test_of_what_was_not_read_nothing_is_meant() -> None:
    assert likely_meant([(None, 0.9), (0.9, None)]) == ()


def test_nothing_is_meant_of_nothing() -> None:
    assert likely_meant([]) == ()


@given(st.lists(st.tuples(shares, shares), min_size=1, max_size=5), st.data())
def test_what_is_likelier_and_nearer_than_what_is_meant_is_meant_too(
    things: list[tuple[float, float]], data: st.DataObject
) -> None:
    meant = likely_meant(things)
    for place in meant:
        read, cosine = things[place]
        better = (data.draw(st.floats(read, 1)), data.draw(st.floats(cosine, 1)))
        assert len(things) in likely_meant([*things, better])
