"""Consolidate: episodes that belong together become one memory, and what nobody needs of the rest is archived."""

from __future__ import annotations

import time
import uuid
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from functools import partial

import numpy as np
import structlog

from memory.draft import Draft
from memory.indexing import indexed_vectors
from memory.leases import LeaseKeeper
from memory.metrics import NIGHT_FIT
from policies.consolidation import Pair, clusters_over_time, consolidated, may_join, retell, unneeded
from schema import Memory, MemoryType, Status, Subject
from stores.index.base import Vector
from stores.queue import request_condensing
from worker.context import WorkerContext
from worker.nights.base import BY, CHANGES_A_TRANSACTION, Job, Plan, Step, has_consent
from worker.nights.condense import condensed
from worker.nights.subject_run import Busy, run_for_subject

_log = structlog.get_logger()
_ASKED_SECONDS = 3600
_NEW = timedelta(days=7)
"""A subject without an episode that has become fit to be joined for so long has been done before, in a night that may
have been missed some times."""


def needs(subject: Subject, context: WorkerContext, now: datetime) -> bool:
    """Return whether there are episodes that lately became fit to be joined, or old ones that nobody needs."""
    policy = context.policy
    settled = now - timedelta(hours=policy.episodic_merge_window_hours)
    grace = now - timedelta(days=policy.consolidate_grace_days)
    decay = context.catalog.decay
    return (
        decay.episodes(subject, settled - _NEW, settled) > 0
        or decay.episodes(subject, grace - _NEW, grace, below=policy.consolidate_low_importance) > 0
    ) and has_consent(subject, context)


def plan(subject: Subject, context: WorkerContext, now: datetime, *, at_once: bool = False) -> Plan:
    """Join what belongs together and archive what is alone, unimportant and old.

    `at_once` takes in what was said just now: for a subject that tells too much to wait for its night. Once half of the
    time has passed after which a silent worker counts as dead, for a model may be slow, the rest waits a night.
    """
    policy, begun = context.policy, time.monotonic()
    memories = context.catalog.decay.unjoined_episodes(
        subject,
        now - timedelta(days=policy.consolidate_days),
        now if at_once else now - timedelta(hours=policy.episodic_merge_window_hours),
        context.settings.night_memories,
    )
    fit = [memory for memory in memories if may_join(memory, now, policy, at_once=at_once)]
    NIGHT_FIT.inc(len(fit))
    drafts = [Draft(subject, now, policy.version, by=BY)]
    steps: list[Step] = []
    vectors = vectors_of(fit, context)

    def near(window: Sequence[Memory]) -> Iterator[Pair]:
        return _near([vectors[memory.id] for memory in window], policy.consolidate_similarity)

    def fits(group: Sequence[Memory]) -> bool:
        context.rest()
        return retell(group, policy) is not None

    for group in clusters_over_time(fit, near, fits, policy):
        if len(drafts[-1].changed) >= CHANGES_A_TRANSACTION:
            drafts.append(Draft(subject, now, policy.version, by=BY))
        draft = drafts[-1]
        draft.load(group)
        if len(group) > 1:
            steps += _join(group, draft, context)
            if time.monotonic() - begun > context.settings.turn_deadline_seconds / 2:
                _log.warning("night_cut_short", stage="night", job="consolidate")
                break
        elif unneeded(group[0], now, policy):
            why = f"alone, importance {group[0].importance:.2f}, not used for {policy.consolidate_grace_days} days"
            draft.archive(group[0], why)
            steps.append(Step.of("archive", group[0], why))
    for draft in drafts:
        vectors |= draft.vectors
    return Plan(tuple(draft.changes() for draft in drafts), tuple(steps), vectors)


def _join(group: Sequence[Memory], draft: Draft, context: WorkerContext) -> Iterator[Step]:
    context.rest()
    summary, by = condensed(group, context)
    whole = consolidated(group, summary, draft.now, context.policy, embedding_model=context.embedder.name)
    [vector] = context.embedder.embed([summary])
    days = (group[-1].occurred_at - group[0].occurred_at).days
    why = f"says what {len(group)} episodes of {days + 1} days say, by {by}"
    draft.create(whole, vector, why)
    yield Step.of("consolidate", whole, why)
    for memory in group:
        part = memory.model_copy(update={"consolidated_into": whole.id})
        draft.archive(part, "became a part of a consolidated memory")
        yield Step.of("join", memory, f"becomes a part of {whole.id}")


def vectors_of(memories: Sequence[Memory], context: WorkerContext) -> dict[uuid.UUID, Vector]:
    """Return the vectors of summaries, from the index where it has them."""
    vectors = indexed_vectors(memories, context)
    if missing := [memory for memory in memories if memory.id not in vectors]:
        embedded = context.embedder.embed([memory.summary for memory in missing])
        vectors |= {memory.id: vector for memory, vector in zip(missing, embedded, strict=True)}
    return vectors


def _near(vectors: Sequence[Vector], least: float) -> Iterator[Pair]:
    """Yield the pairs whose cosine is at least so much."""
    matrix = np.stack(vectors)
    cosines = matrix @ matrix.T
    rows, columns = np.nonzero(np.triu(cosines >= least, 1))
    yield from zip(cosines[rows, columns].tolist(), rows.tolist(), columns.tolist(), strict=True)


CONSOLIDATE = Job("consolidate", needs, plan, ahead=True)
AT_ONCE = Job(
    "consolidate", lambda subject, context, _: has_consent(subject, context), partial(plan, at_once=True), ahead=True
)
"""Consolidation of a subject that tells too much to wait for its night."""


def is_burst(subject: Subject, created: Sequence[Memory], context: WorkerContext, now: datetime) -> bool:
    """Return whether the memories that were just created take a subject past the number of episodes within 24 hours
    from which it is condensed at once, or past twice that, and so on."""
    new = sum(memory.type is MemoryType.EPISODIC and memory.status is Status.ACTIVE for memory in created)
    if not new:
        return False
    count = context.catalog.decay.episodes(subject, now - timedelta(days=1), now + timedelta(minutes=1))
    return count // context.policy.consolidate_burst > (count - new) // context.policy.consolidate_burst


def request_condensing_once(subject: Subject, context: WorkerContext) -> None:
    """Ask any worker to condense a subject, unless one was asked within the hour and nobody has begun."""
    if context.redis.set(_asked(subject), 1, nx=True, ex=_ASKED_SECONDS):
        request_condensing(context.celery, subject)


def condense_at_once(subject: Subject, context: WorkerContext, leases: LeaseKeeper, now: datetime) -> None:
    """Condense a subject that tells too much to wait for its night. Who is talking still is done in the night."""
    context.redis.delete(_asked(subject))
    try:
        run_for_subject(subject, AT_ONCE, context, leases, now)
    except Busy as reason:
        _log.info("left_to_the_night", stage="night", job="consolidate", reason=str(reason))


def _asked(subject: Subject) -> str:
    return f"afterturn:night:asked:{{{subject.key}}}"
