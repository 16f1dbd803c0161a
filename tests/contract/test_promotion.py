"""Promotion on a real catalog and index: nothing is active below the bar before a person agrees."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime, timedelta

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memory.indexing import index_all
from memory.reviews import approve, reject
from policies.promotion import confidence, patterns
from schema import Fact, Kind, Memory, MemoryType, Preference, PreferenceName, Status, Subject, memory_id
from stores.catalog import Changes
from tests.contract.catalogs import a_memory
from tests.contract.pipeline import Worker, on_every_store_at_length, only
from tests.erasing import erase_memory
from tests.turns import subject
from worker.nights.base import Plan
from worker.nights.promote import PROMOTE
from worker.nights.subject_run import run_for_subject

pytest_generate_tests = on_every_store_at_length
NOW = datetime(2026, 11, 20, 3, 0, tzinfo=UTC)
SWIMS = Fact(entity="Anna", verb="swims in", object="the lake")


def tell(worker: Worker, whose: Subject, times: int, sure: float, first: int = 0, *, trust: float = 0.95) -> None:
    """Episodes as a pipeline leaves them, a day apart."""
    policy, model = worker.context.policy.version, worker.context.embedder.name
    episodes = []
    for number in range(first, times):
        at = NOW - timedelta(days=times - number)
        episodes.append(
            Memory(
                id=memory_id(whose, MemoryType.EPISODIC, f"t{number}", 0),
                **whose.model_dump(),
                type=MemoryType.EPISODIC,
                kind=Kind.CONVERSATION_CONTEXT,
                category="Personal",
                summary=f"Anna swam in the lake on {at:%d %B}.",
                facts=(SWIMS,),
                source_turn_ids=(f"t{number}",),
                importance=0.4,
                trust_score=trust,
                confidence=sure,
                occurred_at=at,
                said_at=at,
                created_at=at,
                updated_at=at,
                last_accessed=at,
                embedding_model=model,
                policy_version=policy,
            )
        )
    worker.context.catalog.commit(Changes(subject=whose, at=NOW, created=tuple(episodes)))


def known(worker: Worker, whose: Subject, summary: str, at: datetime, *updated: Memory) -> None:
    """What somebody said of the lake some time, and what it changed."""
    said = a_memory("said", whose, created_at=at).model_copy(update={"summary": summary, "facts": ()})
    changes = Changes(subject=whose, at=NOW, created=(said,), updated=updated)
    worker.context.catalog.commit(changes)
    index_all(whose, worker.context)


def lasting(worker: Worker, whose: Subject) -> list[Memory]:
    return [memory for memory in worker.known(whose) if memory.type is MemoryType.SEMANTIC]


def night(worker: Worker, whose: Subject, now: datetime = NOW) -> Plan | None:
    return run_for_subject(whose, PROMOTE, worker.context, worker.leases, now)


def test_a_pattern_that_is_sure_becomes_a_lasting_memory_once(worker: Worker, anna: str) -> None:
    whose = subject(anna)
    tell(worker, whose, 9, sure=0.95)
    plan = night(worker, whose)
    assert plan is not None
    assert plan.counts() == {"promote": 1}
    known = only(lasting(worker, whose))
    assert (known.summary, set(known.source_turn_ids)) == ("Anna swims in the lake.", {f"t{n}" for n in range(9)})
    assert len(known.related_ids) >= 9
    assert worker.event_names(whose) == ["memory.created", "maybe_promote_to_semantic"]
    assert night(worker, whose) is None, "it is known now"
    erase_memory(whose, known.id, worker.context, by="dora", now=NOW)
    assert all("lake" not in event["payload"] for event in worker.events(whose))
    assert night(worker, whose) is None, "what was erased is not made again"


def test_a_pattern_never_outdoes_what_is_known_nor_comes_back_once_it_has_changed(worker: Worker, anna: str) -> None:
    whose, denied = subject(anna), subject(f"{anna}-denied")
    known(worker, denied, "Anna does not swim in the lake.", NOW - timedelta(days=30))
    for one in (whose, denied):
        tell(worker, one, 9, sure=0.95)
    assert night(worker, denied) is None
    assert "not" in only(lasting(worker, denied)).summary
    assert night(worker, whose) is not None
    swims = only(lasting(worker, whose))
    outdated = {"status": Status.SUPERSEDED, "updated_at": NOW, "version": swims.version + 1}
    known(worker, whose, "Anna no longer swims in the lake.", NOW, swims.model_copy(update=outdated))
    assert night(worker, whose, NOW + timedelta(days=1)) is None
    assert "no longer" in only(lasting(worker, whose)).summary


def test_nothing_is_promoted_against_a_users_wish(worker: Worker, anna: str) -> None:
    wishes = {"consent": PreferenceName.CONSENT, "topic": PreferenceName.BLOCKED_TOPIC}
    for name, preference in wishes.items():
        whose = subject(f"{anna}-{name}")
        tell(worker, whose, 9, sure=0.95)
        wanted = Preference(name=preference, value="withdrawn" if name == "consent" else "lake")
        worker.context.catalog.commit(Changes(subject=whose, at=NOW, preferred=(wanted,)))
        assert night(worker, whose) is None
        worker.context.catalog.commit(Changes(subject=whose, at=NOW, unpreferred=(wanted,)))
        assert night(worker, whose) is not None


def test_a_pattern_that_is_not_sure_waits_for_a_person(worker: Worker, anna: str) -> None:
    whose = subject(anna)
    tell(worker, whose, 3, sure=0.6)
    plan = night(worker, whose)
    assert plan is not None
    assert plan.counts() == {"review": 1}
    assert lasting(worker, whose) == []
    assert night(worker, whose) is None, "it is asked about once"
    [review] = worker.context.catalog.reviews.page(whose)
    approve(review.id, worker.context, by="dora", now=NOW)
    assert only(lasting(worker, whose)).summary == "Anna swims in the lake."


def test_what_a_person_refused_is_not_asked_about_again(worker: Worker, anna: str) -> None:
    whose = subject(anna)
    tell(worker, whose, 3, sure=0.6)
    night(worker, whose)
    [review] = worker.context.catalog.reviews.page(whose)
    reject(review.id, worker.context, by="dora", now=NOW)
    assert night(worker, whose) is None
    tell(worker, whose, 4, sure=0.6, first=3)
    assert night(worker, whose) is None, "nor when it is said once more"
    tell(worker, whose, 9, sure=0.95, first=4)
    assert night(worker, whose) is None, "nor made lasting when it is sure"
    assert lasting(worker, whose) == []


def test_what_waits_for_a_person_becomes_lasting_without_them_once_it_is_sure(worker: Worker, anna: str) -> None:
    whose = subject(anna)
    none = worker.with_parts(policy=worker.context.policy.model_copy(update={"open_reviews_per_subject": 0}))
    tell(worker, whose, 3, sure=0.6)
    assert night(none, whose) is None, "as many wait as may"
    night(worker, whose)
    assert worker.context.catalog.reviews.count_open(whose) == 1
    assert "lake" not in str(worker.events(whose)), "what nobody agreed to yet is not told"
    tell(worker, whose, 12, sure=1.0, first=3, trust=1.0)
    night(worker, whose)
    assert worker.context.catalog.reviews.count_open(whose) == 0
    assert only(lasting(worker, whose)).summary == "Anna swims in the lake."


@settings(max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(times=st.integers(3, 9), sure=st.floats(0.0, 1.0), trust=st.floats(0.5, 1.0))
def test_nothing_becomes_active_below_the_bar(worker: Worker, anna: str, times: int, sure: float, trust: float) -> None:
    whose = subject(f"{anna}-{uuid.uuid4()}")
    tell(worker, whose, times, sure, trust=trust)
    found = patterns(worker.known(whose), NOW, worker.context.policy)
    assert len(found) == (trust > worker.context.policy.promote_trust)
    is_sure = any(confidence(one, worker.context.policy) >= worker.context.policy.promote_confidence for one in found)
    night(worker, whose)
    assert len(lasting(worker, whose)) == is_sure
    assert len(worker.context.catalog.reviews.page(whose)) == len(found) - is_sure
