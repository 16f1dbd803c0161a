"""Keys and memberships: what gives somebody a right to a subject's memory."""

from __future__ import annotations

from typing import Annotated

from pydantic import AwareDatetime, StringConstraints, field_serializer

from schema.base import NO_NUL, Value
from schema.principal import Capability, MemberRole, Principal
from schema.turn import Identifier, Subject

KeyName = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=100, pattern=NO_NUL)]


class ApiKey(Value):
    """A credential as it is kept: what it may do, and not what it is."""

    id: Identifier
    name: KeyName
    tenant_id: Identifier
    user_id: Identifier | None = None
    agent_id: Identifier | None = None
    capabilities: frozenset[Capability]
    created_at: AwareDatetime
    by: Identifier
    expires_at: AwareDatetime | None = None
    revoked_at: AwareDatetime | None = None
    last_used_at: AwareDatetime | None = None
    lineage: Identifier | None = None
    """Id of the first key of those that were rotated into this one; unset: it is the first."""

    @field_serializer("capabilities")
    def _in_order(self, capabilities: frozenset[Capability]) -> list[str]:
        return sorted(capabilities)

    @property
    def principal(self) -> Principal:
        """Return who asks with it."""
        return Principal(
            tenant_id=self.tenant_id,
            user_id=self.user_id,
            agent_id=self.agent_id,
            capabilities=self.capabilities,
            key_id=self.id,
            lineage=self.lineage,
        )


class Membership(Value):
    """Role of a user towards a subject that is not themself."""

    subject: Subject
    user_id: Identifier
    role: MemberRole
    since: AwareDatetime
    by: Identifier
