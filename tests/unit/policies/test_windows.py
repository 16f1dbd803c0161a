"""A turn is cut into as few windows as are read whole, and the first has what was said before as far as it fits."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from policies.chunking import Sizes
from policies.windows import cut
from stores.embedding.base import guessed_spans

SMALL = Sizes(size=20, overlap=3, most=24)
TOLD = st.lists(st.sampled_from(["tea", "ran.", "harbour", "\n", "\n\n# head\n", "x" * 90]), min_size=1).map(
    lambda words: "User: " + " ".join(words)
)


@given(TOLD | st.just(""), TOLD)
@example("", "User: tea")
@example("User: " + "a " * 50, "User: " + "b " * 50)
def test_every_window_has_something_of_its_turn_and_only_the_first_reaches_back(before: str, own: str) -> None:
    spans = cut(before, own, SMALL, guessed_spans)
    assert all(max(start, 0) < end <= len(own) for start, end in spans)
    assert all(start >= 0 for start, _ in spans[1:])
    assert -len(before) <= spans[0][0]
    covered = {at for start, end in spans for at in range(max(start, 0), end)}
    assert all(own[at].isspace() for at in range(len(own)) if at not in covered)
    for start, end in spans:
        back = before[start:] + "\n" if start < 0 else ""
        assert len(guessed_spans(back + own[max(start, 0) : end])) <= SMALL.most


def test_a_short_turn_is_one_window_with_the_whole_of_what_was_said_before() -> None:
    assert cut("User: tea", "User: ran", SMALL, guessed_spans) == [(-len("User: tea"), len("User: ran"))]
