"""Say what users are to subjects that are not themselves."""

from __future__ import annotations

from datetime import datetime

from schema import AuditAction, AuditEntry, MemberRole, Membership, Principal, Subject
from schema.errors import NotFound
from stores.catalog import Catalog


def membership_of(principal: Principal, subject: Subject, catalog: Catalog) -> MemberRole | None:
    """Return what the catalog has of a principal's user in a subject; nothing of a subject of another tenant, nor of
    the user's own, of which they are the creator without a membership."""
    if principal.user_id in (None, subject.subject_id) or principal.tenant_id != subject.tenant_id:
        return None
    return catalog.members.role_of(subject, principal.user_id)


def set_member(
    subject: Subject, user_id: str, role: MemberRole, catalog: Catalog, *, by: str, now: datetime, policy_version: str
) -> Membership:
    """Make a user a member of a subject in a role, whatever they were before. The audit says who and which."""
    membership = Membership(subject=subject, user_id=user_id, role=role, since=now, by=by)
    catalog.members.set(membership, _line(subject, f"member_{role.value}", by, now, policy_version, user_id))
    return membership


def remove_member(
    subject: Subject, user_id: str, catalog: Catalog, *, by: str, now: datetime, policy_version: str
) -> None:
    """Take a user's membership away.

    Raises:
        NotFound: they have none.
    """
    line = _line(subject, "member_removed", by, now, policy_version, user_id)
    if not catalog.members.remove(subject, user_id, line):
        raise NotFound(f"{user_id} is no member of {subject.subject_id}")


def _line(subject: Subject, reason: str, by: str, now: datetime, policy_version: str, user_id: str) -> AuditEntry:
    return AuditEntry(
        action=AuditAction.MEMBERSHIP,
        **subject.model_dump(),
        at=now,
        by=by,
        reason=reason,
        policy_version=policy_version,
        details={"user_id": user_id},
    )
