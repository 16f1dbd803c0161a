"""Which episodes become one memory, and that nothing of them is lost or made up."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import timedelta
from typing import Any

from hypothesis import example, given, settings
from hypothesis import strategies as st

from policies.consolidation import (
    WINDOW,
    Pair,
    clusters,
    clusters_over_time,
    consolidated,
    may_join,
    retell,
    unneeded,
)
from policies.language.sentences import split_sentences
from policies.unconsolidation import without
from schema import MAX_SUMMARY_CHARS, Memory, MemoryType, Policy, Status
from tests.unit.policies.builders import NOON, POLICY, memory

LATER = NOON + timedelta(days=5)
SAYINGS = (
    "Ana went to the beach with her sister.",
    "Ana painted the kitchen.",
    "Ana ran 10 km.",
    "Ana bought a lamp for $40.",
    "Ana's brother came to visit.",
)


def episode(number: int, summary: str | None = None, days: float = 0, **changes: Any) -> Memory:
    at = NOON + timedelta(days=days)
    moments = {"occurred_at": at, "created_at": at, "updated_at": at, "last_accessed": at}
    return memory(
        summary or SAYINGS[number % len(SAYINGS)],
        turn_id=f"t{number}",
        type=MemoryType.EPISODIC,
        **{**moments, **changes},
    )


def joined(group: list[Memory]) -> tuple[Memory, dict[object, Memory]]:
    """A consolidated memory of a group, and all of them as they are afterwards."""
    summary = retell(group, POLICY)
    assert summary is not None
    whole = consolidated(group, summary, LATER, POLICY, embedding_model="test")
    archived = [one.model_copy(update={"status": Status.ARCHIVED, "consolidated_into": whole.id}) for one in group]
    return whole, {one.id: one for one in (whole, *archived)}


groups = st.lists(
    st.tuples(st.integers(0, 4), st.integers(0, 20)), min_size=2, max_size=3, unique_by=lambda one: one[0]
).map(lambda told: sorted((episode(number, days=days) for number, days in told), key=lambda one: one.occurred_at))


def test_a_group_is_told_in_its_own_sentences_with_their_days() -> None:
    group = [episode(0), episode(1), episode(2, days=1)]
    assert retell(group, POLICY) == (
        "On 2 March 2026: Ana went to the beach with her sister. Ana painted the kitchen. "
        "On 3 March 2026: Ana ran 10 km."
    )


def test_what_one_of_them_says_whole_is_not_said_twice() -> None:
    group = [episode(0, "Ana ran."), episode(1, "Ana ran 10 km on 2 March 2026.")]
    assert retell(group, POLICY) == "Ana ran 10 km on 2 March 2026."


def test_what_was_done_again_on_another_day_is_told_with_both_days() -> None:
    group = [episode(1), episode(6, days=1)]
    painted = "Ana painted the kitchen."
    assert retell(group, POLICY) == f"On 2 March 2026: {painted} On 3 March 2026: {painted}"
    group = [episode(0, "Ana ran."), episode(1, "Ana ran 10 km.", days=7)]
    assert retell(group, POLICY) == "On 2 March 2026: Ana ran. On 9 March 2026: Ana ran 10 km."


DEEDS = ("painted the fence", "ran 10 km", "called her brother", "slept well")
MADE_OTHER = (
    "did not",
    "didn't",
    "never",
    "almost",
    "might have",
    "would have",
    "wants to have",
    "says that Ben",
    "dreamed that she",
)


@given(st.sampled_from(DEEDS), st.sampled_from(MADE_OTHER), st.sampled_from(DEEDS), st.booleans(), st.booleans())
def test_what_denies_or_doubts_another_of_the_same_day_is_told_beside_it(
    deed: str, made_other: str, more: str, longer: bool, first: bool
) -> None:
    other = f"Ana {made_other} {deed}" + (f" and {more}" if longer else "")
    said = (f"Ana {deed}.", f"{other}.") if first else (f"{other}.", f"Ana {deed}.")
    told = retell([episode(number, summary) for number, summary in enumerate(said)], POLICY)
    assert told is not None
    assert all(summary in told for summary in said)


def test_what_one_does_to_another_is_not_what_is_done_to_them() -> None:
    said = ("Ana called Ben.", "Ben called Ana.")
    told = retell([episode(number, summary) for number, summary in enumerate(said)], POLICY)
    assert told == "On 2 March 2026: Ana called Ben. Ben called Ana."


def test_too_much_for_one_memory_is_not_told() -> None:
    assert retell([episode(0, "Ana saw " + "a very long film " * 34), episode(1)], POLICY) is None
    assert retell([episode(number) for number in range(4)], POLICY) is None
    two = "Ana saw a whale. It was grey."
    assert retell([episode(0, two), episode(1, "Ana ate an ice cream. It was blue.")], POLICY) is None
    assert retell([episode(0, two), episode(1)], POLICY) is not None


def test_a_day_is_named_even_where_another_one_ends_like_it() -> None:
    group = [episode(0, "Ana booked a flight for 12 March 2026."), episode(1, "Ana booked a room for 22 March 2026.")]
    summary = retell(group, POLICY)
    assert summary is not None
    assert summary.startswith("On 2 March 2026: Ana booked a flight for 12 March 2026.")


@given(groups)
def test_consolidation_loses_no_provenance(group: list[Memory]) -> None:
    whole, _ = joined(group)
    assert set(whole.source_turn_ids) == {turn for one in group for turn in one.source_turn_ids}
    assert whole.consolidated_from == tuple(one.id for one in group)
    assert all(one.summary.rstrip(".") in whole.summary for one in group)
    assert whole.importance >= max(one.importance for one in group)
    assert joined(group)[0].id == whole.id, "made again, it is the same memory"


@given(groups, st.data())
def test_nothing_of_an_erased_original_is_left(group: list[Memory], data: st.DataObject) -> None:
    whole, known = joined(group)
    doomed = data.draw(st.sampled_from(group))
    what = without([doomed.id], known, LATER, POLICY)  # type: ignore[arg-type]
    left: dict[object, Memory] = {**known, **{one.id: one for one in what.changed}}
    for one in what.deleted:
        del left[one.id]
    assert all(doomed.summary not in one.summary for one in left.values())
    assert all(doomed.id not in one.consolidated_from for one in left.values())
    assert all(not set(doomed.source_turn_ids) & set(one.source_turn_ids) for one in left.values())
    others = [one for one in group if one.id != doomed.id]
    active = " ".join(one.summary for one in left.values() if one.status is Status.ACTIVE)
    assert all(one.summary.rstrip(".") in active for one in others), "what the others say is still known"
    assert (whole.id in left) == (len(others) > 1)


@given(groups, st.data())
def test_nothing_under_legal_hold_goes_or_loses_a_part_unnoticed(group: list[Memory], data: st.DataObject) -> None:
    _, known = joined(group)
    held = data.draw(st.sampled_from(sorted(known, key=str)))
    known[held] = known[held].model_copy(update={"legal_hold": True})
    doomed = data.draw(st.sampled_from(sorted(known, key=str)))
    what = without([doomed], known, LATER, POLICY)  # type: ignore[list-item, arg-type]
    touched = [*what.deleted, *(one for one in what.changed if one.summary != known[one.id].summary)]
    assert (held in {one.id for one in touched}) == (held in what.held)
    assert set(what.held) <= {held}


@given(groups)
def test_with_a_consolidated_memory_go_those_that_say_the_same(group: list[Memory]) -> None:
    whole, known = joined(group)
    what = without([whole.id], known, LATER, POLICY)  # type: ignore[arg-type]
    assert {one.id for one in what.deleted} == {whole.id, *(one.id for one in group)}
    assert what.changed == ()


@given(
    st.lists(st.integers(0, 60), min_size=1, max_size=9),
    st.sets(st.tuples(st.integers(0, 8), st.integers(0, 8), st.integers(45, 99))),
)
def test_every_member_of_a_cluster_is_near_every_other(days: list[int], near: set[tuple[int, int, int]]) -> None:
    episodes = [episode(number, days=day) for number, day in enumerate(days)]
    pairs = [(cosine / 100, a, b) for a, b, cosine in near if a < b < len(episodes)]
    known = {frozenset((episodes[a].id, episodes[b].id)) for _, a, b in pairs}
    found = clusters(episodes, pairs, lambda _: True, POLICY)
    assert sorted(one.id for group in found for one in group) == sorted(one.id for one in episodes)
    for group in found:
        assert len(group) <= POLICY.consolidate_members
        assert group[-1].occurred_at - group[0].occurred_at <= timedelta(days=POLICY.consolidate_span_days)
        assert all(frozenset((a.id, b.id)) in known for a in group for b in group if a.id != b.id)


def test_a_life_twice_as_long_costs_twice_as_much_and_nothing_of_it_is_left_out() -> None:
    def compared(number: int) -> int:
        asked: list[int] = []

        def near(window: Sequence[Memory]) -> Iterator[Pair]:
            pairs = [(0.9, a, b) for b in range(len(window)) for a in range(b)]
            asked.append(len(pairs))
            return iter(pairs)

        episodes = [episode(place, days=place / 100) for place in range(number)]
        groups = list(clusters_over_time(episodes, near, lambda group: len(group) < 3, POLICY))
        assert sorted(one.id for group in groups for one in group) == sorted(one.id for one in episodes)
        assert sum(len(group) == 1 for group in groups) <= 1, "what was alone in one window is joined in the next"
        return sum(asked)

    assert compared(8 * WINDOW + 1) <= 2.2 * compared(4 * WINDOW + 1)


seldom = st.integers(0, 7).map(lambda drawn: drawn == 7)
"""True of one in eight: were each of four marks as likely as not, next to no episode could be joined."""
lives = st.lists(
    st.builds(
        episode,
        st.integers(0, 10_000),
        summary=st.sampled_from((*SAYINGS, "Ana saw a whale. It was grey.", "Ana flies on 12 March 2026.")),
        days=st.floats(0, 60),
        **dict.fromkeys(("pinned", "explicit", "private", "legal_hold", "apart"), seldom),
    ),
    min_size=2,
    max_size=12,
    unique_by=lambda one: one.id,
)
cosines = st.dictionaries(
    st.sampled_from([(first, second) for second in range(6) for first in range(second)]),
    st.floats(0.5, 1.0),
    min_size=5,
)


@settings(max_examples=40)
@given(lives, cosines)
@example([episode(0, private=True), episode(5, days=1, private=True), episode(1, SAYINGS[0])], {(0, 1): 1.0})
def test_of_any_life_each_episode_is_told_once_by_its_own_words(
    life: list[Memory], near: dict[tuple[int, int], float]
) -> None:
    fit = [one for one in life if may_join(one, NOON + timedelta(days=64), POLICY)]
    pairs = [(cosine, first, second) for (first, second), cosine in near.items() if second < len(fit)]
    found = clusters(fit, pairs, lambda group: retell(group, POLICY) is not None, POLICY)
    assert sorted(one.id for group in found for one in group) == sorted(one.id for one in fit)
    for group in (group for group in found if len(group) > 1):
        assert len({one.private for one in group}) == 1
        assert not any(one.pinned or one.explicit or one.legal_hold or one.apart for one in group)
        summary = retell(group, POLICY)
        assert summary is not None
        assert len(summary) <= MAX_SUMMARY_CHARS
        said = [re.sub(r"^On \d+ \w+ 2026: ", "", sentence.text) for sentence in split_sentences(summary)]
        assert len(said) <= POLICY.consolidate_sentences
        assert all(any(sentence in one.summary for one in group) for sentence in said)
        dates = set(re.findall(r"\d+ \w+ 2026", summary))
        assert dates >= {f"{one.occurred_at.day} {one.occurred_at:%B %Y}" for one in group}, "no day is lost"


def test_what_is_private_is_never_told_with_what_is_not() -> None:
    episodes = [episode(0), episode(1, private=True)]
    assert len(clusters(episodes, [(0.9, 0, 1)], lambda _: True, POLICY)) == 2


def test_what_a_person_wants_as_it_is_stays_as_it_is() -> None:
    fresh = episode(0, days=4)
    assert may_join(episode(0), LATER, POLICY)
    assert not may_join(fresh, LATER, POLICY), "it may still be told again"
    assert may_join(fresh, LATER, POLICY, at_once=True)
    for held in ("pinned", "legal_hold", "explicit", "apart"):
        assert not may_join(episode(0).model_copy(update={held: True}), LATER, POLICY)
    assert not may_join(episode(0, occurred_at=LATER + timedelta(days=1)), LATER, POLICY), "it is yet to happen"
    assert not may_join(episode(0), NOON + timedelta(days=91), POLICY)


def test_what_is_alone_is_archived_only_when_it_is_unimportant_and_old() -> None:
    policy = Policy(consolidate_low_importance=0.2)
    plain = episode(0, importance=0.17)
    assert not unneeded(plain, NOON + timedelta(days=30), policy)
    assert unneeded(plain, NOON + timedelta(days=31), policy)
    assert not unneeded(episode(0, importance=0.2), NOON + timedelta(days=31), policy)
