"""The authority of each source over what is known: replace it, delete of it, change what the user wants. All add to it.

The user, in a chat or at a page, may do everything to their own memory. Nobody else touches what the user said: what
contradicts it is held for a person.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from policies.importance import source_trust
from schema import Candidate, Memory
from schema.turn import TurnSource

USER: Final[TurnSource] = "chat"
"""The user's own words, told in a chat or written on a page."""

SOURCE_CONFIDENCE: Final[dict[TurnSource, float]] = {
    "chat": 1.0,
    "system": 0.95,
    "bank_api": 1.0,
    "agent": 0.85,
    "external": 0.75,
    "instagram": 0.75,
}
"""How sure what is extracted of a source's words is, beside the same words in a chat."""


@dataclass(frozen=True, slots=True)
class Authority:
    """Rights of a source.

    `replaces_lesser` is about what it said itself, or a source that is trusted no more; `replaces_users` about the
    user's own words. `prefers` covers topics, consent, and how the assistant is to behave.
    """

    replaces_lesser: bool = True
    replaces_users: bool = False
    deletes: bool = False
    prefers: bool = False


AUTHORITIES: Final[dict[TurnSource, Authority]] = {
    "chat": Authority(replaces_users=True, deletes=True, prefers=True),
    "bank_api": Authority(),
    "system": Authority(),
    "agent": Authority(),
    "instagram": Authority(),
    "external": Authority(),
}


def authority_of(source: TurnSource) -> Authority:
    """Return what a source may do."""
    return AUTHORITIES[source]


def may_replace(source: TurnSource, said_by: TurnSource) -> bool:
    """Tell whether what a source says may take the place of what another said, or change its words."""
    authority = AUTHORITIES[source]
    if authority.replaces_users:
        return True
    return said_by != USER and authority.replaces_lesser and source_trust(source) >= source_trust(said_by)


def speaker_of(sources: Iterable[TurnSource]) -> TurnSource:
    """Return whose words something is that several said: the user's if they are among them, else the most trusted's."""
    return max(sources, key=lambda source: (source == USER, source_trust(source)))


def as_heard(candidate: Candidate, memory: Memory) -> Candidate:
    """Return what a repetition adds to a memory that its source may not change: that it was said again, and no more,
    not even when: what its own source says of it since would come too late."""
    return candidate.model_copy(
        update={
            "summary": memory.summary,
            "tags": (),
            "entities": (),
            "facts": (),
            "attachments": (),
            "intensity": 0.0,
            "confidence": 0.0,
            "explicit": False,
            "pinned": False,
            "private": False,
            "occurred_at": memory.occurred_at,
            "said_at": memory.said_at,
        }
    )


def without_privileges(candidate: Candidate) -> Candidate | None:
    """Return a candidate without what only who may prefer may ask: that it is pinned, or was asked to be kept, or that
    what it names is marked; None where nothing is left of it."""
    if AUTHORITIES[candidate.source].prefers:
        return candidate
    if candidate.naming is not None and candidate.naming.tells_nothing:
        return None
    return candidate.model_copy(update={"explicit": False, "pinned": False, "naming": None})
