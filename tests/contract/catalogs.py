"""Subjects, memories and changes for the tests of catalogs."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from random import Random

from schema import (
    AuditAction,
    AuditEntry,
    Event,
    EventName,
    Fact,
    Kind,
    Memory,
    MemoryType,
    Message,
    Subject,
    Turn,
    Visibility,
    memory_id,
)
from stores.catalog import Changes, LedgerEntry, Outcome

NOW = datetime(2026, 11, 2, 8, 0, tzinfo=UTC)
ANNA = Subject(tenant_id="acme", subject_id="anna")
BERT = Subject(tenant_id="acme", subject_id="bert")
NAMESAKE = Subject(tenant_id="globex", subject_id="anna")


def a_memory(
    turn_id: str = "t1", subject: Subject = ANNA, city: str = "Lisbon", *, created_at: datetime = NOW, version: int = 1
) -> Memory:
    return Memory(
        id=memory_id(subject, MemoryType.SEMANTIC, turn_id, 0),
        **subject.model_dump(),
        type=MemoryType.SEMANTIC,
        kind=Kind.USER_FACT,
        category="Personal",
        summary=f"Anna lives in {city}.",
        facts=(Fact(entity="User", verb="lives in", object=city, attribute="home_city"),),
        source_turn_ids=(turn_id,),
        importance=0.4,
        trust_score=0.85,
        confidence=0.9,
        occurred_at=created_at,
        said_at=created_at,
        created_at=created_at,
        updated_at=created_at,
        last_accessed=created_at,
        embedding_model="m",
        policy_version="p",
        version=version,
    )


def a_world(chance: Random, whose: Subject, count: int) -> list[Memory]:
    """Memories about cellos, numbered, with labels at random."""
    return [
        a_memory(f"{whose.subject_id}-{number}", whose).model_copy(
            update={
                "summary": f"Anna plays cello number {number} in the orchestra.",
                "facts": (Fact(entity="Anna", verb="plays", object=f"cello number {number}"),),
                "visibility": chance.choice(list(Visibility)),
                "author_id": chance.choice([None, "maya", "tom"]),
                "agent_id": chance.choice([None, "coach", "banker"]),
                "private": chance.random() < 0.3,
                "importance": chance.choice([0.2, 0.9]),
                "pinned": chance.random() < 0.2,
            }
        )
        for number in range(count)
    ]


def a_turn(turn_id: str = "t1", subject: Subject = ANNA) -> Turn:
    return Turn(
        turn_id=turn_id,
        tenant_id=subject.tenant_id,
        user_id=subject.subject_id,
        conversation_id="c",
        messages=(Message(role="user", content="I live in Lisbon"),),
        occurred_at=NOW,
    )


def a_ledger_entry(turn_id: str = "t1") -> LedgerEntry:
    return LedgerEntry(turn_id, "d" * 64, Outcome.KEPT, ("first_person",), NOW, NOW + timedelta(seconds=2))


def changes(turn_id: str = "t1", subject: Subject = ANNA, fence: int | None = 10) -> Changes:
    memory = a_memory(turn_id, subject)
    return Changes(
        subject=subject,
        at=NOW,
        fence=fence,
        created=(memory,),
        sources=(a_turn(turn_id, subject),),
        audit=(
            AuditEntry(
                action=AuditAction.CREATED,
                **subject.model_dump(),
                at=NOW,
                by="worker",
                reason="new",
                memory_id=memory.id,
                policy_version="p",
            ),
        ),
        ledger=(a_ledger_entry(turn_id),),
        events=(Event(name=EventName.CREATED, **subject.model_dump(), at=NOW, payload={"id": str(memory.id)}),),
    )
