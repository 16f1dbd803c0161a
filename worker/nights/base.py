"""Describe a nightly job: whether a subject needs it, and what it would change there."""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Literal

from memory.spending import spending
from schema import Memory, Subject
from stores.catalog import Changes
from stores.index.base import Vector
from worker.context import WorkerContext

JobName = Literal["consolidate", "promote", "forget"]
BY = "night"
"""Who did it, in the audit."""
CHANGES_A_TRANSACTION = 100
"""From so many changed memories on, the rest goes into another transaction: on SQLite, whoever writes for another
subject waits for one of them."""


@dataclass(frozen=True)
class Step:
    """One thing that a job does, or would do, and why. `summary` is for the person who asks, and for nobody's log."""

    action: str
    memory_id: uuid.UUID
    summary: str
    why: str

    @classmethod
    def of(cls, action: str, memory: Memory, why: str) -> Step:
        return cls(action, memory.id, memory.summary, why)


@dataclass(frozen=True)
class Plan:
    """Work of a job on one subject: `changes`, each of them in a transaction of its own, in any order. `vectors` are
    those of summaries that the index does not have yet, and what is known of the others."""

    changes: tuple[Changes, ...]
    steps: tuple[Step, ...] = ()
    vectors: Mapping[uuid.UUID, Vector] = field(default_factory=dict)

    def counts(self) -> dict[str, int]:
        """Return how many steps there are of each action."""
        return dict(Counter(step.action for step in self.steps))


@dataclass(frozen=True)
class Job:
    """A nightly job.

    `needs` is asked first, without the lease, and must be cheap. `plan` reads and decides; what it answers is written
    under the lease. Where `ahead` is set, the plan is made before the lease is taken, because it may wait for a model:
    the catalog refuses it if a turn has changed one of its memories since.
    """

    name: JobName
    needs: Callable[[Subject, WorkerContext, datetime], bool]
    plan: Callable[[Subject, WorkerContext, datetime], Plan]
    ahead: bool = False


@spending("night")
def preview(job: Job, subject: Subject, context: WorkerContext, now: datetime) -> tuple[Step, ...]:
    """Return what a job would do to a subject now. No language model is asked, for it costs: what it would write is
    told by the rules, and what it would judge is as if it did not know."""
    frugal = replace(context, llm=None, judge=None)
    return job.plan(subject, frugal, now).steps if job.needs(subject, frugal, now) else ()


def has_consent(subject: Subject, context: WorkerContext) -> bool:
    """Return whether a night may make memories of a subject's episodes. While consent is withdrawn it only forgets."""
    return context.catalog.preferences.of(subject).consent != "withdrawn"
