"""Promotion: what several episodes say becomes a lasting memory, by the ordinary decision of dedup, or is put before a
person first."""

from __future__ import annotations

from datetime import datetime, timedelta

from memory.schema import Asker, EventName, Memory, MemoryType, Review, Status, Subject
from policies.promotion import Pattern, candidate, confidence, conflicts, patterns
from worker.draft import Draft
from worker.nights.base import BY, Job, Plan, Step, drafted
from worker.parts import Parts
from worker.pipeline import embed, scored
from worker.resolve import Origin, resolve

_A_NIGHT = 2_000
"""Memories of one subject that are read in one night at most, the latest first."""
_NEW = timedelta(days=7)
"""A subject without a new episode for so long has no new pattern; nights may be missed."""


def needs(subject: Subject, parts: Parts, now: datetime) -> bool:
    """Whether there are new episodes, and enough of them for a pattern."""
    fading = parts.catalog.fading
    return bool(fading.episodes(subject, now - _NEW, now, whatever=True)) and (
        fading.episodes(subject, now - timedelta(days=parts.policy.promote_days), now, whatever=True)
        >= parts.policy.promote_times
    )


def plan(subject: Subject, parts: Parts, now: datetime) -> Plan:
    """Propose every pattern that is new: sure ones go through dedup, the others to the reviews."""
    policy = parts.policy
    draft = Draft(subject, now, policy.version, by=BY)
    lasting = parts.catalog.list_memories(subject, types=(MemoryType.SEMANTIC,), limit=_A_NIGHT)
    steps = []
    sure = []
    for pattern in patterns(_episodes(subject, parts), now, policy):
        proposed = candidate(pattern, policy)
        if _is_known(pattern, lasting) or conflicts(pattern, lasting):
            continue
        links = tuple(memory.id for memory in pattern.episodes)
        why = f"said {len(pattern.episodes)} times in {policy.promote_days} days, confidence {proposed.confidence:.2f}"
        if confidence(pattern, policy) >= policy.promote_confidence:
            sure.append((pattern, proposed, links))
            steps.append(Step("promote", pattern.episodes[-1].id, proposed.summary, why))
            continue
        review = Review.of(
            subject,
            proposed,
            Asker.PROMOTION,
            reason="a pattern of episodes, not sure enough",
            policy_version=policy.version,
            opened_at=now,
            links=links,
            about=pattern.name,
        )
        # One that a person has decided on, or that waits, is not asked about again.
        if parts.catalog.reviews.get(review.id) is None:
            draft.hold(review)
            draft.say(EventName.MAYBE_PROMOTE, {"review": str(review.id), "summary": proposed.summary})
            steps.append(Step("review", review.id, proposed.summary, f"{why}: a person decides"))
    vectors = {}
    if sure:
        standing = parts.catalog.standing(subject, now - timedelta(hours=1))
        items = [scored(proposed, parts) for _, proposed, _ in sure]
        vectors = embed(items, standing.unindexed, draft, parts)
        origins = {
            proposed.turn_id: Origin(None, pattern.episodes[-1].agent_id, subject.subject_id, links)
            for pattern, proposed, links in sure
        }
        for _, proposed, _ in sure:
            draft.say(EventName.MAYBE_PROMOTE, {"summary": proposed.summary})
        resolve(items, vectors, origins, draft, parts)
    return Plan((drafted(draft),), tuple(steps), dict(draft.vectors))


def _episodes(subject: Subject, parts: Parts) -> list[Memory]:
    """Episodes, those that became a part of a consolidated memory too; the consolidated ones say them again."""
    found = parts.catalog.list_memories(
        subject, statuses=(Status.ACTIVE, Status.ARCHIVED), types=(MemoryType.EPISODIC,), limit=_A_NIGHT
    )
    return [memory for memory in found if not memory.consolidated_from]


def _is_known(pattern: Pattern, lasting: list[Memory]) -> bool:
    """Whether a lasting memory was made of this pattern before, or says the fact already."""
    proposed = {memory.id for memory in pattern.episodes}
    fact = pattern.fact
    for memory in lasting:
        if pattern.name.startswith("tag ") and len(proposed & set(memory.related_ids)) >= 2:
            return True
        if fact and any(
            (known.entity.casefold(), known.verb.casefold(), known.object.casefold())
            == (fact.entity.casefold(), fact.verb.casefold(), fact.object.casefold())
            for known in memory.facts
        ):
            return True
    return False


PROMOTE = Job("promote", needs, plan)
