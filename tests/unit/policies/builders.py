"""Candidates and memories for the tests of the judging policies."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from hypothesis import strategies as st

from schema import Candidate, Fact, Kind, Memory, MemoryType, Policy, Subject, memory_id

NOON = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)
POLICY = Policy()

SUBJECTS = ("The user", "Ana", "Ana's sister")
VERBS = ("likes", "hates", "no longer likes", "lives in", "moved to", "works at", "sold", "owns", "is not in")
THINGS = ("tea", "Lisbon", "Porto", "3 cats", "two cats", "a $12k boat", "a red car", "Monday", "meat", "a vegan")

summaries = st.builds("{} {} {}.".format, st.sampled_from(SUBJECTS), st.sampled_from(VERBS), st.sampled_from(THINGS))
attributes = st.sampled_from(("home_city", "employer", None))
facts = st.lists(
    st.builds(
        Fact, entity=st.just("user"), verb=st.sampled_from(VERBS), object=st.sampled_from(THINGS), attribute=attributes
    ),
    max_size=2,
).map(tuple)
moments = st.integers(min_value=0, max_value=24 * 300).map(lambda hours: NOON + timedelta(hours=hours))


def candidate(summary: str = "The user likes tea.", **changes: Any) -> Candidate:
    fields: dict[str, Any] = {
        "turn_id": "turn-2",
        "ordinal": 0,
        "type": MemoryType.SEMANTIC,
        "kind": Kind.USER_FACT,
        "category": "Personal",
        "summary": summary,
        "confidence": 0.8,
        "occurred_at": NOON,
    }
    fields["said_at"] = changes.get("occurred_at", NOON)
    return Candidate(**fields | changes)


def memory(summary: str = "The user likes tea.", **changes: Any) -> Memory:
    subject = Subject(tenant_id="acme", subject_id="ana")
    type_ = changes.get("type", MemoryType.SEMANTIC)
    turn_id = changes.pop("turn_id", "turn-1")
    fields: dict[str, Any] = {
        "id": memory_id(subject, type_, turn_id, changes.pop("ordinal", 0)),
        "tenant_id": subject.tenant_id,
        "subject_id": subject.subject_id,
        "type": type_,
        "kind": Kind.USER_FACT,
        "category": "Personal",
        "summary": summary,
        "source_turn_ids": (turn_id,),
        "importance": 0.4,
        "trust_score": 0.85,
        "confidence": 0.7,
        "occurred_at": NOON,
        "created_at": NOON,
        "updated_at": NOON,
        "last_accessed": NOON,
        "embedding_model": "test",
        "policy_version": POLICY.version,
    }
    fields["said_at"] = changes.get("occurred_at", NOON)
    return Memory(**fields | changes)


def from_candidate(said: Candidate) -> Memory:
    """The memory that a candidate becomes when it is created."""
    return memory(
        said.summary,
        turn_id=said.turn_id,
        ordinal=said.ordinal,
        type=said.type,
        category=said.category,
        facts=said.facts,
        occurred_at=said.occurred_at,
        said_at=said.said_at,
    )
