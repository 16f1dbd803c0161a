"""What becomes of a candidate once a person has decided on it."""

from __future__ import annotations

import math
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from memory.context import MemoryContext
from memory.draft import Draft
from memory.leases import LeaseKeeper
from memory.publish import commit, tell
from memory.resolve import Origin, embed, resolve, scored
from policies.topics import is_about
from schema import (
    Candidate,
    Memory,
    Preferences,
    Review,
    ReviewStatus,
    Subject,
)
from schema.errors import Refused, Transient
from stores.catalog import Catalog
from stores.mailbox import Lease

_WAIT_SECONDS = 5.0
_POLL_SECONDS = 0.05
_WISHES: Final = {
    "consent_withdrawn": "the user has withdrawn consent since; it was dropped",
    "blocked_topic": "the user has blocked its topic since; it was dropped",
}


class NotOpen(Refused):
    """The review was decided before, or went with what it was made of."""


class SubjectBusy(Transient):
    """A worker has the subject's mailbox in hand. The message says what to do."""


class NotWanted(Refused):
    """The subject wants nothing of that kind kept any more: it was dropped. The message says which wish it is."""


@dataclass(frozen=True)
class Approved:
    """What an approval did. `memory` is what the candidate became or was merged into; None where what is known
    already says it."""

    review: Review
    memory: Memory | None


def approve(id_: uuid.UUID, context: MemoryContext, *, by: str, now: datetime) -> Approved:
    """Put a candidate through the ordinary decision of dedup, as if its turn had just been screened.

    The subject's lease is held meanwhile, so that no turn is decided at the same time.

    Raises:
        NotOpen: it is not open any more.
        NotWanted: the subject has withdrawn consent since it waits, or blocked its topic; it is dropped.
        SubjectBusy: the subject's lease was not to be had within 5 seconds.
    """
    subject = _open_review(id_, context.catalog).subject
    with holding(subject, context) as lease:
        review = _open_review(id_, context.catalog)
        if review.candidate is None:
            raise NotOpen
        candidate = review.candidate
        draft = Draft(subject, now, context.policy.version, by=by)
        if reason := why_not(candidate, context.catalog.preferences.of(subject)):
            draft.settle(review, ReviewStatus.REJECTED, None, reason)
            context.catalog.commit(draft.changes(lease.token))
            raise NotWanted(_WISHES[reason])
        subject_state = context.catalog.subject_state(subject, now - timedelta(hours=1))
        items = [scored(candidate, context)]
        vectors = embed(items, subject_state.unindexed, draft, context)
        origin = Origin(review.conversation_id, review.agent_id, subject.subject_id, review.links)
        resolve(items, vectors, {candidate.turn_id: origin}, draft, context)
        memory = next((memory for id_ in draft.changed if (memory := draft.current.get(id_))), None)
        draft.settle(review, ReviewStatus.APPROVED, memory)
        changes = draft.changes(lease.token)
        event_ids = commit(changes, vectors, context)
        if draft.changed:
            tell(changes, event_ids, vectors, context)
    return Approved(review, memory)


def why_not(candidate: Candidate, wanted: Preferences) -> str | None:
    """Which wish of the subject's a candidate is against, if any."""
    if wanted.consent == "withdrawn":
        return "consent_withdrawn"
    if is_about(candidate.summary, wanted.blocked_topics, (*candidate.tags, candidate.category)):
        return "blocked_topic"
    return None


def reject(id_: uuid.UUID, catalog: Catalog, *, policy_version: str, by: str, now: datetime) -> Review:
    """Drop a candidate for good; a line without content stays in the audit.

    Raises:
        NotOpen: it is not open any more.
        ConcurrentChange: somebody else decided it at the same moment.
    """
    review = _open_review(id_, catalog)
    draft = Draft(review.subject, now, policy_version, by=by)
    draft.settle(review, ReviewStatus.REJECTED, None)
    catalog.commit(draft.changes())
    return review


def _open_review(id_: uuid.UUID, catalog: Catalog) -> Review:
    review = catalog.reviews.get(id_)
    if review is None or review.status is not ReviewStatus.OPEN:
        raise NotOpen
    return review


@contextmanager
def holding(subject: Subject, context: MemoryContext) -> Iterator[Lease]:
    """Hold a subject's lease for as long as the block takes.

    Raises:
        SubjectBusy: it was not to be had within 5 seconds.
    """
    deadline = time.monotonic() + _WAIT_SECONDS
    while (lease := context.mailbox.acquire_lease(subject, context.settings.lease_seconds)) is None:
        if time.monotonic() > deadline:
            raise SubjectBusy(f"a worker has the turns of {subject.subject_id!r} in hand; try again in a moment")
        time.sleep(_POLL_SECONDS)
    leases = LeaseKeeper(context.mailbox, context.settings.lease_seconds, math.inf)
    try:
        with leases.keeping(lease):
            yield lease
    finally:
        leases.stop()
        context.mailbox.release_lease(lease)
