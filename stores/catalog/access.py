"""Members of subjects, and keys: who may ask. Safe to call from many threads and processes."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import Connection, bindparam, delete, insert, select, update

import stores.catalog.tables as tables
from schema import ApiKey, AuditEntry, Capability, MemberRole, Membership, Subject
from stores.catalog.rows import from_row
from stores.catalog.statements import of_bound_subject, of_subject, subject_parameters, upsert
from stores.catalog.store import Store

_members, _keys = tables.memberships, tables.api_keys
# Built once: to build a statement costs more than to run it, and each request asks for both.
_ROLE = select(_members.c.role).where(of_bound_subject(_members), _members.c.user_id == bindparam("user"))
_BY_DIGEST = select(_keys).where(_keys.c.digest == bindparam("digest"))


class MemberStore(Store):
    """Roles of users towards subjects that are not themselves."""

    def role_of(self, subject: Subject, user_id: str) -> MemberRole | None:
        """Return what a user is to a subject, if anything."""
        role = self._value(_ROLE, subject_parameters(subject) | {"user": user_id})
        return None if role is None else MemberRole(role)

    def of(self, subject: Subject) -> list[Membership]:
        """Return all members of a subject, by their ids."""
        query = select(_members).where(of_subject(_members, subject)).order_by(_members.c.user_id)
        return [Membership.model_validate({**row._mapping, "subject": subject}) for row in self._rows(query)]

    def set(self, membership: Membership, line: AuditEntry) -> None:
        """Make a user what the membership says, and write a line in the audit."""
        row = membership.subject.model_dump() | membership.model_dump(exclude={"subject"})

        def write(connection: Connection) -> None:
            statement = upsert(connection.dialect.name, _members).values(row)
            changed = {name: statement.excluded[name] for name in ("role", "since", "by")}
            whose = [_members.c.tenant_id, _members.c.subject_id, _members.c.user_id]
            connection.execute(statement.on_conflict_do_update(index_elements=whose, set_=changed))
            connection.execute(insert(tables.audit), [line.model_dump()])

        self._writers.write(write)

    def remove(self, subject: Subject, user_id: str, line: AuditEntry) -> bool:
        """Take a user's membership away, with a line in the audit; False where there was none."""

        def write(connection: Connection) -> bool:
            mine = delete(_members).where(of_subject(_members, subject), _members.c.user_id == user_id)
            was_one = connection.execute(mine).rowcount > 0
            if was_one:
                connection.execute(insert(tables.audit), [line.model_dump()])
            return was_one

        return self._writers.write(write)


class KeyStore(Store):
    """The keys of all tenants, by the SHA-256 of each."""

    def add(self, key: ApiKey, digest: str) -> None:
        """Keep a new key."""
        row = key.model_dump() | {"digest": digest}
        self._run(insert(_keys), [row])

    def by_digest(self, digest: str) -> ApiKey | None:
        """Return the key with this digest, in force or not."""
        row = self._row(_BY_DIGEST, {"digest": digest})
        return None if row is None else _key_of(row)

    def get(self, id_: str) -> ApiKey | None:
        """Return a key by its id."""
        row = self._row(select(_keys).where(_keys.c.id == id_))
        return None if row is None else _key_of(row)

    def all(self, tenant_id: str | None = None) -> list[ApiKey]:
        """Return the keys of a tenant, or of all, oldest first; those too that are not in force any more."""
        query = select(_keys).order_by(_keys.c.created_at, _keys.c.id)
        if tenant_id is not None:
            query = query.where(_keys.c.tenant_id == tenant_id)
        return [_key_of(row) for row in self._rows(query)]

    def any(self) -> bool:
        """Return whether a key was ever made."""
        return bool(self._values(select(_keys.c.id).limit(1)))

    def end(self, id_: str, at: datetime) -> None:
        """Let a key be in force until a moment and no longer, unless it ends before."""
        ends_later = _keys.c.revoked_at.is_(None) | (_keys.c.revoked_at > at)
        statement = update(_keys).where(_keys.c.id == id_, ends_later).values(revoked_at=at)
        self._run(statement)

    def note_use(self, id_: str, at: datetime) -> None:
        """Note when a key was used last."""
        statement = update(_keys).where(_keys.c.id == id_).values(last_used_at=at)
        self._run(statement)


def _key_of(row: Any) -> ApiKey:
    return from_row(ApiKey, row, capabilities=frozenset(map(Capability, row.capabilities)))
