"""Find a memory for somebody who wants to change it, and refuse what they may not."""

from __future__ import annotations

import uuid
from typing import Final

from memory.members import membership_of
from policies.access import may_see, may_write, require, role_in, seen_by
from schema import Capability, Labels, Memory, Principal, Seen, Status, Subject, Visibility
from schema.errors import NotAllowed, NotAMember, NotAPerson, NotFound
from stores.catalog import Catalog

NO_SUCH = "there is no such memory"
OPERATOR: Final = "operator"
"""Who does something for the audit where nobody is named."""


def name_of(principal: Principal | None) -> str:
    """Return who a principal is for the audit: its key, or an operator."""
    return OPERATOR if principal is None else principal.key_id


def require_writable(principal: Principal | None, subject: Subject, labels: Labels, catalog: Catalog) -> None:
    """Check that a principal may write something of a subject with these labels; None is an operator, who may.

    Raises:
        NotAMember, NotAllowed: it may not.
    """
    if principal is None:
        return
    role = role_in(principal, subject, membership_of(principal, subject, catalog))
    seen_by(principal, role, subject)
    if not may_write(principal, role, subject, labels):
        raise NotAllowed(Capability.WRITE)


def writable_memory(principal: Principal | None, subject: Subject, memory_id: uuid.UUID, catalog: Catalog) -> Memory:
    """Return a memory that a principal may change.

    Raises:
        NotFound: there is none of the subject under this id, or none that the principal sees.
        NotAMember, NotAllowed: the principal may not change it.
    """
    memory = visible_memory(principal, subject, memory_id, catalog)
    require_writable(principal, subject, memory.labels, catalog)
    return memory


def visible_memory(principal: Principal | None, subject: Subject, memory_id: uuid.UUID, catalog: Catalog) -> Memory:
    """Return a memory that a principal sees, whatever its status.

    Raises:
        NotFound: there is none of the subject under this id, or none that the principal sees.
        NotAMember, NotAllowed: the principal may see nothing of the subject.
    """
    seen = seen_of(principal, subject, catalog)
    memory = catalog.memories(subject, [memory_id]).get(memory_id)
    if memory is None or memory.status is Status.DELETED or not may_see(seen, memory.labels):
        raise NotFound(NO_SUCH)
    return memory


def seen_of(principal: Principal | None, subject: Subject, catalog: Catalog) -> tuple[Seen, ...] | None:
    """Return what a principal sees of a subject; None for an operator, who sees everything.

    Raises:
        NotAMember, NotAllowed: the principal may see nothing of the subject.
    """
    if principal is None:
        return None
    return seen_by(principal, role_in(principal, subject, membership_of(principal, subject, catalog)), subject)


def require_shared(principal: Principal | None, subject: Subject, catalog: Catalog) -> None:
    """Check that a principal sees what members of a subject share, which not everybody does who sees something.

    Raises:
        NotAMember, NotAllowed: it does not.
    """
    if not may_see(seen_of(principal, subject, catalog), Labels(Visibility.PRIVATE, subject.subject_id)):
        raise NotAMember


def require_person(principal: Principal | None) -> None:
    """Check that who asks is no agent: it decides nothing for the user, unless its key administers the tenant.

    Raises:
        NotAPerson: it is one.
    """
    if principal is not None and principal.agent_id is not None and Capability.ADMIN not in principal.capabilities:
        raise NotAPerson


def require_deletable(principal: Principal | None) -> None:
    """Check that a principal may erase; None is an operator, who may.

    Raises:
        NotAllowed: it may not.
    """
    if principal is not None:
        require(principal, Capability.DELETE)
