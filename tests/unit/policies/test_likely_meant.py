"""Which things a message likely means."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from policies.likely_meant import Beside, likely_meant

shares = st.floats(0, 1)


def test_what_is_surely_read_as_meant_is_and_what_is_far_from_it_is_not() -> None:
    assert likely_meant([Beside(0.9, 0.3), Beside(0.01, 0.1)]) == (0,)


def test_several_things_may_be_meant_that_are_about_as_likely() -> None:
    assert likely_meant([Beside(0.9, 0.3), Beside(0.7, 0.4), Beside(0.0, 0.1)]) == (0, 1)


def test_of_what_was_not_read_nothing_is_meant() -> None:
    assert likely_meant([Beside(None, 0.9), Beside(0.9, None)]) == ()


def test_what_has_no_word_of_the_message_is_passed_over_for_what_has_one() -> None:
    assert likely_meant([Beside(0.98, 0.1), Beside(0.95, 0.1)]) == (0, 1)
    assert likely_meant([Beside(0.98, 0.1), Beside(0.99, 0.5, is_named=True)]) == (1,)


def test_nothing_is_meant_of_nothing() -> None:
    assert likely_meant([]) == ()


@given(st.lists(st.builds(Beside, shares, shares), min_size=1, max_size=5), st.data())
def test_what_is_likelier_and_nearer_than_what_is_meant_is_meant_too(things: list[Beside], data: st.DataObject) -> None:
    meant = likely_meant(things)
    for place in meant:
        better = Beside(
            data.draw(st.floats(things[place].read or 0, 1)), data.draw(st.floats(things[place].cosine or 0, 1))
        )
        assert len(things) in likely_meant([*things, better])
