from __future__ import annotations

import uuid
from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st

from policies.merge import merge, supersede
from schema import Candidate, Entity, Fact, Memory, MemoryType, Status, Valence
from tests.unit.policies.builders import NOON, candidate, facts, memory, moments, summaries

LATER = NOON + timedelta(hours=1)
BOOKKEEPING = {"last_accessed", "updated_at", "access_count", "version"}

tags = st.lists(st.sampled_from(("travel", "work", "tea")), max_size=3).map(tuple)
share = st.floats(min_value=0, max_value=1)
types = st.sampled_from(MemoryType)


@st.composite
def pairs(draw: st.DrawFn) -> tuple[Memory, Candidate]:
    type_ = draw(types)
    existing = memory(
        draw(summaries),
        type=type_,
        tags=draw(tags),
        facts=draw(facts),
        occurred_at=draw(moments),
        confidence=draw(share),
    )
    said = candidate(
        draw(summaries),
        type=type_,
        tags=draw(tags),
        facts=draw(facts),
        occurred_at=draw(moments),
        confidence=draw(share),
        intensity=draw(share),
        valence=draw(st.sampled_from(Valence)),
    )
    return existing, said


@given(pairs(), share)
def test_merging_the_same_candidate_again_changes_only_the_bookkeeping(
    pair: tuple[Memory, Candidate], weight: float
) -> None:
    existing, said = pair
    once = merge(existing, said, weight, NOON, "p")
    twice = merge(once, said, weight, LATER, "p")
    assert twice.model_dump(exclude=BOOKKEEPING) == once.model_dump(exclude=BOOKKEEPING)
    assert (twice.version, twice.access_count) == (existing.version + 2, existing.access_count + 2)


@given(pairs(), share)
def test_merging_loses_nothing_and_lowers_nothing(pair: tuple[Memory, Candidate], weight: float) -> None:
    existing, said = pair
    merged = merge(existing, said, weight, NOON, "p")
    assert set(merged.tags) == {*existing.tags, *said.tags}
    assert {f.object for f in merged.facts} == {f.object for f in (*existing.facts, *said.facts)}
    assert merged.importance == max(existing.importance, weight)
    assert merged.confidence == max(existing.confidence, said.confidence)
    assert merged.intensity == max(existing.intensity, said.intensity)
    assert merged.source_turn_ids == (*existing.source_turn_ids, said.turn_id)
    Memory.model_validate(merged.model_dump())


def test_provenance_keeps_the_order_in_which_turns_came() -> None:
    existing = memory(source_turn_ids=("t1", "t3"))
    merged = merge(existing, candidate(turn_id="t4", context_turn_ids=("t2", "t3")), 0.1, NOON, "p")
    assert merged.source_turn_ids == ("t1", "t3", "t2", "t4")


def test_the_summary_stays_unless_the_candidate_says_all_of_it_and_more() -> None:
    short, long = "The user likes tea.", "The user likes green tea with ginger."
    assert merge(memory(short), candidate(long), 0.1, NOON, "p").summary == long
    assert merge(memory(long), candidate(short), 0.1, NOON, "p").summary == long
    other = "The user likes coffee with ginger."
    assert merge(memory(short), candidate(other), 0.1, NOON, "p").summary == short


def test_a_number_in_the_old_summary_is_not_lost_to_a_longer_one() -> None:
    counted = "The user has 3 cats."
    assert merge(memory(counted), candidate("The user has cats in Lisbon."), 0.1, NOON, "p").summary == counted


def test_a_fact_tells_of_the_latest_moment_and_an_episode_of_its_own() -> None:
    later = candidate(occurred_at=LATER)
    assert merge(memory(), later, 0.1, NOON, "p").occurred_at == LATER
    episode = memory(type=MemoryType.EPISODIC)
    assert merge(episode, candidate(type=MemoryType.EPISODIC, occurred_at=LATER), 0.1, NOON, "p").occurred_at == NOON


def test_an_episode_of_which_only_the_day_was_known_takes_the_hour() -> None:
    day = NOON.replace(hour=0)
    episode = memory(type=MemoryType.EPISODIC, occurred_at=day)
    assert merge(episode, candidate(type=MemoryType.EPISODIC, occurred_at=LATER), 0.1, NOON, "p").occurred_at == LATER
    next_day = candidate(type=MemoryType.EPISODIC, occurred_at=LATER + timedelta(days=1))
    assert merge(episode, next_day, 0.1, NOON, "p").occurred_at == day


def test_names_and_facts_that_differ_in_case_only_are_one() -> None:
    existing = memory(
        entities=(Entity(text="Lisbon", type="LOCATION"),),
        facts=(Fact(entity="user", verb="lives in", object="Lisbon", attribute="home_city"),),
    )
    said = candidate(
        entities=(Entity(text="LISBON", type="LOCATION"),),
        facts=(Fact(entity="User", verb="lives in", object="lisbon", attribute="home_city"),),
    )
    merged = merge(existing, said, 0.1, NOON, "p")
    assert merged.entities == existing.entities
    assert merged.facts == existing.facts


def test_what_the_hot_path_wrote_becomes_active_under_the_rules_of_the_day() -> None:
    merged = merge(memory(status=Status.PROVISIONAL), candidate(pinned=True, private=True), 0.1, LATER, "new-rules")
    assert merged.status is Status.ACTIVE
    assert merged.pinned
    assert merged.private
    assert merged.policy_version == "new-rules"
    assert merged.last_accessed == merged.updated_at == LATER


def test_a_superseded_memory_names_its_successor_and_is_tagged() -> None:
    successor = uuid.uuid4()
    old = supersede(memory(tags=("tea",)), successor, LATER)
    assert (old.status, old.superseded_by, old.tags) == (Status.SUPERSEDED, successor, ("tea", "superseded"))
    assert (old.version, old.updated_at) == (2, LATER)


def test_superseding_by_the_same_memory_again_changes_nothing() -> None:
    successor = uuid.uuid4()
    once = supersede(memory(), successor, NOON)
    assert supersede(once, successor, LATER) == once


def test_what_is_under_legal_hold_keeps_its_words() -> None:
    said_more = candidate("The user likes green tea.")
    held = memory("The user likes tea.", legal_hold=True)
    assert merge(held, said_more, 0.1, LATER, "p").summary == held.summary
    lifted = held.model_copy(update={"legal_hold": False})
    assert merge(lifted, said_more, 0.1, LATER, "p").summary == said_more.summary
