"""Who may see and write what: the one place that says so.

Source: "AI Memory Phase 1", permission-filtered retrieval (roles and visibilities), and "VOS Memory System", scopes of
agents. Every way out asks `seen_by` before it looks and `may_see` once more before it tells.
"""

from __future__ import annotations

from datetime import datetime
from typing import Final

from schema import ApiKey, Capability, Labels, MemberRole, Principal, Seen, Subject, Visibility
from schema.errors import NotAllowed, NotAMember

_SHARED: Final = (Visibility.PUBLIC, Visibility.PRIVATE)
_SHARED_WITH: Final[dict[MemberRole, tuple[Visibility, ...]]] = {
    MemberRole.CREATOR: _SHARED,
    MemberRole.ADMIN: _SHARED,
    MemberRole.ADVOCATE: _SHARED,
    MemberRole.ADMIRER: (Visibility.PUBLIC,),
}
"""Visibilities that a role sees of what is not its own; a role that is not named here sees nothing, and is refused."""
_KEEPERS: Final = frozenset({MemberRole.CREATOR, MemberRole.ADMIN})
_WRITING_ROLES: Final = frozenset({MemberRole.CREATOR, MemberRole.ADMIN, MemberRole.ADVOCATE})


def role_in(principal: Principal, subject: Subject, membership: MemberRole | None) -> MemberRole | None:
    """Return what a principal's user is to a subject, where `membership` is what the catalog has of it.

    A user is the creator of the subject of their own id without a membership.
    """
    if principal.user_id is not None and principal.user_id == subject.subject_id:
        return MemberRole.CREATOR
    return membership


def seen_by(principal: Principal, role: MemberRole | None, subject: Subject) -> tuple[Seen, ...]:
    """Return what a principal with this role sees of a subject: anything that any of them covers, and nothing else.

    A principal without a user is an agent or a service of the tenant: it sees what is shared, and its own.

    Raises:
        NotAMember: the subject is of another tenant, or the user is no member of it, or is not admitted yet.
        NotAllowed: the principal may not read.
    """
    require(principal, Capability.READ)
    if principal.tenant_id != subject.tenant_id:
        raise NotAMember
    if principal.user_id is None:
        seen = [Seen(_SHARED)]
    elif role in _SHARED_WITH:
        seen = [Seen(_SHARED_WITH[role]), Seen((Visibility.PERSONAL,), author_id=principal.user_id)]
    else:
        raise NotAMember
    if principal.agent_id is not None:
        seen.append(Seen((Visibility.INDIVIDUAL,), agent_id=principal.agent_id))
    return tuple(seen)


def shares(role: MemberRole, visibility: Visibility) -> bool:
    """Return whether members of this role see what has this visibility and is not their own."""
    return visibility in _SHARED_WITH.get(role, ())


def may_see(seen: tuple[Seen, ...] | None, labels: Labels) -> bool:
    """Return whether something with these labels may be told to whom `seen` was made for; None is an operator, who sees
    everything."""
    return seen is None or any(scope.covers(labels) for scope in seen)


def belongs_to_whole(seen: tuple[Seen, ...] | None, labels: Labels, subject: Subject) -> bool:
    """Return whether something with these labels is told to somebody who has to do with all that is known of a subject,
    and sees `seen`: what anybody but the subject keeps for themself alone is not."""
    is_personal = labels.visibility is Visibility.PERSONAL
    return not is_personal or labels.author_id == subject.subject_id or may_see(seen, labels)


def may_write(principal: Principal, role: MemberRole | None, subject: Subject, labels: Labels) -> bool:
    """Return whether a principal may write something of a subject with these labels, which it must see to write.

    With `write` it may write whatever it sees, unless it is a user who only admires: theirs is what is personal to
    them. With `write_own` alone it may write what is individual to its agent.
    """
    if Capability.READ not in principal.capabilities:
        return False
    try:
        seen = seen_by(principal, role, subject)
    except NotAMember:
        return False
    if not may_see(seen, labels):
        return False
    own = labels.visibility in {Visibility.INDIVIDUAL, Visibility.PERSONAL}
    if Capability.WRITE in principal.capabilities:
        return own or principal.user_id is None or role in _WRITING_ROLES
    return Capability.WRITE_OWN in principal.capabilities and labels.visibility is Visibility.INDIVIDUAL


def may_keep_document(principal: Principal, role: MemberRole | None, subject: Subject, labels: Labels) -> bool:
    """Return whether a principal may put, replace or delete a document with these labels: its author, or who keeps the
    subject's archive, or a service of the tenant. What is personal is its author's alone."""
    if Capability.DOCUMENTS not in principal.capabilities:
        return False
    try:
        seen = seen_by(principal, role, subject)
    except NotAMember:
        return False
    if principal.user_id is None:
        return True
    is_author = labels.author_id == principal.user_id
    if not may_see(seen, labels):
        return False
    if labels.visibility is Visibility.PERSONAL:
        return is_author
    return role in _KEEPERS or (is_author and role in _WRITING_ROLES)


def scope_of(visibility: Visibility, author_id: str | None, agent_id: str | None) -> str | None:
    """Return for whom something is: an agent's own, an author's own, public; None of what members share.

    Only what is for the same is compared: the same content with two owners is two memories, and what one may see takes
    no place of what others do.
    """
    match visibility:
        case Visibility.INDIVIDUAL:
            return f"agent {agent_id}"
        case Visibility.PERSONAL:
            return f"author {author_id}"
        case Visibility.PUBLIC:
            return "public"
        case Visibility.PRIVATE:
            return None


def shared_labels(visibility: Visibility, author_id: str | None, agent_id: str | None) -> tuple[Seen, ...]:
    """Return the labels of what may be for the same as something: of what `scope_of` has in common with it, what others
    called private is theirs alone."""
    match visibility:
        case Visibility.INDIVIDUAL:
            return (Seen((visibility,), agent_id=agent_id),)
        case Visibility.PERSONAL:
            return (Seen((visibility,), author_id=author_id),)
        case Visibility.PUBLIC:
            return (Seen((visibility,)),)
        case Visibility.PRIVATE:
            return (Seen((visibility,)), Seen((Visibility.PERSONAL,), author_id=author_id))


def in_force(key: ApiKey, now: datetime) -> bool:
    """Return whether a key may be used at a moment."""
    return all(end is None or now < end for end in (key.expires_at, key.revoked_at))


def require(principal: Principal, capability: Capability) -> None:
    """Check that a principal has a capability.

    Raises:
        NotAllowed: it has not.
    """
    if capability not in principal.capabilities:
        raise NotAllowed(capability.value)


def acting(principal: Principal, user_id: str | None, agent_id: str | None = None) -> Principal:
    """Return the principal for whom a request is made: a key that is bound to no user may name one with `act_as`.

    Raises:
        NotAllowed: the key is bound to another user or agent, or may not name one.
    """
    named = {"user_id": user_id, "agent_id": agent_id}
    others = {name: value for name, value in named.items() if value and value != getattr(principal, name)}
    if not others:
        return principal
    if any(getattr(principal, name) for name in others):
        raise NotAllowed(Capability.ACT_AS)
    require(principal, Capability.ACT_AS)
    return principal.model_copy(update=others)


def may_use_any(principal: Principal, capabilities: frozenset[Capability]) -> bool:
    """Return whether a principal has one of the capabilities."""
    return not principal.capabilities.isdisjoint(capabilities)
