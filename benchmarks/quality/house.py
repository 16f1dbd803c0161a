"""The worker's own pipeline in this process, on stores of its own, at the moments that the data names."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import count
from pathlib import Path
from typing import Any, Final

from sqlalchemy import Engine, select

from benchmarks.quality.vectors import KeptVectors
from memory.attributes import prototypes_of
from memory.metrics import STAGE_CPU
from schema import Memory, Message, Status, Subject, Turn
from schema.settings import Settings, load_settings
from stores.catalog.engine import create_catalog_engine
from stores.catalog.tables import metadata
from stores.mailbox import Lease
from stores.queue import create_celery
from worker.context import WorkerContext, open_worker_context
from worker.pipeline import ReceivedTurn, process

TENANT: Final = "quality"
_STAGES: Final = ("admit", "extract", "screen", "score", "embed", "resolve", "commit", "index", "announce")
_OURS: Final = ("id", "ids", "at", "digest", "version", "model", "key", "accessed")
"""How the names of columns and fields end that hold none of what was said."""


@dataclass
class Spent:
    """CPU seconds of this process over some turns: in all, and by stage of the pipeline.

    A stage's time is that of the thread that runs it; the embedder has threads of its own.
    """

    turns: int = 0
    cpu: float = 0.0
    stages: dict[str, float] = field(default_factory=dict)

    def add(self, other: Spent) -> None:
        self.turns += other.turns
        self.cpu += other.cpu
        for stage, seconds in other.stages.items():
            self.stages[stage] = self.stages.get(stage, 0.0) + seconds

    @property
    def own(self) -> float:
        """Return the CPU seconds of all stages but the embedder's."""
        return sum(seconds for stage, seconds in self.stages.items() if stage != "embed")


@dataclass(frozen=True)
class House:
    """A worker's parts, without queue and mailbox: what measuring its judgement needs of it."""

    context: WorkerContext
    engine: Engine
    tokens: Iterator[int] = field(default_factory=lambda: count(1))

    def hear(self, turns: Sequence[Turn]) -> None:
        """Process turns of one subject as the worker does, in its batches, as if each batch were taken at the moment
        of its last turn."""
        size = self.context.settings.memory_batch_turns
        for start in range(0, len(turns), size):
            batch = turns[start : start + size]
            now = batch[-1].occurred_at
            received = [ReceivedTurn(turn, turn.digest(), now, now) for turn in batch]
            process(received, Lease(batch[0].subject, next(self.tokens)), self.context, now)

    def memories(self, subject: Subject, statuses: Sequence[Status] = tuple(Status)) -> list[Memory]:
        return self.context.catalog.list_memories(subject, statuses=statuses, limit=1_000_000)

    def kept_text(self, subject: Subject) -> str:
        """Return every text that any table of the catalog has of a subject, a line each; ids and times left out.

        The index holds vectors and labels of memories, and the event streams hold what the outbox held.
        """
        found: list[str] = []
        with self.engine.connect() as connection:
            for table in (one for one in metadata.sorted_tables if "subject_id" in one.c):
                mine = (table.c.tenant_id == subject.tenant_id) & (table.c.subject_id == subject.subject_id)
                for row in connection.execute(select(table).where(mine)).mappings():
                    found += _texts(dict(row))
        return "\n".join(found)

    def close(self) -> None:
        self.engine.dispose()
        self.context.close()


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for name, inner in value.items():
            if str(name).rpartition("_")[2] not in _OURS:
                yield from _texts(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _texts(inner)


def settings_of(folder: Path, broker_url: str, *, llm: bool) -> Settings:
    """Return the settings of the environment with stores in `folder`; the rules extractor unless `llm` asks for the
    one that is configured."""
    own: dict[str, Any] = {"data_dir": folder, "broker_url": broker_url, "catalog_url": None}
    return load_settings().model_copy(update=own | ({} if llm else {"extractor": "rules", "llm": "none"}))


def open_house(settings: Settings, vectors: Path | None) -> House:
    """Return a house on the settings' stores; with `vectors`, embedded texts are kept in that file from run to run."""
    context = open_worker_context(settings, create_celery(settings))
    if vectors is not None:
        context = replace(context, embedder=KeptVectors(context.embedder, vectors))
    context.extractor.prepare()
    prototypes_of(context.embedder)
    return House(context, create_catalog_engine(settings.effective_catalog_url))


@contextmanager
def spending(turns: int) -> Iterator[Spent]:
    """Measure the CPU time of the block, which handles that many turns."""
    spent = Spent(turns)
    before = {stage: STAGE_CPU.labels(stage)._value.get() for stage in _STAGES}
    started = time.process_time()
    yield spent
    spent.cpu = time.process_time() - started
    spent.stages = {stage: STAGE_CPU.labels(stage)._value.get() - before[stage] for stage in _STAGES}


def subject_of(*names: str) -> Subject:
    return Subject(tenant_id=TENANT, subject_id="/".join(names))


def messages(
    said: str, *, name: str | None = None, before: Iterable[tuple[str | None, str]] = ()
) -> tuple[Message, ...]:
    """Return a user's message after what the other side, (name, text) each, had said since the last one."""
    heard = (Message(role="assistant", name=other, content=text) for other, text in before if text.strip())
    return (*heard, Message(role="user", name=name, content=said))
