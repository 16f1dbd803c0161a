"""Why something was done, as the policies say it, reaches a person in plain words."""

from __future__ import annotations

from datetime import timedelta

import pytest

from interfaces.http.pages.reasons import because, found_by
from policies.decay import DecayState, Fate, fate
from policies.dedup import NEAR_AND_UNTOLD, Neighbour, decide
from schema import AuditAction, AuditEntry, DecisionAction, Fact, Policy, Status
from tests.unit.policies.builders import NOON, candidate, memory


def an_entry(reason: str, model: str | None = None) -> AuditEntry:
    details: dict[str, str | float | int | bool | None] = {"model": model} if model else {}
    return AuditEntry(
        action=AuditAction.CREATED,
        tenant_id="acme",
        subject_id="ana",
        at=NOON,
        by="worker",
        reason=reason,
        policy_version="p",
        details=details,
    )


@pytest.mark.parametrize(
    ("status", "its_fate", "said"),
    [
        (Status.ACTIVE, Fate.ARCHIVE, "it faded: it was not used for 1000 days"),
        (Status.ARCHIVED, Fate.DELETE, "it was put away for 1000 days"),
    ],
)
@pytest.mark.parametrize("light", [False, True])
def test_what_fades_is_told_by_its_days(status: Status, its_fate: Fate, said: str, light: bool) -> None:
    fading = DecayState(status=status, importance=0.2, pinned=False, legal_hold=False, last_used=NOON, updated_at=NOON)
    found, why = fate(fading, NOON + timedelta(days=1000), Policy(forget_light=light))
    assert found is (Fate.DELETE if light else its_fate)
    assert because(an_entry(why)) == said


def test_what_changed_is_named() -> None:
    def at_home(city: str) -> tuple[Fact, ...]:
        return (Fact(entity="user", verb="lives in", object=city, attribute="home_city"),)

    known = memory("The user lives in Porto.", facts=at_home("Porto"))
    moved = candidate("The user lives in Lisbon.", facts=at_home("Lisbon"), occurred_at=NOON + timedelta(days=1))
    decision = decide(moved, [], [known], Policy(), NOON + timedelta(days=1))
    assert because(an_entry(decision.reason)) == "home city changed"


def test_what_is_new_is_told_so() -> None:
    decision = decide(candidate(), [], [], Policy(), NOON)
    assert because(an_entry(decision.reason)) == "nothing like it was known"


def test_what_is_new_beside_something_near_reads_as_new_and_not_as_a_conflict() -> None:
    beside = Neighbour(memory("The user keeps bees in the garden."), 0.5)
    decision = decide(candidate("The user plays the cello."), [beside], [], Policy(), NOON)
    assert decision.action is DecisionAction.CREATE
    assert decision.reason.startswith("something new")
    assert because(an_entry(decision.reason)) == "nothing that was known says the same"


def test_what_words_cannot_settle_is_told_so() -> None:
    assert because(an_entry(NEAR_AND_UNTOLD)) == (
        "it is like something that was known, and could not be told to be the same"
    )


def test_what_an_operator_wrote_stays_as_it_is() -> None:
    assert because(an_entry("case 4711: keep until 2030")) == "case 4711: keep until 2030"


@pytest.mark.parametrize(
    ("model", "said"), [("rules-2", "no language model"), ("nova-micro", "nova-micro"), (None, "")]
)
def test_who_found_it_is_told(model: str | None, said: str) -> None:
    assert said in found_by(an_entry("nothing similar", model))
    assert bool(found_by(an_entry("nothing similar", model))) is (model is not None)
