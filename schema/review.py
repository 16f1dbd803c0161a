"""A review: something that a person must decide on: a candidate that may become a memory, or what may be forgotten."""

from __future__ import annotations

import uuid
from enum import StrEnum
from typing import Final, Self

from pydantic import AwareDatetime

from schema.base import Value
from schema.candidate import Candidate
from schema.document import KeptDocument
from schema.memory import Labels, Summary, Visibility, effective_labels
from schema.turn import Identifier, Subject

FORGET_IN_DOUBT: Final = "forget_in_doubt"
"""The rule by which a review asks what a wish to forget may have meant."""
_SHARED: Final = Labels(Visibility.PRIVATE)


class ReviewStatus(StrEnum):
    OPEN = "open"
    APPROVED = "approved"
    REJECTED = "rejected"


class Asker(StrEnum):
    """Stage that wants to have a candidate looked at."""

    SCREENING = "screening"
    """It came of a text with a planted instruction."""
    PROMOTION = "promotion"
    """It was made of episodes, and not surely enough."""
    AUTHORITY = "authority"
    """It contradicts what its source may not replace."""
    FORGETTING = "forgetting"
    """A wish to forget may have meant it: it is hidden until somebody says."""


class Review(Value):
    """A candidate as it would be stored, masked, and why a person must look at it first; or the hidden memories that a
    wish to forget would take.

    `reason` names rules, never what was said. `links` are memories that it was made of, or those that would be erased:
    then there is no candidate. Once it is decided, candidate and wish are gone: what an approval left is a memory or
    nothing, and what a rejection left is a line in the audit.
    """

    id: uuid.UUID
    tenant_id: Identifier
    subject_id: Identifier
    asked_by: Asker
    reason: str
    policy_version: str
    candidate: Candidate | None
    conversation_id: Identifier | None = None
    agent_id: Identifier | None = None
    author_id: Identifier | None = None
    visibility: Visibility = Visibility.PRIVATE
    """For whom the candidate would be, with `author_id` and `agent_id`."""
    links: tuple[uuid.UUID, ...] = ()
    document_id: Identifier | None = None
    """The document that it is about, where it is about one: it waits whole, and there is no candidate."""
    wish: Summary | None = None
    """The words of a wish to forget, masked, as long as all that it may have meant is there."""
    wished_in: Identifier | None = None
    """The turn of that wish."""
    status: ReviewStatus = ReviewStatus.OPEN
    opened_at: AwareDatetime
    decided_at: AwareDatetime | None = None
    decided_by: Identifier | None = None

    @property
    def subject(self) -> Subject:
        return Subject(tenant_id=self.tenant_id, subject_id=self.subject_id)

    @property
    def said_in(self) -> str | None:
        """Return the turn because of which it was opened, where that was one."""
        return self.candidate.turn_id if self.candidate else self.wished_in

    @property
    def words_of(self) -> frozenset[str]:
        """Return the turns of which it may have words."""
        turns = (
            self.wished_in,
            *((self.candidate.turn_id, *self.candidate.context_turn_ids) if self.candidate else ()),
        )
        return frozenset(turn for turn in turns if turn)

    @property
    def labels(self) -> Labels:
        """Return what decides who may see the candidate."""
        is_private = self.candidate is not None and self.candidate.private
        author_id = self.author_id or self.subject_id
        return effective_labels(self.visibility, author_id, self.agent_id, is_private=is_private)

    @classmethod
    def of(
        cls,
        subject: Subject,
        candidate: Candidate,
        asked_by: Asker,
        *,
        reason: str,
        policy_version: str,
        opened_at: AwareDatetime,
        conversation_id: str | None = None,
        labels: Labels = _SHARED,
        links: tuple[uuid.UUID, ...] = (),
        about: str | None = None,
    ) -> Self:
        """Return an open review of a candidate; asked for twice, it is one. `labels` are those that it would have as a
        memory; `about` names what it is about where it came of more and more turns."""
        topic = about or f"{candidate.ordinal}:{candidate.turn_id}"
        key = f"afterturn:review:{subject.key}:{asked_by.value}:{topic}"
        return cls(
            id=uuid.uuid5(uuid.NAMESPACE_URL, key),
            **subject.model_dump(),
            asked_by=asked_by,
            reason=reason,
            policy_version=policy_version,
            candidate=candidate,
            conversation_id=conversation_id,
            agent_id=labels.agent_id,
            author_id=labels.author_id,
            visibility=labels.visibility,
            links=links,
            opened_at=opened_at,
        )

    @classmethod
    def of_document(
        cls, document: KeptDocument, asked_by: Asker, *, reason: str, policy_version: str, opened_at: AwareDatetime
    ) -> Self:
        """Return an open review of a document at one version; asked for twice, it is one."""
        return cls(
            id=uuid.uuid5(document.incarnation, f"review:{document.version}"),
            **document.subject.model_dump(),
            asked_by=asked_by,
            reason=reason,
            policy_version=policy_version,
            candidate=None,
            document_id=document.document_id,
            opened_at=opened_at,
        )

    @classmethod
    def of_forgetting(
        cls,
        subject: Subject,
        hidden: tuple[uuid.UUID, ...],
        turn_id: str,
        *,
        policy_version: str,
        opened_at: AwareDatetime,
        conversation_id: str | None = None,
        wish: str | None = None,
    ) -> Self:
        """Return an open review of memories that a turn may have wished forgotten; `wish` are its words as they may be
        kept."""
        key = f"afterturn:review:{subject.key}:{Asker.FORGETTING.value}:{turn_id}:{':'.join(map(str, sorted(hidden)))}"
        return cls(
            id=uuid.uuid5(uuid.NAMESPACE_URL, key),
            **subject.model_dump(),
            asked_by=Asker.FORGETTING,
            reason=FORGET_IN_DOUBT,
            policy_version=policy_version,
            candidate=None,
            conversation_id=conversation_id,
            links=hidden,
            wish=wish,
            wished_in=turn_id,
            opened_at=opened_at,
        )


class Settlement(Value):
    """A person's decision on a review."""

    review_id: uuid.UUID
    status: ReviewStatus
    by: Identifier
