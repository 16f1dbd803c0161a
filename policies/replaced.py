"""Replacement as a model tells it: decide on a candidate whose extractor was shown what is known, and said what it
takes the place of."""

from __future__ import annotations

import uuid
from collections.abc import Container, Mapping
from datetime import timedelta

from policies.dedup import LATER, is_earlier
from policies.facts import compare_facts
from policies.language.wording import read
from schema import Candidate, Decision, DecisionAction, Memory, SameFact, Status

_NAMED = "the language model says what it takes the place of"
_CREATE = DecisionAction.CREATE
_NOT_NAMED = "the language model was shown what is known and says that this is new"


def as_told(
    candidate: Candidate,
    decided: Decision,
    memories: Mapping[uuid.UUID, Memory],
    shown: Container[uuid.UUID],
    tolerance: timedelta = timedelta(),
) -> Decision:
    """Return what to do with a candidate: what the extractor said, where dedup by words and cosines decided otherwise.

    Active memories that it names are superseded, unless they were said later (by more than the `tolerance` of clocks):
    then it is skipped, if it names no others. Where it names none, "the same fact" stands only if both have the same
    content words, so that nothing is lost by a merge. What dedup skips stays skipped. What an earlier turn of the same
    call told cannot be named: it gives way where both give one attribute of one entity a value; `shown` has the ids of
    what was known before.
    """
    named = [memories[id_] for id_ in candidate.replaces if id_ in memories]
    named = [memory for memory in named if memory.status is Status.ACTIVE]
    outdated = [memory for memory in named if not is_earlier(candidate, memory, tolerance)]
    if named and not outdated:
        return Decision(action=DecisionAction.SKIP, reason=LATER, targets=(named[0].id,))
    if outdated:
        if len(outdated) == 1 and outdated[0].summary == candidate.summary:
            return Decision(action=DecisionAction.UPDATE, reason="said again", targets=(outdated[0].id,))
        return Decision(action=DecisionAction.SUPERSEDE, reason=_NAMED, targets=tuple(memory.id for memory in outdated))
    return decided if _stands(candidate, decided, memories, shown) else Decision(action=_CREATE, reason=_NOT_NAMED)


def _stands(
    candidate: Candidate, decided: Decision, memories: Mapping[uuid.UUID, Memory], shown: Container[uuid.UUID]
) -> bool:
    """Return whether what dedup decided is done though the extractor named nothing."""
    targets = [memories[id_] for id_ in decided.targets]
    match decided.action:
        case DecisionAction.UPDATE:
            return not decided.outdated and not _tells_more(candidate, targets[0])
        case DecisionAction.SUPERSEDE:
            return not any(
                target.id in shown
                or candidate.turn_id in target.source_turn_ids
                or compare_facts(candidate.facts, target.facts) is not SameFact.CHANGED
                for target in targets
            )
        case DecisionAction.CHECK:
            return False
    return True


def _tells_more(candidate: Candidate, memory: Memory) -> bool:
    """Return whether a candidate has other content words or amounts than a memory: fewer may be of somebody
    else, too."""
    candidate_wording, memory_wording = read(candidate.summary), read(memory.summary)
    return (candidate_wording.words, candidate_wording.quantities) != (memory_wording.words, memory_wording.quantities)
