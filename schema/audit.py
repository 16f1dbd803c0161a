"""The audit: who did what to whose memory, when, why and by which rules."""

from __future__ import annotations

import uuid
from enum import StrEnum

from pydantic import AwareDatetime, Field

from schema.base import Value
from schema.turn import Identifier


class AuditAction(StrEnum):
    CREATED = "created"
    UPDATED = "updated"
    SUPERSEDED = "superseded"
    ARCHIVED = "archived"
    RESTORED = "restored"
    DELETED = "deleted"
    ERASED = "erased"
    REFUSED = "refused"
    QUARANTINED = "quarantined"
    APPROVED = "approved"
    REJECTED = "rejected"
    HELD = "held"
    """It is under legal hold from now on."""
    LIFTED = "lifted"
    """It is under legal hold no longer."""
    PREFERENCE = "preference"
    """The subject wants something else of their memory from now on."""
    MEMBERSHIP = "membership"
    """A user is something else to the subject from now on."""
    DOCUMENT_INDEXED = "document_indexed"
    DOCUMENT_REINDEXED = "document_reindexed"
    DOCUMENT_DELETED = "document_deleted"
    REPLAYED = "replayed"
    """A dead letter's turn was enqueued again."""
    DROPPED = "dropped"
    """A dead letter was thrown away."""
    KEY = "key"
    """A key was made or ended. It is the tenant's: the line names the key where others name a subject."""
    VIEWED = "viewed"
    """Somebody who runs the service looked at it."""


class AuditEntry(Value):
    """One line of the audit. `reason` and `details` never hold what a memory or a turn said."""

    action: AuditAction
    tenant_id: Identifier
    subject_id: Identifier
    at: AwareDatetime
    by: Identifier
    reason: str
    memory_id: uuid.UUID | None = None
    turn_id: Identifier | None = None
    document_id: Identifier | None = None
    policy_version: str
    details: dict[str, str | float | int | bool | None] = Field(default_factory=dict)
