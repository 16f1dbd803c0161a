from __future__ import annotations

import uuid
from datetime import timedelta
from random import Random
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policies.retrieval import (
    MOST_SLOTS,
    RECENCY_HALF_LIFE_DAYS,
    Match,
    Standing,
    Terms,
    answering,
    evidence,
    in_context,
    is_about_what_is_known,
    names_in,
    recency,
    relevances,
    slots,
    terms_of_score,
)
from schema import MemoryType, Policy
from tests.unit.policies.builders import NOON, POLICY

share = st.floats(min_value=0, max_value=1)
RANKINGS = ("measured", "seed-000", "seed-001")
PARTS = ("relevance", "importance", "trust", "pinned")


def terms(ranking: str = "measured", *, days: float = 0.0, **parts: float) -> Terms:
    given = dict.fromkeys(PARTS, 0.0) | parts
    standing = Standing(given["importance"], given["trust"], NOON - timedelta(days=days), bool(given["pinned"]))
    policy = Policy.model_validate(POLICY.model_dump() | {"retrieval_ranking": ranking})
    return terms_of_score(given["relevance"], given["relevance"], standing, policy, NOON)


@pytest.mark.parametrize(("ranking", "highest"), [("measured", 1.0), ("seed-000", 1.0), ("seed-001", 0.95)])
def test_a_perfect_memory_has_the_sum_of_the_weights(ranking: str, highest: float) -> None:
    assert terms(ranking, relevance=1, importance=1, trust=1, pinned=1).total == pytest.approx(highest)


@given(st.sampled_from(RANKINGS), st.fixed_dictionaries(dict.fromkeys(PARTS, share)), st.sampled_from(PARTS))
def test_a_better_part_never_lowers_the_score(ranking: str, parts: dict[str, float], raised: str) -> None:
    before = terms(ranking, days=3, **parts).total
    assert 0.0 <= before <= 1.0 + 1e-9
    assert terms(ranking, days=3, **parts | {raised: 1.0}).total >= before


def test_a_pin_counts_where_the_plan_of_s3_vectors_ranks() -> None:
    assert terms("seed-000", pinned=1).pin == pytest.approx(0.10)
    assert terms("measured", pinned=1).pin == 0.0


@given(st.integers(min_value=-500, max_value=100_000))
def test_of_every_type_one_memory_has_room_and_never_more_than_the_most(tokens: int) -> None:
    assert all(1 <= count <= MOST_SLOTS[type_] for type_, count in slots(tokens).items())


def test_a_large_budget_has_room_for_the_most_of_each_type() -> None:
    assert slots(100_000) == MOST_SLOTS
    assert slots(1_000) == {MemoryType.SEMANTIC: 5, MemoryType.EPISODIC: 1, MemoryType.PROCEDURAL: 1}


# -- whether a question is about something known ------------------------------------------------------------------

ONE, OTHER = UUID(int=1), UUID(int=2)


@given(share, share)
def test_a_question_about_somebody_unknown_is_less_surely_about_something_known(cosine: float, covered: float) -> None:
    found = {ONE: cosine}, {ONE: covered}
    assert evidence(*found, 1.0, POLICY) < evidence(*found, 0.0, POLICY)


def test_names_are_told_by_their_capitals_but_for_the_first_word() -> None:
    assert names_in("When did Caroline go to Rome, and did I?") == ["Caroline", "Rome"]


@given(share, share, share)
def test_more_of_a_questions_words_never_make_it_less_sure(cosine: float, covered: float, more: float) -> None:
    low, high = sorted((covered, more))
    assert evidence({ONE: cosine}, {ONE: high}, 0.0, POLICY) >= evidence({ONE: cosine}, {ONE: low}, 0.0, POLICY)


def test_where_nothing_is_known_no_question_is_about_it() -> None:
    assert not is_about_what_is_known(evidence({}, {}, 0.0, POLICY), POLICY)


def test_a_memory_that_the_index_does_not_have_yet_is_found_by_having_all_words_of_the_question() -> None:
    assert is_about_what_is_known(evidence({OTHER: 0.1}, {ONE: 1.0}, 0.0, POLICY), POLICY)


shares = st.floats(min_value=0, max_value=1)
matches = st.builds(
    Match,
    cosine=st.floats(min_value=-1, max_value=1),
    words=st.floats(min_value=0, max_value=30),
    conversation_id=st.sampled_from(["c1", "c2", None]),
    said_at=st.integers(min_value=0, max_value=90).map(lambda minutes: NOON + timedelta(minutes=minutes)),
)


def a_match(cosine: float = 0.0, words: float = 0.0, minute: float = 0.0, conversation_id: str | None = "c1") -> Match:
    return Match(cosine, words, conversation_id, NOON + timedelta(minutes=minute))


@given(st.lists(matches, max_size=12))
def test_relevances_are_shares_of_the_best(found: list[Match]) -> None:
    said = relevances(found, POLICY)
    assert len(said) == len(found)
    assert all(0.0 <= one <= 1.0 + 1e-9 for one in said)
    if any(match.cosine > 0 or match.words > 0 for match in found):
        assert max(said) == pytest.approx(1.0)


def test_a_question_of_somebody_without_a_name_needs_less() -> None:
    found = {uuid.UUID(int=1): 0.5}
    named, nameless = (evidence(found, {}, 0.0, POLICY, nameless=nameless) for nameless in (False, True))
    assert nameless - named == pytest.approx(POLICY.retrieval_nameless)


@given(st.lists(matches, min_size=1, max_size=12), st.randoms())
def test_relevance_does_not_depend_on_the_order_of_matches(found: list[Match], chance: Random) -> None:
    order = list(range(len(found)))
    chance.shuffle(order)
    said = relevances(found, POLICY)
    shuffled = relevances([found[place] for place in order], POLICY)
    assert shuffled == pytest.approx([said[place] for place in order])


@given(st.lists(matches, min_size=1, max_size=12), st.floats(min_value=0.72, max_value=1.4))
def test_the_best_of_an_answer_is_told_and_more_evidence_tells_no_less(found: list[Match], sure: float) -> None:
    told = answering(found, sure, POLICY)
    assert all(more >= less for more, less in zip(told, answering(found, 0.72, POLICY), strict=True))
    if any(match.cosine > 0 or match.words > 0 for match in found):
        assert any(told)


def test_what_is_said_beside_an_answer_is_none() -> None:
    answer, beside = a_match(0.6), a_match(0.05, minute=1)
    assert relevances([answer, beside], POLICY)[1] > 0.25
    assert answering([answer, beside], 1.0, POLICY) == [True, False]


def test_a_negative_cosine_counts_as_none() -> None:
    assert relevances([a_match(0.8), a_match(-0.4, minute=900)], POLICY)[1] == pytest.approx(0.0, abs=1e-6)


def test_words_and_meaning_weigh_what_the_policy_says() -> None:
    by_meaning, by_words = relevances(
        [a_match(cosine=0.7, conversation_id=None), a_match(words=5.0, conversation_id=None)], POLICY
    )
    assert by_words / by_meaning == pytest.approx(
        POLICY.retrieval_words_weight / (1 - POLICY.retrieval_words_weight), rel=1e-6
    )


@given(
    st.lists(matches, max_size=12).flatmap(
        lambda found: st.tuples(st.just(found), st.lists(shares, min_size=len(found), max_size=len(found)))
    )
)
def test_context_raises_by_the_best_neighbour_of_the_same_conversation(case: tuple[list[Match], list[float]]) -> None:
    found, own = case

    def near(one: Match, other: Match) -> float:
        minutes = abs((one.said_at - other.said_at).total_seconds()) / 60
        together = one.conversation_id == other.conversation_id and one.conversation_id is not None and minutes > 0
        return 0.5 ** (minutes / POLICY.retrieval_context_half_life_minutes) if together else 0.0

    expected = [
        mine
        + POLICY.retrieval_context_weight * max((near(one, o) * r for o, r in zip(found, own, strict=True)), default=0)
        for one, mine in zip(found, own, strict=True)
    ]
    assert in_context(found, own, POLICY) == pytest.approx(expected)


def test_memories_of_one_moment_do_not_raise_each_other() -> None:
    assert in_context([a_match(), a_match()], [1.0, 0.5], POLICY) == [1.0, 0.5]


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
