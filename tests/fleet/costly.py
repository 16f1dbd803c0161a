"""One user who has told more than anybody: their life, and how it is put into a fleet."""

from __future__ import annotations

import random
import uuid
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import select

from memory.context import open_memory
from memory.publish import publish
from schema import Kind, Memory, MemoryType, Subject
from schema.settings import Settings
from stores.catalog import Changes, tables
from stores.catalog.engine import create_catalog_engine

COSTLY = Subject(tenant_id="acme", subject_id="costly")
_A_COMMIT = 500
_VERBS = ("painted", "repaired", "visited", "sold", "cleaned", "measured", "sketched", "described")
_THINGS = ("the boat", "a bridge", "the old mill", "a clock", "the garden", "a radio", "the attic", "a fence")
_PLACES = ("in Bergen", "by the lake", "with Karin", "after work", "at dawn", "in the rain", "near Porto", "at home")


def _episodes(number: int, embedding_model: str) -> Iterator[Memory]:
    """Yield episodes of the last 80 days, on few themes."""
    chance, now = random.Random(7), datetime.now(UTC)
    for place in range(number):
        at = now - timedelta(days=chance.uniform(0.1, 80))
        doing = " ".join(chance.choice(words) for words in (_VERBS, _THINGS, _PLACES))
        yield Memory(
            id=uuid.UUID(int=chance.getrandbits(128), version=4),
            **COSTLY.model_dump(),
            type=MemoryType.EPISODIC,
            kind=Kind.CONVERSATION_CONTEXT,
            category="Personal",
            summary=f"The user {doing}.",
            source_turn_ids=(f"past-{place}",),
            importance=chance.uniform(0.3, 0.6),
            trust_score=0.85,
            confidence=0.7,
            occurred_at=at,
            said_at=at,
            created_at=at,
            updated_at=at,
            last_accessed=at,
            embedding_model=embedding_model,
            policy_version="test",
        )


def fill(settings: Settings, number: int) -> None:
    """Write so many episodes of the costly user, and their vectors."""
    with closing(open_memory(settings)) as context:
        life = list(_episodes(number, context.embedder.name))
        texts = sorted({memory.summary for memory in life})
        vectors = dict(zip(texts, context.embedder.embed(texts), strict=True))
        for begin in range(0, len(life), _A_COMMIT):
            some = tuple(life[begin : begin + _A_COMMIT])
            changes = Changes(COSTLY, datetime.now(UTC), created=some)
            publish(changes, {memory.id: vectors[memory.summary] for memory in some}, context)


def lags_of_others(settings: Settings, since: datetime) -> list[float]:
    """Return the seconds from arrival to commit of the others' turns that were committed since a moment, shortest
    first."""
    ledger = tables.ledger
    query = select(ledger.c.arrived_at, ledger.c.processed_at).where(
        ledger.c.processed_at >= since, ledger.c.subject_id != COSTLY.subject_id
    )
    engine = create_catalog_engine(settings.effective_catalog_url)
    with closing(engine.connect()) as connection:
        lags = [(row.processed_at - row.arrived_at).total_seconds() for row in connection.execute(query)]
    engine.dispose()
    return sorted(lags)


def turn(user: str, number: int) -> dict[str, Any]:
    """Return a turn in which a user tells an episode."""
    chance = random.Random(f"{user}{number}")
    said = f"Yesterday I {chance.choice(_VERBS)} {chance.choice(_THINGS)} {chance.choice(_PLACES)}, part {number}."
    return {
        "schema_version": 1,
        "turn_id": f"{user}-{number}",
        "tenant_id": COSTLY.tenant_id,
        "user_id": user,
        "conversation_id": "c",
        "messages": [{"role": "user", "content": said}],
        "occurred_at": datetime.now(UTC).isoformat(),
    }
