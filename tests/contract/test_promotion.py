"""Promotion on a real catalog and index: nothing is active below the bar before a person agrees."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime, timedelta

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memory.catalog import Changes
from memory.schema import Fact, Kind, Memory, MemoryType, Subject, memory_id
from policies.promotion import confidence, patterns
from tests.contract.pipeline import Worker, on_every_store, only
from tests.turns import subject
from worker.nights.base import Plan
from worker.nights.promote import PROMOTE
from worker.nights.visit import visit
from worker.reviews import approve, reject

pytest_generate_tests = on_every_store
NOW = datetime(2026, 11, 20, 3, 0, tzinfo=UTC)
SWIMS = Fact(entity="Anna", verb="swims in", object="the lake")


def tell(worker: Worker, whose: Subject, times: int, sure: float, first: int = 0, *, trust: float = 0.95) -> None:
    """Episodes as a pipeline leaves them, a day apart."""
    policy, model = worker.parts.policy.version, worker.parts.embedder.name
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
    worker.parts.catalog.commit(Changes(subject=whose, at=NOW, created=tuple(episodes)))


def lasting(worker: Worker, whose: Subject) -> list[Memory]:
    return [memory for memory in worker.known(whose) if memory.type is MemoryType.SEMANTIC]


def night(worker: Worker, whose: Subject, now: datetime = NOW) -> Plan | None:
    return visit(whose, PROMOTE, worker.parts, worker.leases, now)


def test_a_pattern_that_is_sure_becomes_a_lasting_memory_once(worker: Worker, anna: str) -> None:
    whose = subject(anna)
    tell(worker, whose, 9, sure=0.95)
    plan = night(worker, whose)
    assert plan is not None
    assert plan.counts() == {"promote": 1}
    known = only(lasting(worker, whose))
    assert (known.summary, set(known.source_turn_ids)) == ("Anna swims in the lake.", {f"t{n}" for n in range(9)})
    assert len(known.related_ids) >= 9
    assert "maybe_promote_to_semantic" in worker.event_names(whose)
    assert night(worker, whose) is None, "it is known now"


def test_a_pattern_that_is_not_sure_waits_for_a_person(worker: Worker, anna: str) -> None:
    whose = subject(anna)
    tell(worker, whose, 3, sure=0.6)
    plan = night(worker, whose)
    assert plan is not None
    assert plan.counts() == {"review": 1}
    assert lasting(worker, whose) == []
    assert night(worker, whose) is None, "it is asked about once"
    [review] = worker.parts.catalog.reviews.page(whose)
    approve(review.id, worker.parts, by="dora", now=NOW)
    assert only(lasting(worker, whose)).summary == "Anna swims in the lake."


def test_what_a_person_refused_is_not_asked_about_again(worker: Worker, anna: str) -> None:
    whose = subject(anna)
    tell(worker, whose, 3, sure=0.6)
    night(worker, whose)
    [review] = worker.parts.catalog.reviews.page(whose)
    reject(review.id, worker.parts.catalog, policy_version=worker.parts.policy.version, by="dora", now=NOW)
    assert night(worker, whose) is None
    tell(worker, whose, 4, sure=0.6, first=3)
    assert night(worker, whose) is None, "nor when it is said once more"
    assert lasting(worker, whose) == []


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(times=st.integers(3, 9), sure=st.floats(0.0, 1.0), trust=st.floats(0.5, 1.0))
def test_nothing_becomes_active_below_the_bar(worker: Worker, anna: str, times: int, sure: float, trust: float) -> None:
    whose = subject(f"{anna}-{uuid.uuid4()}")
    tell(worker, whose, times, sure, trust=trust)
    found = patterns(worker.known(whose), NOW, worker.parts.policy)
    assert len(found) == (trust > worker.parts.policy.promote_trust)
    is_sure = any(confidence(one, worker.parts.policy) >= worker.parts.policy.promote_confidence for one in found)
    night(worker, whose)
    assert len(lasting(worker, whose)) == is_sure
    assert len(worker.parts.catalog.reviews.page(whose)) == len(found) - is_sure
