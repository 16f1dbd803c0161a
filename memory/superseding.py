"""Supersede memories: whole ones, or of a consolidated one the originals that the new one contradicts."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from typing import Final

from memory.context import MemoryContext
from memory.draft import Draft
from memory.erasure.memories import family
from memory.scoring import Origin
from policies.access import may_see, scope_of, shared_labels
from policies.dedup import contradicts
from policies.facts import compare_facts
from policies.language.remainder import left_alone, remainder_of
from policies.merge import supersede
from policies.unconsolidation import apart
from schema import AuditAction, Candidate, Memory, SameFact

_STILL: Final = "it still holds of a memory that said several things, of which one changed"
_OF_A_CLAIM: Final = {*Candidate.model_fields} & {*Memory.model_fields}
"""The fields that a candidate and the memory that it becomes have both."""


def tolerance_of(context: MemoryContext) -> timedelta:
    """Return by how much the clocks of whoever sends turns may disagree."""
    return timedelta(seconds=context.settings.clock_tolerance_seconds)


def is_for_the_same(memory: Memory, origin: Origin | None) -> bool:
    """Return whether a memory is told to just those whom one of this origin is told to; without an origin, whether it
    is nobody's own."""
    if origin is None:
        return scope_of(memory.visibility, memory.author_id, memory.agent_id) is None
    own = origin.visibility, origin.author_id, origin.agent_id
    return scope_of(memory.visibility, memory.author_id, memory.agent_id) == scope_of(*own) and may_see(
        shared_labels(*own), memory.labels
    )


def contradicted_by(edited: Memory, before: Memory, draft: Draft, context: MemoryContext) -> list[Memory]:
    """Return what gives another value to what an edited memory says now and did not say `before`."""
    said_anew = tuple(fact for fact in edited.facts if fact.attribute and fact not in before.facts)
    pairs = {(fact.entity.casefold(), fact.attribute or "") for fact in said_anew}
    draft.load(context.catalog.facts.with_attributes(draft.subject, pairs))
    author_id = edited.author_id or edited.subject_id
    origin = Origin(edited.conversation_id, edited.agent_id, author_id, visibility=edited.visibility)
    ids = [
        other.id
        for other in draft.with_attributes(pairs)
        if other.id != edited.id
        and is_for_the_same(other, origin)
        and compare_facts(said_anew, other.facts) is SameFact.CHANGED
    ]
    claim = Candidate(turn_id=f"edit:{edited.id}", ordinal=0, **edited.model_dump(include=_OF_A_CLAIM))
    return outdated_of(ids, claim, draft, context)


def outdated_of(ids: Iterable[uuid.UUID], candidate: Candidate, draft: Draft, context: MemoryContext) -> list[Memory]:
    """Return what a candidate outdates of these memories.

    Of a consolidated one that are the originals that it contradicts: it is taken apart, and the others stand by
    themselves again. Under legal hold it is archived as it is.
    """
    outdated: list[Memory] = []
    for memory in [draft.current[id_] for id_ in ids]:
        draft.load(family(context.catalog, draft.subject, [memory.id]).values() if memory.consolidated_from else ())
        originals = [draft.current[id_] for id_ in memory.consolidated_from if id_ in draft.current]
        changed = {
            original.id
            for original in originals
            if contradicts(candidate, original, context.policy, draft.name, tolerance_of(context))
        }
        if not 0 < len(changed) < len(originals):
            outdated.append(memory)
            continue
        if memory.legal_hold:
            draft.archive(memory, "a part of it changed: its parts stand by themselves, and it is under legal hold")
        else:
            draft.delete(memory, "a part of it changed: taken apart")
        for alone in [apart(original, draft.now) for original in originals]:
            if alone.id in changed:
                outdated.append(alone)
            else:
                draft.update(alone, None, "taken out of a consolidated memory", AuditAction.RESTORED)
    return outdated


def put_in_place_of(
    replaced: Sequence[Memory],
    by: Memory,
    reason: str,
    draft: Draft,
    context: MemoryContext,
    *,
    keeps_remainder: bool = True,
    left: Mapping[uuid.UUID, str] | None = None,
) -> None:
    """Let a memory take the place of others on the draft. What it does not speak of that one of them said too is kept
    beside it, unless it `keeps_remainder` not: what is known to be `left` of it, or what its facts say."""
    for old in replaced:
        draft.supersede(supersede(old, by.id, draft.now), by, reason)
    for old in replaced if keeps_remainder else ():
        pairs = {(fact.entity.casefold(), fact.attribute) for fact in old.facts if fact.attribute}
        draft.load(context.catalog.facts.with_attributes(draft.subject, pairs))
        others = draft.with_attributes(pairs)
        still_true = (
            (left_alone(old, by, left[old.id], draft.now, draft.policy_version),)
            if left and old.id in left
            else remainder_of(old, by, others, draft.name, draft.now, draft.policy_version)
        )
        if still_true:
            vectors = context.embedder.embed([memory.summary for memory in still_true])
            for memory, vector in zip(still_true, vectors, strict=True):
                draft.create(memory, vector, _STILL)
