"""What a spoken wish to forget takes with it."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence

from memory.context import MemoryContext
from memory.draft import Draft
from memory.erasure.memories import family, remove
from policies.forgetting import is_meant
from schema import AuditAction, ForgetRequest, Memory, Status

FORGETTABLE = (Status.ACTIVE, Status.PROVISIONAL, Status.SUPERSEDED, Status.ARCHIVED)
"""The statuses of what a wish to forget may mean."""
_ASKED = "the user asked for it to be forgotten"
_UNDER_LEGAL_HOLD = "it is under legal hold: nothing was forgotten of what the user asked for"


def forget(
    request: ForgetRequest, similarities: Mapping[uuid.UUID, float], draft: Draft, context: MemoryContext
) -> bool:
    """Remove on the draft what a request means, of the memories and of what waits for a person.

    `similarities` are the cosines of known memories to the request, by their ids. Returns whether anything was removed;
    under legal hold nothing is, and the audit says so.
    """
    meant = [
        memory
        for id_, memory in list(draft.current.items())
        if memory.status in FORGETTABLE and is_meant(request.what, memory, similarities.get(id_), context.policy)
    ]
    if meant:
        draft.load(family(context.catalog, draft.subject, [memory.id for memory in meant]).values())
        aftermath = remove(_narrowed(meant, request, draft, context), draft, context, _ASKED)
        for id_ in aftermath.held:
            draft.audit_refusal(AuditAction.REFUSED, request.turn_id, _UNDER_LEGAL_HOLD, memory_id=id_)
        if aftermath.held:
            return False
    waiting = [
        review
        for review in (*draft.reviews, *context.catalog.reviews.page(draft.subject))
        if review.candidate and is_meant(request.what, review.candidate, None, context.policy)
    ]
    for review in waiting:
        draft.withdraw_review(review, _ASKED)
    return bool(meant or waiting)


def _narrowed(meant: Sequence[Memory], request: ForgetRequest, draft: Draft, context: MemoryContext) -> set[uuid.UUID]:
    """Return the memories that are meant; of a consolidated one only the originals that are, if any is by itself."""
    ids = set()
    for memory in meant:
        originals = [draft.current[id_] for id_ in memory.consolidated_from if id_ in draft.current]
        meant_originals = {
            original.id for original in originals if is_meant(request.what, original, None, context.policy)
        }
        ids |= meant_originals or {memory.id}
    return ids
