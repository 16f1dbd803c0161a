"""Promote: what several episodes say becomes a lasting memory, by the ordinary decision of dedup, or is put before a
person first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from memory.draft import Draft
from memory.resolve import resolve
from memory.reviews import why_not
from memory.scoring import Origin, embed, score
from policies.promotion import Pattern, candidate, confidence, conflicts, patterns
from schema import (
    Asker,
    Candidate,
    EventName,
    Memory,
    MemoryType,
    Policy,
    Review,
    ReviewStatus,
    Settlement,
    Status,
    Subject,
)
from worker.context import WorkerContext
from worker.nights.base import BY, Job, Plan, Step, has_consent

_NEW = timedelta(days=7)
"""A subject without a new episode for so long has no new pattern; nights may be missed."""


def needs(subject: Subject, context: WorkerContext, now: datetime) -> bool:
    """Return whether there are new episodes, and enough of them for a pattern."""
    decay = context.catalog.decay
    return (
        bool(decay.episodes(subject, now - _NEW, now, whatever=True))
        and decay.episodes(subject, now - timedelta(days=context.policy.promote_days), now, whatever=True)
        >= context.policy.promote_times
        and has_consent(subject, context)
    )


def plan(subject: Subject, context: WorkerContext, now: datetime) -> Plan:
    """Propose every pattern that is new: sure ones go through dedup, the others to the reviews.

    A pattern is proposed once. That it was is told by its review, which a sure one has too, settled from its beginning:
    so what a person refused, what was erased and what has changed since stays so.
    """
    policy = context.policy
    draft = Draft(subject, now, policy.version, by=BY)
    lasting = context.catalog.list_memories(
        subject, types=(MemoryType.SEMANTIC,), limit=context.settings.night_memories
    )
    preferences = context.catalog.preferences.of(subject)
    waiting = context.catalog.reviews.count_open(subject)
    steps: list[Step] = []
    sure: list[_Proposed] = []
    for pattern in patterns(_episodes(subject, context), now, policy):
        proposed = _proposed(pattern, subject, now, policy)
        earlier = context.catalog.reviews.get(proposed.review.id)
        if (
            _is_known(pattern, lasting)
            or conflicts(pattern, lasting)
            or why_not(proposed.candidate, preferences)
            or (earlier and earlier.status is not ReviewStatus.OPEN)
        ):
            continue
        if confidence(pattern, policy) >= policy.promote_confidence:
            sure.append(replace(proposed, is_open=earlier is not None))
        elif earlier is None and waiting < policy.open_reviews_per_subject:
            waiting += 1
            draft.queue_review(proposed.review)
            draft.emit(EventName.MAYBE_PROMOTE, {"review": str(proposed.review.id)})
            why = f"{proposed.why}: a person decides"
            steps.append(Step("review", proposed.review.id, proposed.candidate.summary, why))
    settled, promoted = _promote(sure, draft, context)
    changes = replace(draft.changes(), settled=settled)
    return Plan((changes,), (*steps, *promoted), dict(draft.vectors))


@dataclass(frozen=True)
class _Proposed:
    """A candidate for a lasting memory, and the review that tells that it was proposed; `is_open` says that it waits
    for a person since an earlier night."""

    pattern: Pattern
    candidate: Candidate
    review: Review
    why: str
    is_open: bool = False


def _proposed(pattern: Pattern, subject: Subject, now: datetime, policy: Policy) -> _Proposed:
    proposed = candidate(pattern, policy)
    review = Review.of(
        subject,
        proposed,
        Asker.PROMOTION,
        reason="a pattern of episodes, not sure enough",
        policy_version=policy.version,
        opened_at=now,
        links=tuple(memory.id for memory in pattern.episodes),
        about=pattern.name,
    )
    why = f"said {len(pattern.episodes)} times in {policy.promote_days} days, confidence {proposed.confidence:.2f}"
    return _Proposed(pattern, proposed, review, why)


def _promote(
    sure: Sequence[_Proposed], draft: Draft, context: WorkerContext
) -> tuple[tuple[Settlement, ...], list[Step]]:
    """Put what is sure through dedup, one after the other, on the draft.

    What would take the place of something that is known is left alone: a night's guess does not outdo what was said.
    """
    settled: list[Settlement] = []
    steps: list[Step] = []
    if not sure:
        return (), steps
    subject_state = context.catalog.subject_state(draft.subject, draft.now - timedelta(hours=1))
    items = [score(proposed.candidate, context, is_guess=True) for proposed in sure]
    vectors = embed(items, subject_state.unindexed, draft, context)
    for proposed, item, vector in zip(sure, items, vectors, strict=True):
        agent_id = proposed.pattern.episodes[-1].agent_id
        origin = Origin(None, agent_id, draft.subject.subject_id, proposed.review.links)
        [resolution] = resolve([item], [vector], {proposed.candidate.turn_id: origin}, draft, context)
        if resolution.memory_id is None:
            continue
        summary = proposed.candidate.summary
        draft.emit(EventName.MAYBE_PROMOTE, {"id": str(resolution.memory_id), "summary": summary})
        steps.append(Step("promote", resolution.memory_id, summary, proposed.why))
        if proposed.is_open:
            settled.append(Settlement(review_id=proposed.review.id, status=ReviewStatus.APPROVED, by=BY))
        else:
            draft.reviews.append(_settled(proposed.review, draft.now))
    return tuple(settled), steps


def _settled(review: Review, now: datetime) -> Review:
    nothing = {"candidate": None, "links": (), "reason": "a pattern of episodes, sure enough"}
    return review.model_copy(update={**nothing, "status": ReviewStatus.APPROVED, "decided_at": now, "decided_by": BY})


def _episodes(subject: Subject, context: WorkerContext) -> list[Memory]:
    """Return the episodes, those that became a part of a consolidated memory too: the consolidated ones repeat them."""
    memories = context.catalog.list_memories(
        subject,
        statuses=(Status.ACTIVE, Status.ARCHIVED),
        types=(MemoryType.EPISODIC,),
        limit=context.settings.night_memories,
    )
    return [
        memory
        for memory in memories
        if not memory.consolidated_from and (memory.status is Status.ACTIVE or memory.consolidated_into)
    ]


def _is_known(pattern: Pattern, lasting: list[Memory]) -> bool:
    """Return whether a lasting memory was made of this pattern before, or says the fact already."""
    proposed = {memory.id for memory in pattern.episodes}
    fact = pattern.fact
    for memory in lasting:
        if pattern.name.startswith("tag ") and len(proposed & set(memory.related_ids)) >= 2:
            return True
        if fact and any(
            (kept_fact.entity.casefold(), kept_fact.verb.casefold(), kept_fact.object.casefold())
            == (fact.entity.casefold(), fact.verb.casefold(), fact.object.casefold())
            for kept_fact in memory.facts
        ):
            return True
    return False


PROMOTE = Job("promote", needs, plan)
