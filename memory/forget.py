"""What a spoken wish to forget takes with it."""

from __future__ import annotations

import uuid
from collections.abc import Collection, Mapping, Sequence

from memory.attributes import prototypes_of
from memory.context import MemoryContext
from memory.draft import Draft
from memory.erasure.memories import family, remove
from memory.indexing import indexed_vectors
from policies.forgetting import Known, Meant, meant_by
from policies.language.attributes import attribute_shares
from schema import AuditAction, ForgetRequest, Memory, Status
from stores.index.base import Vector

FORGETTABLE = (Status.ACTIVE, Status.PROVISIONAL, Status.SUPERSEDED, Status.ARCHIVED)
"""The statuses of what a wish to forget may mean."""
_LOOKED_THROUGH = 5_000
"""How many memories of a subject are looked through, the latest change first."""
_ASKED = "the user asked for it to be forgotten"
_IN_DOUBT = "the user asked for something like it to be forgotten: hidden until somebody says more"
_UNDER_LEGAL_HOLD = "it is under legal hold: nothing was forgotten of what the user asked for"


def forget(request: ForgetRequest, vector: Vector, draft: Draft, context: MemoryContext) -> bool:
    """Remove on the draft what a request surely means, of the memories and of what waits for a person, and hide what it
    may mean.

    `vector` is the request's. Returns whether anything was removed or hidden; under legal hold nothing is, and
    the audit says so.
    """
    draft.load(context.catalog.list_memories(draft.subject, statuses=FORGETTABLE, limit=_LOOKED_THROUGH))
    memories = [memory for memory in draft.current.values() if memory.status in FORGETTABLE]
    known = _known(memories, vector, draft, context)
    name = draft.name or ""
    meant = _named(request, memories) if request.known else meant_by(request, known, context.policy, name)
    hidden = _hide([memories[place] for place in meant.perhaps], draft)
    sure = [memories[place] for place in meant.surely]
    if sure:
        draft.load(family(context.catalog, draft.subject, [memory.id for memory in sure]).values())
        aftermath = remove(_narrowed(sure, request, draft, context), draft, context, _ASKED)
        for id_ in aftermath.held:
            draft.audit_refusal(AuditAction.REFUSED, request.turn_id, _UNDER_LEGAL_HOLD, memory_id=id_)
        if aftermath.held:
            return hidden
    return _withdraw(request, draft, context) or hidden or bool(sure)


def _named(request: ForgetRequest, memories: Sequence[Memory]) -> Meant:
    """Return the places of the memories that a request names, with all that they took the place of, and no other."""
    named = set(request.known)
    before = {memory.id: memory.supersedes for memory in memories}
    latest = named
    while latest:
        latest = {old for id_ in latest for old in before.get(id_, ())} - named
        named |= latest
    places = tuple(place for place, memory in enumerate(memories) if memory.id in named)
    return Meant(perhaps=places) if request.doubtful else Meant(surely=places)


def _known(memories: Sequence[Memory], vector: Vector, draft: Draft, context: MemoryContext) -> list[Known]:
    """Return the memories with their cosines to a request and the attributes that they speak of."""
    vectors: Mapping[uuid.UUID, Vector] = {
        **indexed_vectors([memory for memory in memories if memory.id not in draft.vectors], context),
        **draft.vectors,
    }
    prototypes = prototypes_of(context.embedder)
    return [
        Known(memory, float(known @ vector), attribute_shares(known, prototypes))
        if (known := vectors.get(memory.id)) is not None
        else Known(memory)
        for memory in memories
    ]


def _hide(memories: Collection[Memory], draft: Draft) -> bool:
    """Archive what may be meant: it is not told any more, and nothing is lost. Returns whether anything was."""
    shown = [memory for memory in memories if memory.status is Status.ACTIVE]
    for memory in shown:
        draft.archive(memory, _IN_DOUBT)
    return bool(shown)


def _withdraw(request: ForgetRequest, draft: Draft, context: MemoryContext) -> bool:
    """Withdraw what waits for a person and is surely meant. Returns whether anything was."""
    waiting = [review for review in (*draft.reviews, *context.catalog.reviews.page(draft.subject)) if review.candidate]
    known = [Known(review.candidate) for review in waiting if review.candidate]
    meant = meant_by(request, known, context.policy, draft.name or "").surely
    for place in meant:
        draft.withdraw_review(waiting[place], _ASKED)
    return bool(meant)


def _narrowed(meant: Sequence[Memory], request: ForgetRequest, draft: Draft, context: MemoryContext) -> set[uuid.UUID]:
    """Return the memories that are meant; of a consolidated one only the originals that are, if any is by itself."""
    ids = set()
    for memory in meant:
        originals = [draft.current[id_] for id_ in memory.consolidated_from if id_ in draft.current]
        found = meant_by(request, [Known(original) for original in originals], context.policy, draft.name or "").surely
        ids |= {originals[place].id for place in found} or {memory.id}
    return ids
