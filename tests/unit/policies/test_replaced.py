"""What becomes of a candidate whose extractor was shown what is known."""

from __future__ import annotations

from datetime import timedelta
from uuid import UUID

import pytest

from policies.replaced import as_told
from schema import Candidate, Decision, DecisionAction, Fact, Kind, Memory, MemoryType, Status
from tests.contract.catalogs import NOW, a_memory

CREATE, UPDATE, SUPERSEDE, CHECK, SKIP = (
    DecisionAction.CREATE,
    DecisionAction.UPDATE,
    DecisionAction.SUPERSEDE,
    DecisionAction.CHECK,
    DecisionAction.SKIP,
)


def known(summary: str, **fields: object) -> Memory:
    return a_memory().model_copy(update={"summary": summary, "said_at": NOW} | fields)


def candidate(summary: str, *replaces: UUID, later: timedelta = timedelta(days=1)) -> Candidate:
    return Candidate(
        turn_id="a-new-turn",
        ordinal=0,
        type=MemoryType.SEMANTIC,
        kind=Kind.USER_FACT,
        category="Personal",
        summary=summary,
        confidence=0.9,
        occurred_at=NOW + later,
        said_at=NOW + later,
        replaces=replaces,
        by_model=True,
    )


def decided(action: DecisionAction, *targets: Memory) -> Decision:
    return Decision(action=action, reason="by words and cosine", targets=tuple(one.id for one in targets))


DOG = known("Maya has a dog.")


@pytest.mark.parametrize("action", [CREATE, UPDATE, SUPERSEDE, CHECK])
def test_what_is_named_is_superseded_whatever_dedup_decided(action: DecisionAction) -> None:
    found = as_told(candidate("Maya has two dogs.", DOG.id), decided(action, DOG), {DOG.id: DOG}, shown={DOG.id})
    assert (found.action, found.targets) == (SUPERSEDE, (DOG.id,))


@pytest.mark.parametrize("status", [Status.SUPERSEDED, Status.ARCHIVED, Status.PROVISIONAL])
def test_what_is_not_active_is_not_superseded(status: Status) -> None:
    old = DOG.model_copy(update={"status": status})
    assert (
        as_told(candidate("Maya has a cat.", old.id), decided(CREATE), {old.id: old}, shown={old.id}).action is CREATE
    )


def test_what_is_not_the_subjects_own_is_not_known_and_so_not_superseded() -> None:
    assert as_told(candidate("Maya has a cat.", DOG.id), decided(CREATE), {}, shown=()).action is CREATE


def test_what_was_said_later_stays_and_the_earlier_word_for_it_is_dropped() -> None:
    earlier = candidate("Maya has a cat.", DOG.id, later=timedelta(days=-1))
    assert as_told(earlier, decided(CREATE), {DOG.id: DOG}, shown={DOG.id}).action is SKIP


@pytest.mark.parametrize(
    ("summary", "action"),
    [
        ("Maya has a dog!", UPDATE),
        ("Maya has a dog called Rex.", CREATE),
        ("Maya's sister has a dog.", CREATE),
        ("Maya has 2 dogs.", CREATE),
    ],
)
def test_the_same_fact_is_merged_only_where_no_word_is_lost(summary: str, action: DecisionAction) -> None:
    assert as_told(candidate(summary), decided(UPDATE, DOG), {DOG.id: DOG}, shown={DOG.id}).action is action


@pytest.mark.parametrize("action", [CHECK, SUPERSEDE])
def test_cosines_decide_nothing_about_what_was_shown(action: DecisionAction) -> None:
    found = as_told(candidate("Maya has a cat."), decided(action, DOG), {DOG.id: DOG}, shown={DOG.id})
    assert found.action is CREATE


def home(city: str) -> tuple[Fact, ...]:
    return (Fact(entity="user", verb="lives in", object=city, attribute="home_city"),)


def test_what_an_earlier_turn_of_the_same_call_told_gives_way_to_another_value_of_its_attribute() -> None:
    oslo = known("Maya lives in Oslo.", facts=home("Oslo"))
    rome = candidate("Maya moved to Rome.").model_copy(update={"facts": home("Rome")})
    change = decided(SUPERSEDE, oslo)
    assert as_told(rome, change, {oslo.id: oslo}, shown=()) == change
    same_turn = oslo.model_copy(update={"source_turn_ids": ("a-new-turn",)})
    assert as_told(rome, change, {oslo.id: same_turn}, shown=()).action is CREATE


def test_what_an_earlier_turn_of_the_same_call_told_stays_where_only_words_and_cosine_see_a_change() -> None:
    assert as_told(candidate("Maya has a cat."), decided(SUPERSEDE, DOG), {DOG.id: DOG}, shown=()).action is CREATE
