"""Many subjects at once for the benchmark of the nights: memories of episodes on few themes, of the last half year.

They are written as an import would, many subjects in a transaction: through the pipeline two million memories would
take a night of their own.
"""

from __future__ import annotations

import random
import uuid
from collections.abc import Sequence
from contextlib import closing
from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import Final

from rich.console import Console
from rich.progress import track
from sqlalchemy import insert

import stores.catalog.tables as tables
from schema import Fact, Kind, Memory, MemoryType, Subject
from stores.catalog.engine import create_catalog_engine
from stores.catalog.rows import fact_rows, memory_row, provenance_rows
from stores.index.base import Entry
from worker.context import WorkerContext

_DOINGS: Final = (
    ("went", "hiking"),
    ("cooked", "pasta"),
    ("painted", "the kitchen"),
    ("met", "an old friend"),
    ("read", "a novel"),
    ("repaired", "the bicycle"),
)
_PLACES: Final = ("in the hills", "at the lake", "at home", "in town", "by the sea", "at the station")
_TEMPLATES: Final = 50
"""Different lives; each subject lives one of them."""
_A_TRANSACTION: Final = 20


def make_subjects(subjects: int, memories: int, context: WorkerContext, console: Console) -> None:
    """Write subjects with memories to an empty catalog on SQLite and its index."""
    chance, now = random.Random(3), datetime.now(UTC)
    lives = [
        [_episode(number, chance, now, context) for number in range(memories)] for _ in range(min(_TEMPLATES, subjects))
    ]
    texts = sorted({memory.summary for life in lives for memory in life})
    vectors = dict(zip(texts, context.embedder.embed(texts), strict=True))
    engine = create_catalog_engine(context.settings.effective_catalog_url)
    numbers = iter(track(range(subjects), "making subjects", console=console, transient=True))
    with closing(engine.connect()) as connection:
        # Nobody else is there yet, and what is lost is made again.
        for pragma in ("cache_size=-65536", "synchronous=OFF"):
            connection.exec_driver_sql(f"PRAGMA {pragma}")
        connection.rollback()
        while some := [_lived(lives[number % len(lives)], number) for number in islice(numbers, _A_TRANSACTION)]:
            with connection.begin():
                # The driver begins nothing by itself, and a flush for each row would take hours.
                connection.exec_driver_sql("BEGIN IMMEDIATE")
                connection.execute(insert(tables.subjects), [_subject_row(life[0].subject) for life in some])
                every = [memory for life in some for memory in life]
                connection.execute(insert(tables.memories), [memory_row(memory, 1) for memory in every])
                connection.execute(insert(tables.facts), fact_rows(every))
                connection.execute(insert(tables.provenance), provenance_rows(every))
            for life in some:
                context.index.upsert([Entry.of(memory, vectors[memory.summary]) for memory in life])
    engine.dispose()


def _lived(life: Sequence[Memory], number: int) -> list[Memory]:
    """Return the memories of one subject."""
    chance, whose = random.Random(number), f"user{number:07}"
    return [memory.model_copy(update={"id": _id(chance), "subject_id": whose}) for memory in life]


def _id(chance: random.Random) -> uuid.UUID:
    return uuid.UUID(int=chance.getrandbits(128), version=4)


def _subject_row(whose: Subject) -> dict[str, str | int]:
    return {**whose.model_dump(), "fence": 1, "revision": 1, "removed": 0}


def _episode(number: int, chance: random.Random, now: datetime, context: WorkerContext) -> Memory:
    at = now - timedelta(days=chance.uniform(3, 180))
    (verb, what), place = chance.choice(_DOINGS), chance.choice(_PLACES)
    return Memory(
        id=_id(chance),
        tenant_id="bench",
        subject_id="template",
        type=MemoryType.EPISODIC,
        kind=Kind.CONVERSATION_CONTEXT,
        category="Personal",
        summary=f"Maya {verb} {what} {place}.",
        tags=(what.split()[-1],),
        facts=(Fact(entity="user", verb=verb, object=f"{what} {place}"),),
        source_turn_ids=(f"t{number}",),
        importance=chance.uniform(0.1, 0.6),
        trust_score=0.85,
        confidence=0.7,
        occurred_at=at,
        said_at=at,
        created_at=at,
        updated_at=at,
        last_accessed=at,
        embedding_model=context.embedder.name,
        policy_version=context.policy.version,
    )
