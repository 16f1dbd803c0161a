"""Principals: who asks for memories, what they may do, and what they see."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from schema.base import Value
from schema.memory import Labels, Visibility
from schema.turn import Identifier


class Capability(StrEnum):
    """A right that a credential gives."""

    READ = "read"
    WRITE_OWN = "write_own"
    """Write memories that are the agent's own: visibility `individual`."""
    WRITE = "write"
    DELETE = "delete"
    DOCUMENTS = "documents"
    TURNS = "turns"
    """Enqueue turns."""
    ACT_AS = "act_as"
    """Name the user or agent for whom a request is made, where the credential is bound to none."""
    ADMIN = "admin"
    """Manage keys, members, holds, reviews and erasures of the tenant."""


class MemberRole(StrEnum):
    """Role of a user towards a subject that is not themself."""

    CREATOR = "creator"
    ADMIN = "admin"
    ADVOCATE = "advocate"
    ADMIRER = "admirer"
    PENDING = "pending"


class Principal(Value):
    """The one who asks. It is made from a credential, never from what a request says of itself."""

    tenant_id: Identifier
    user_id: Identifier | None = None
    agent_id: Identifier | None = None
    capabilities: frozenset[Capability] = frozenset()
    key_id: Identifier
    """Which credential it is: what the audit names as `by`."""
    lineage: Identifier | None = None
    """The first of those credentials that were rotated into this one; unset: it is the first."""

    @property
    def who(self) -> tuple[str | None, ...]:
        """Return what tells the one who asks from all others, and stays when the key is rotated."""
        return (self.tenant_id, self.lineage or self.key_id, self.user_id, self.agent_id)


@dataclass(frozen=True, slots=True)
class Seen:
    """Labels that a principal sees: any of the visibilities, by this author and of this agent where they are named."""

    visibilities: tuple[Visibility, ...]
    author_id: str | None = None
    agent_id: str | None = None

    def covers(self, labels: Labels) -> bool:
        """Return whether something with these labels is seen by it."""
        return (
            labels.visibility in self.visibilities
            and (self.author_id is None or self.author_id == labels.author_id)
            and (self.agent_id is None or self.agent_id == labels.agent_id)
        )
