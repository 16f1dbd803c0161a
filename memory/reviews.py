"""Carry out what a person decided on a candidate, or on what may be forgotten."""

from __future__ import annotations

import uuid
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from memory.context import MemoryContext
from memory.documents.review import drop_document, let_pass
from memory.draft import Draft
from memory.erasure.memories import remove
from memory.forget import is_rest_of
from memory.leases import subject_lease
from memory.metrics import count_review
from memory.publish import publish
from memory.resolve import resolve
from memory.scoring import Origin, embed, score
from memory.spending import spending
from policies.access import belongs_to_whole
from policies.topics import is_about
from schema import (
    Asker,
    AuditAction,
    Candidate,
    Labels,
    Memory,
    Preferences,
    Review,
    ReviewStatus,
    Seen,
    Status,
)
from schema.errors import Refused, UnderLegalHold
from stores.catalog import Catalog

_NOT_WANTED: Final = {
    "consent_withdrawn": "the user has withdrawn consent since; it was dropped",
    "blocked_topic": "the user has blocked its topic since; it was dropped",
}

_MEANT: Final = "the user said that it was what they wished forgotten"
_NOT_MEANT: Final = "the user said that it was not what they wished forgotten"


class NotOpen(Refused):
    """The review was decided before, or went with what it was made of."""


class NotWanted(Refused):
    """The subject wants nothing of that kind kept any more: it was dropped. The message says which preference it is."""


class NotHidden(Refused):
    """The review hides no such memory."""


@dataclass(frozen=True)
class Approved:
    """Outcome of an approval. `memory` is what the candidate became or was merged into; None where what is known
    already says it, or something was forgotten."""

    review: Review
    memory: Memory | None


@spending("change")
def approve(
    id_: uuid.UUID, context: MemoryContext, *, by: str, now: datetime, only: Collection[uuid.UUID] | None = None
) -> Approved:
    """Put a candidate through the ordinary decision of dedup, as if its turn had just been screened; or erase what was
    hidden because somebody may have wished it forgotten, of several memories `only` some: the others are shown again.

    The subject's lease is held meanwhile, so that no turn is decided at the same time.

    Raises:
        NotOpen: it is not open any more.
        NotWanted: the subject has withdrawn consent since it waits, or blocked its topic; it is dropped.
        SubjectBusy: the subject's lease was not to be had within 5 seconds.
        UnderLegalHold: what is to be erased is; nothing was.
        NotHidden: `only` names what the review does not hide.
    """
    subject = _open_review(id_, context.catalog).subject
    with subject_lease(subject, context) as lease:
        review = _open_review(id_, context.catalog)
        if review.asked_by is Asker.FORGETTING:
            _erase(review, only, context, Draft(subject, now, context.policy.version, by=by), lease.token)
            count_review(review.asked_by, "approved")
            return Approved(review, None)
        if review.document_id is not None:
            let_pass(review, Draft(subject, now, context.policy.version, by=by), context)
            count_review(review.asked_by, "approved")
            return Approved(review, None)
        if review.candidate is None:
            raise NotOpen
        candidate = review.candidate
        draft = Draft(subject, now, context.policy.version, by=by)
        if reason := why_not(candidate, context.catalog.preferences.of(subject)):
            draft.close_review(review, ReviewStatus.REJECTED, None, reason)
            publish(draft.changes(lease.token), {}, context)
            count_review(review.asked_by, "rejected")
            raise NotWanted(_NOT_WANTED[reason])
        subject_state = context.catalog.subject_state(subject, now - timedelta(hours=1))
        items = [score(candidate, context, approved=True)]
        vectors = embed(items, subject_state.unindexed, draft, context)
        author_id = review.author_id or subject.subject_id
        origin = Origin(review.conversation_id, review.agent_id, author_id, review.links, review.visibility)
        [resolution] = resolve(items, vectors, {candidate.turn_id: origin}, draft, context)
        memory = draft.current[resolution.memory_id] if resolution.memory_id else None
        draft.close_review(review, ReviewStatus.APPROVED, memory)
        publish(draft.changes(lease.token), draft.vectors, context)
    count_review(review.asked_by, "approved")
    return Approved(review, memory)


def why_not(candidate: Candidate, preferences: Preferences) -> str | None:
    """Return which preference of the subject a candidate is against, if any."""
    if preferences.consent == "withdrawn":
        return "consent_withdrawn"
    if is_about(candidate.summary, preferences.blocked_topics, (*candidate.tags, candidate.category)):
        return "blocked_topic"
    return None


def reject(id_: uuid.UUID, context: MemoryContext, *, by: str, now: datetime) -> Review:
    """Drop a candidate for good, and announce that; a line without content stays in the audit. What was hidden because
    somebody may have wished it forgotten is shown again.

    Raises:
        NotOpen: it is not open any more.
        ConcurrentChange: somebody else decided it at the same moment.
    """
    review = _open_review(id_, context.catalog)
    draft = Draft(review.subject, now, context.policy.version, by=by)
    if review.asked_by is Asker.FORGETTING:
        _show(hidden_by(review, context.catalog), draft, context)
    draft.close_review(review, ReviewStatus.REJECTED, None)
    if review.document_id is not None:
        drop_document(review, draft, context)
    else:
        publish(draft.changes(), {}, context)
    count_review(review.asked_by, "rejected")
    return review


def is_for(seen: tuple[Seen, ...] | None, review: Review, catalog: Catalog) -> bool:
    """Return whether somebody who has to do with all that is known of the subject may decide on a review: not where any
    of what it is about is another's alone, for the decision is on all of it."""
    return all(belongs_to_whole(seen, labels, review.subject) for labels in _labels_in(review, catalog))


def asked_in(review: Review, catalog: Catalog) -> str:
    """Return what a person decides on: what would be kept, or what would be forgotten, a memory a line; "" once that is
    gone."""
    if review.candidate is not None:
        return review.candidate.summary
    if review.document_id is not None:
        return f"the document {review.document_id}"
    if review.asked_by is not Asker.FORGETTING:
        return ""
    return "\n".join(memory.summary for memory in hidden_by(review, catalog))


def _labels_in(review: Review, catalog: Catalog) -> list[Labels]:
    if review.candidate is not None:
        return [review.labels]
    if review.document_id is not None:
        heads = catalog.documents.heads(review.subject, [review.document_id])
        return [document.labels for document in heads.values()]
    return [memory.labels for memory in hidden_by(review, catalog)]


def _erase(
    review: Review, only: Collection[uuid.UUID] | None, context: MemoryContext, draft: Draft, fence: int
) -> None:
    """Remove what a review would have forgotten, or `only` some of it, as far as it is still there."""
    if only is not None and not set(only) <= set(review.links):
        raise NotHidden("the review hides no such memory")
    hidden = hidden_by(review, context.catalog)
    meant = [memory.id for memory in hidden if only is None or memory.id in only]
    _show([memory for memory in hidden if memory.id not in meant], draft, context)
    aftermath = remove(meant, draft, context, _MEANT)
    if aftermath.held:
        raise UnderLegalHold(aftermath.held)
    draft.close_review(review, ReviewStatus.APPROVED, None)
    publish(draft.changes(fence), {}, context)


def _show(hidden: Sequence[Memory], draft: Draft, context: MemoryContext) -> None:
    """Show memories again, whole, that a wish to forget did not mean: what was left of them goes."""
    told = context.catalog.list_memories(draft.subject) if hidden else []
    for memory in hidden:
        rests = [rest for rest in told if is_rest_of(rest, memory)]
        draft.load([memory, *rests])
        for rest in rests:
            draft.delete(rest, _NOT_MEANT)
        shown = memory.model_copy(update={"status": Status.ACTIVE, "updated_at": draft.now})
        draft.update(shown, None, _NOT_MEANT, AuditAction.RESTORED)


def hidden_by(review: Review, catalog: Catalog) -> list[Memory]:
    """Return the memories that a review hides, as far as they are still there."""
    memories = catalog.memories(review.subject, review.links)
    return [memories[id_] for id_ in review.links if id_ in memories and memories[id_].status is Status.ARCHIVED]


def _open_review(id_: uuid.UUID, catalog: Catalog) -> Review:
    review = catalog.reviews.get(id_)
    if review is None or review.status is not ReviewStatus.OPEN:
        raise NotOpen
    return review
