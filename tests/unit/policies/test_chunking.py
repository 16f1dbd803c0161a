"""Documents are cut so that nothing is lost, nothing is too long, and what belongs together stays together."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from policies.chunking import Sizes, chunks, paragraphs, sizes_for
from stores.embedding.base import guessed_spans

SMALL = Sizes(size=20, overlap=3, most=24)
WORDS = st.lists(
    st.sampled_from(
        ["tea", "# harbour", "harbour", "extraordinarily", "ran.", "“Why?”", "x" * 90, "猫は好きです。", "\t"]
    )
)
TEXTS = st.lists(WORDS.map(" ".join), max_size=12).flatmap(
    lambda parts: st.sampled_from(["\n\n", "\n", "\n===\n", "\r\n\r\n", "\n  \n", " "]).map(
        lambda between: between.join(parts)
    )
)


def tokens_in(text: str, start: int, end: int) -> int:
    return sum(start <= at < end for at, _ in guessed_spans(text))


@given(TEXTS | st.text(max_size=400))
@example("a " * 200)
@example("x" * 1_000)
@example("One. " * 100 + "\n\n" + "two " * 8)
def test_nothing_is_lost_order_is_kept_and_no_chunk_is_over_the_limit(text: str) -> None:
    found = chunks(text, SMALL, guessed_spans(text))
    covered = set[int]()
    for start, end in found:
        assert text[start:end].strip(), "a chunk has words"
        assert tokens_in(text, start, end) <= SMALL.most
        covered.update(range(start, end))
    assert found == sorted(found)
    assert all(char.isspace() for place, char in enumerate(text) if place not in covered)


@given(TEXTS)
def test_chunks_overlap_only_inside_a_split_paragraph(text: str) -> None:
    found = chunks(text, SMALL, guessed_spans(text))
    ends = {end for _, end in paragraphs(text)}
    for (_, end), (start, _) in pairwise(found):
        assert start >= end or end not in ends


def test_short_paragraphs_share_a_chunk_and_a_paragraph_is_not_cut_where_it_fits() -> None:
    text = "\n\n".join(["tea tea tea tea tea"] * 5 + ["tea " * 21])
    assert [text[start:end].count("tea") for start, end in chunks(text, SMALL, guessed_spans(text))] == [20, 5, 21]


@pytest.mark.parametrize("heading", ["# Tea", "### Tea\nwith milk", "Tea\n===", "Tea\r\n---"])
def test_a_section_begins_a_chunk(heading: str) -> None:
    text = f"It was cold.\n\n{heading}\n\nIt was warm."
    assert [text[start:end] for start, end in chunks(text, SMALL, guessed_spans(text))] == [
        "It was cold.",
        f"{heading}\n\nIt was warm.",
    ]


@pytest.mark.parametrize("line", ["#tea is what they say", "tea | milk\n--- | ---", "- tea\n- milk", "tea\n--"])
def test_what_is_no_heading_begins_no_chunk(line: str) -> None:
    text = f"It was cold.\n\n{line}"
    assert len(chunks(text, SMALL, guessed_spans(text))) == 1


def test_a_heading_alone_stays_with_the_heading_below() -> None:
    text = "# Drinks\n\n## Tea\n\nIt was warm.\n\n## Milk\n\nIt was cold."
    first, second = (text[start:end] for start, end in chunks(text, SMALL, guessed_spans(text)))
    assert first == "# Drinks\n\n## Tea\n\nIt was warm."
    assert second == "## Milk\n\nIt was cold."


def test_a_long_paragraph_is_cut_at_the_end_of_a_sentence() -> None:
    text = "It was cold by the sea at dusk too. " * 6
    first, *_ = chunks(text, SMALL, guessed_spans(text))
    assert text[slice(*first)].endswith("too.")


def test_chunks_are_as_long_as_the_embedder_reads() -> None:
    assert sizes_for(500, 50, 600, None) == Sizes(500, 50, 600)
    assert sizes_for(500, 50, 600, 254) == Sizes(238, 23, 254)
    with pytest.raises(ValueError, match="no"):
        Sizes(10, 8, 12)
