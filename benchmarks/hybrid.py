"""Measure whole searches in one large subject: vectors, words, context and the reading of what is found.

    python -m benchmarks.hybrid [--memories 10000]

The vectors are random directions and the query's is ready, so the embedder's own time is not in it. The summaries are
made of a few thousand words, the common ones often, as in speech.
"""

from __future__ import annotations

import tempfile
import time
import uuid
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from rich.console import Console
from rich.table import Table

from benchmarks.search import DIMENSIONS, directions, timed
from memory.embedding import counted
from recall.retrieve import retrieve
from schema import Kind, Memory, MemoryType, Subject, Thresholds
from schema.settings import Settings
from stores.catalog import Changes
from stores.embedding.base import Vectors
from stores.fulltext import FullText
from stores.index.base import Entry
from stores.open import Stores, open_stores

BIG = Subject(tenant_id="bench", subject_id="big")
_START = datetime(2026, 1, 1, tzinfo=UTC)
_WORDS = 4_000
_A_COMMIT = 500


class _Ready:
    """An embedder whose answer is ready: the next of some directions."""

    name = "ready"
    dimensions = DIMENSIONS
    thresholds = Thresholds(
        semantic_auto_update=0.9, semantic_check_low=0.8, episodic_auto_update=0.9, episodic_check_low=0.8
    )

    def __init__(self) -> None:
        self._answers = iter(np.resize(directions(64, seed=9), (100_000, DIMENSIONS)))

    def embed(self, texts: Sequence[str]) -> Vectors:
        return np.stack([next(self._answers) for _ in texts])


def memories(count: int, first: int = 0) -> list[Memory]:
    """Return memories of some eleven words each, of conversations of twenty turns a minute apart."""
    chance = np.random.default_rng(first)
    words = chance.zipf(1.3, (count, 11)) % _WORDS
    found = []
    for number, row in enumerate(words, first):
        at = _START + timedelta(hours=number // 20, minutes=number % 20)
        found.append(
            Memory(
                id=uuid.uuid5(uuid.NAMESPACE_URL, f"big {number}"),
                **BIG.model_dump(),
                type=MemoryType.SEMANTIC,
                kind=Kind.USER_FACT,
                category="Personal",
                summary=f"Ana {' '.join(f'w{word:x}rd' for word in row)}.",
                conversation_id=f"c{number // 20}",
                source_turn_ids=(f"t{number}",),
                **dict.fromkeys(("importance", "trust_score", "confidence"), 0.5),
                **dict.fromkeys(("occurred_at", "said_at", "created_at", "updated_at", "last_accessed"), at),
                embedding_model="ready",
                policy_version="bench",
            )
        )
    return found


def write(stores: Stores, written: Sequence[Memory]) -> None:
    """Commit memories and index them."""
    stores.catalog.commit(Changes(subject=BIG, at=_START, created=tuple(written)))
    vectors = directions(len(written), seed=len(written))
    stores.index.upsert([Entry.of(*pair) for pair in zip(written, vectors, strict=True)])


def main(
    size: Annotated[int, typer.Option("--memories", help="how many the subject has", min=100)] = 10_000,
    queries: Annotated[int, typer.Option(help="how many searches are timed", min=10)] = 100,
) -> None:
    """Measure whole searches in a subject of 10,000 memories: warm, after a write, and the first in a process.

    Wall-clock milliseconds at the median and at 95%, and the mean CPU time for a machine that others use too.
    """
    console = Console()
    with tempfile.TemporaryDirectory() as folder:
        settings = Settings(data_dir=Path(folder))
        stores = replace(open_stores(settings, counted), embedder=_Ready())
        for start in range(0, size, _A_COMMIT):
            write(stores, memories(min(_A_COMMIT, size - start), start))
        asked = [" ".join(memory.summary.split()[2:6]) for memory in memories(queries, first=7)]
        ask = [partial(retrieve, None, [BIG], query, stores, relevant_only=False, now=_START) for query in asked]
        started = time.process_time()
        FullText(stores.catalog.summaries).read([(BIG, None)])
        cold = f"{1e3 * (time.process_time() - started):.0f}"
        ask[0]()
        words = [partial(stores.fulltext.read([(BIG, None)]).compare, query, 100, stores.policy) for query in asked]
        rows = [
            timed(ask, "search"),
            timed(words, "of it: the words"),
            timed(ask, "search after a write", [partial(write, stores, memories(1, size + n)) for n in range(queries)]),
            ["reading the words for the first time", "", "", cold],
        ]
        stores.close()
    table = Table("what", "p50 ms", "p95 ms", "CPU ms", title=f"1 subject of {size:,} memories", title_justify="left")
    for row in rows:
        table.add_row(*row)
    console.print(table)


if __name__ == "__main__":
    typer.run(main)
