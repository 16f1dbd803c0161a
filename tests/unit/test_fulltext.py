from __future__ import annotations

import uuid
from collections.abc import Sequence
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schema import Labels, Visibility
from stores.catalog.summaries import Summary
from stores.fulltext import terms_of
from stores.fulltext.postings import Postings, compare

NOON = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)
words = st.sampled_from(["tea", "coffee", "lisbon", "boat", "seven", "red", "garden"])
texts = st.lists(words, min_size=1, max_size=8).map(" ".join)


def told(*said: str, live: bool = True) -> list[Summary]:
    return [
        Summary(uuid.UUID(int=number), text, "c", NOON, live, Labels(Visibility.PRIVATE))
        for number, text in enumerate(said, 1)
    ]


def found(blocks: Sequence[Postings], query: str, limit: int = 10) -> dict[int, float]:
    compared = compare(blocks, terms_of(query), limit, saturation=1.2, length_weight=0.4)
    return {one.summary.memory_id.int: one.score for one in compared}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("She is painting", "He painted"),
        ("These ponies", "the pony"),
        ("classes", "a class"),
        ("stopped", "stopping"),
        ("Ana's sister", "the sisters of Ana"),
        ("1,200 euros", "1200 EURO"),
        ("7th of May 2023", "May 7, 2023"),
        ("ＫＹＯＴＯ", "kyoto"),
        ("What did the user do in Oslo?", "OSLO user"),
    ],
)
def test_a_word_is_found_in_its_other_forms(one: str, other: str) -> None:
    assert set(terms_of(one)) == set(terms_of(other))


@pytest.mark.parametrize(("one", "other"), [("bus", "bu"), ("12", "1.2"), ("tea", "teach"), ("ring", "r")])
def test_different_words_stay_apart(one: str, other: str) -> None:
    assert set(terms_of(one)) != set(terms_of(other))


def test_scripts_without_spaces_are_found_by_parts_of_a_run() -> None:
    assert set(terms_of("京都")) <= set(terms_of("私は京都に住んでいます"))


@given(st.text(max_size=300))
def test_any_text_has_terms_that_stay_what_they_are_in_capitals(text: str) -> None:
    assert all(term and term == term.casefold() for term in terms_of(text))


def test_a_text_of_any_length_is_read_as_far_as_it_counts() -> None:
    assert len(terms_of("word " * 1_000_000)) < 1_000


def test_a_rare_word_weighs_more_than_one_that_every_memory_has() -> None:
    blocks = [Postings.of(told("ana drinks tea", "ana drinks water", "ana has a boat"))]
    scores = found(blocks, "ana tea")
    assert max(scores, key=lambda id_: scores[id_]) == 1
    assert scores[1] > 3 * scores[2]


@given(st.lists(texts, min_size=1, max_size=8), texts)
def test_only_what_shares_a_word_is_found_and_best_comes_first(said: list[str], query: str) -> None:
    scores = found([Postings.of(told(*said))], query)
    assert set(scores) == {n for n, text in enumerate(said, 1) if set(text.split()) & set(query.split())}
    assert list(scores.values()) == sorted(scores.values(), reverse=True)
    assert all(score > 0 for score in scores.values())


@given(st.lists(texts, min_size=2, max_size=8), texts, st.data())
def test_how_memories_are_spread_over_blocks_changes_nothing(said: list[str], query: str, data: st.DataObject) -> None:
    cut = data.draw(st.integers(min_value=0, max_value=len(said)))
    summaries = told(*said)
    together = found([Postings.of(summaries)], query)
    apart = found([Postings.of(summaries[:cut]), Postings.of(summaries[cut:])], query)
    assert apart == pytest.approx(together)


@given(st.lists(texts, min_size=2, max_size=8), texts, st.data())
def test_what_is_taken_out_is_as_if_it_had_never_been(said: list[str], query: str, data: st.DataObject) -> None:
    gone = data.draw(st.integers(min_value=1, max_value=len(said)))
    summaries = told(*said)
    without = Postings.of(summaries).without(frozenset({uuid.UUID(int=gone)}))
    never = Postings.of([summary for summary in summaries if summary.memory_id.int != gone])
    assert found([without], query) == pytest.approx(found([never], query))
    also = [summary.memory_id for summary in summaries]
    named = compare([without], terms_of(query), 10, also, saturation=1.2, length_weight=0.4)
    assert {one.summary.memory_id.int for one in named} == set(range(1, len(said) + 1)) - {gone}


@given(st.lists(texts, min_size=1, max_size=8), texts)
def test_saying_a_word_of_the_query_once_more_never_lowers_a_score_at_equal_length(said: list[str], query: str) -> None:
    word = query.split(maxsplit=1)[0]
    fewer = [Postings.of(told(f"{said[0]} filler", *said))]
    more = [Postings.of(told(f"{said[0]} {word}", *said))]
    if word in said[0].split():
        assert found(more, word)[1] >= found(fewer, word)[1] - 1e-9


def test_equal_scores_are_cut_in_the_order_of_ids() -> None:
    blocks = [Postings.of(told("red boat", "red boat", "red boat"))]
    assert list(found(blocks, "boat", limit=2)) == [1, 2]


def test_nothing_is_found_where_nothing_may_be() -> None:
    assert found([Postings.of(told("red boat", live=False))], "boat") == {}
    assert found([Postings.of([])], "boat") == {}
    assert found([Postings.of(told("red boat"))], "the of and") == {}
    assert found([Postings.of(told("red boat"))], "boat", limit=0) == {}
