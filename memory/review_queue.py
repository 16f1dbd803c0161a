"""Queue candidates for a person to decide on."""

from __future__ import annotations

import uuid

from memory.context import MemoryContext
from memory.draft import Draft
from memory.scoring import Origin
from schema import Asker, AuditAction, Candidate, Labels, Review


def queue_for_review(
    candidate: Candidate,
    asker: Asker,
    reason: str,
    draft: Draft,
    context: MemoryContext,
    origin: Origin,
    links: tuple[uuid.UUID, ...] = (),
) -> None:
    """Put a candidate before a person, for whom it would be. Past a number of them, all that is left is the line in the
    audit.

    `reason` names a rule; `links` are memories that it is about.
    """
    waiting = len(draft.reviews) + context.catalog.reviews.count_open(draft.subject)
    if waiting >= context.policy.open_reviews_per_subject:
        draft.audit_refusal(AuditAction.QUARANTINED, candidate.turn_id, reason)
        return
    review = Review.of(
        draft.subject,
        candidate,
        asker,
        reason=reason,
        policy_version=draft.policy_version,
        opened_at=draft.now,
        conversation_id=origin.conversation_id,
        labels=Labels(origin.visibility, origin.author_id, origin.agent_id),
        links=links,
    )
    draft.queue_review(review)
