from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from policies.dedup import Neighbour, decide
from policies.language.wording import Wording, read
from policies.pairs import CHANGED_FROM, SAME_FROM, changed_share, features_of, same_share, shares_only_a_unit
from schema import Certainty, Change, DecisionAction, Fact
from tests.unit.policies.builders import NOON, POLICY, candidate, memory, summaries

cosines = st.floats(min_value=-1, max_value=1)


def _same(a: str, b: str, cosine: float) -> bool:
    return same_share(features_of(read(a), read(b), cosine)) >= SAME_FROM


def _changed(a: str, b: str, cosine: float, attribute: float = 0.0) -> bool:
    return changed_share(features_of(read(a), read(b), cosine, attribute, attribute)) >= CHANGED_FROM


@pytest.mark.parametrize(
    ("a", "b", "cosine"),
    [
        ("The user has two kids.", "The user has 2 children.", 0.7),
        ("The user earns $12k a month.", "The user earns 12,000 dollars a month.", 0.9),
        ("The user enjoys hiking in the mountains.", "The user likes hikes in the mountains.", 0.9),
        ('Ana: "I live in Lisbon, near the river"', "Ana lives in Lisbon near the river.", 0.85),
    ],
)
def test_the_same_fact_in_other_words_is_the_same(a: str, b: str, cosine: float) -> None:
    assert _same(a, b, cosine)
    assert _same(b, a, cosine)


@pytest.mark.parametrize(
    ("old", "new", "cosine"),
    [
        ("The user owns a kayak.", "The user sold the kayak last week.", 0.75),
        ("The user plays tennis every week.", "The user stopped playing tennis.", 0.75),
        ('Ana: "my rent is 900 a month"', 'Ana: "they put the rent up to 980"', 0.7),
        ('Ana: "choir is on Mondays"', 'Ana: "choir moved to Thursdays from now on"', 0.7),
        ('Ana: "I see Dr Klein every week"', 'Ana: "I no longer see Dr Klein"', 0.8),
        ('Ana: "Sam and I are together"', 'Ana: "Sam and I broke up"', 0.75),
    ],
)
def test_what_ended_moved_or_was_replaced_is_changed_in_anybodys_words(old: str, new: str, cosine: float) -> None:
    assert _changed(old, new, cosine, attribute=0.3)
    assert not _same(old, new, cosine)


@pytest.mark.parametrize(
    ("old", "new", "cosine"),
    [
        ("The user's favourite book is Beloved.", "The user's favourite film is Moonlight.", 0.6),
        ("Ana's daughter Lea is seven.", "Ana's son Max is four.", 0.55),
        ("Ana's chemistry exam is on 11 May.", "Ana has a physics exam too, on 18 May.", 0.6),
        ('Ana: "car insurance is with Axa"', 'Ana: "I have health insurance with Ethias as well"', 0.55),
        ('Ana: "I have a savings account at KBC"', 'Ana: "I also have a second account at Argenta"', 0.65),
        ("Ana's sister lives in Lisbon.", "Ana lives in Porto.", 0.6),
        ("Ana lives in Utrecht.", "Ana wishes they lived in Rome one day.", 0.5),
    ],
)
def test_what_only_looks_alike_is_neither(old: str, new: str, cosine: float) -> None:
    assert not _changed(old, new, cosine)
    assert not _same(old, new, cosine)


@given(summaries, summaries, cosines)
def test_whether_two_statements_are_the_same_does_not_hang_on_their_order(a: str, b: str, cosine: float) -> None:
    one, other = (same_share(features_of(read(x), read(y), cosine)) for x, y in ((a, b), (b, a)))
    assert one == pytest.approx(other)


@given(summaries, cosines)
def test_a_repeated_statement_is_the_same_and_changes_nothing(said: str, cosine: float) -> None:
    features = features_of(read(said), read(said), cosine)
    assert same_share(features) == 1.0
    assert changed_share(features) == 0.0


@given(st.text(max_size=300), st.text(max_size=300), cosines)
def test_any_two_texts_can_be_compared(a: str, b: str, cosine: float) -> None:
    features = features_of(read(a), read(b), cosine)
    assert 0.0 <= same_share(features) <= 1.0
    assert 0.0 <= changed_share(features) <= 1.0


@example(1899, 1900, 0.95)
@given(st.integers(min_value=2, max_value=9_999), st.integers(min_value=2, max_value=9_999), cosines)
def test_other_numbers_of_the_same_thing_are_never_the_same(one: int, other: int, cosine: float) -> None:
    assert _same(f"The user has {one} chickens.", f"The user has {other} chickens.", cosine) == (one == other)


@given(
    st.sampled_from([Certainty.WISH, Certainty.SUPPOSITION, Certainty.JOKE]),
    summaries,
    summaries,
    cosines,
    st.sampled_from(Change),
)
def test_a_weaker_statement_never_takes_the_place_of_a_stronger_one(
    certainty: Certainty, known: str, said: str, cosine: float, change: Change
) -> None:
    lives = Fact(entity="user", verb="lives in", object="Oslo", attribute="home_city")
    dreams = lives.model_copy(update={"object": "Rome"})
    fact = memory(known, facts=(lives,), pinned=True)
    wish = candidate(f"Maybe {said}", facts=(dreams,), certainty=certainty, change=change)
    decision = decide(wish, [Neighbour(fact, cosine)], [fact], POLICY, NOON)
    assert decision.action in {DecisionAction.CREATE, DecisionAction.CHECK}


def test_wondering_about_an_allergy_leaves_it_alone() -> None:
    pinned = memory("Ana is allergic to peanuts.", pinned=True)
    wondering = candidate('Ana: "I was wondering about my peanut allergy"')
    decision = decide(wondering, [Neighbour(pinned, 0.95)], [], POLICY, NOON)
    assert decision.action in {DecisionAction.CREATE, DecisionAction.CHECK}


def test_what_both_count_in_is_nothing_in_common() -> None:
    savings, rent = _of_maya("Maya wants to save 5,000 euros."), _of_maya("Maya's rent goes up to 950 euros.")
    assert shares_only_a_unit(savings, rent)
    assert not shares_only_a_unit(_of_maya("Maya's rent is 900 euros."), rent)
    assert not shares_only_a_unit(_of_maya("Maya is vegan."), rent)
    assert not shares_only_a_unit(_of_maya("Maya has two kids."), _of_maya("Maya has three kids."))


def _of_maya(statement: str) -> Wording:
    return read(statement, "Maya")
