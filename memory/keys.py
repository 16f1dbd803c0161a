"""Issue keys, and tell whom a key stands for."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from policies.access import in_force
from schema import ApiKey, Capability, Principal
from schema.errors import NotFound
from stores.catalog import Catalog

PREFIX: Final = "at_"
"""How every key begins, so that scanners for secrets find one that leaked."""
_RANDOM_BYTES: Final = 32
"""256 bits: more than anybody can guess, so the kept digest needs no salt and no slow hash."""
_USE_NOTED_AFTER: Final = timedelta(minutes=5)
"""How old `last_used_at` may grow before a use is written down: a write a request would cost more than the request."""


@dataclass(frozen=True)
class Issued:
    """A new key, and the secret that is shown this once."""

    key: ApiKey
    secret: str


def issue(
    name: str,
    tenant_id: str,
    capabilities: Iterable[Capability],
    catalog: Catalog,
    *,
    by: str,
    now: datetime,
    user_id: str | None = None,
    agent_id: str | None = None,
    expires_at: datetime | None = None,
    lineage: str | None = None,
) -> Issued:
    """Make a key for a tenant; with `user_id` or `agent_id` it stands for them alone. `lineage` is the first of those
    whose place it takes.

    Raises:
        pydantic.ValidationError: the name or an id cannot be one.
    """
    secret = PREFIX + secrets.token_urlsafe(_RANDOM_BYTES)
    key = ApiKey(
        id=f"key_{secrets.token_hex(8)}",
        name=name,
        tenant_id=tenant_id,
        user_id=user_id,
        agent_id=agent_id,
        capabilities=frozenset(capabilities),
        created_at=now,
        by=by,
        expires_at=expires_at,
        lineage=lineage,
    )
    catalog.keys.add(key, _digest(secret))
    return Issued(key, secret)


def rotate(id_: str, overlap: timedelta, catalog: Catalog, *, by: str, now: datetime) -> Issued:
    """Make a key that may do what another may, which stays in force for `overlap` so that nobody is locked out. What
    was begun with the old one goes on under the new one.

    Raises:
        NotFound: there is no such key in force.
    """
    old = catalog.keys.get(id_)
    if old is None or not in_force(old, now):
        raise NotFound(f"no key {id_} is in force; `afterturn keys list` shows them")
    issued = issue(
        old.name,
        old.tenant_id,
        old.capabilities,
        catalog,
        by=by,
        now=now,
        user_id=old.user_id,
        agent_id=old.agent_id,
        expires_at=old.expires_at,
        lineage=old.lineage or old.id,
    )
    catalog.keys.end(id_, now + overlap)
    return issued


def revoke(id_: str, catalog: Catalog, *, now: datetime) -> ApiKey:
    """End a key at once, everywhere: each request looks it up.

    Raises:
        NotFound: there is no such key.
    """
    catalog.keys.end(id_, now)
    key = catalog.keys.get(id_)
    if key is None:
        raise NotFound(f"there is no key {id_}; `afterturn keys list` shows them")
    return key


def principal_of(secret: str, catalog: Catalog, *, now: datetime) -> Principal | None:
    """Return whom a key stands for; None where it is unknown, expired or revoked. Notes that it was used."""
    if not secret.startswith(PREFIX):
        return None
    key = catalog.keys.by_digest(_digest(secret))
    if key is None or not in_force(key, now):
        return None
    if key.last_used_at is None or now - key.last_used_at > _USE_NOTED_AFTER:
        catalog.keys.note_use(key.id, now)
    return key.principal


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()
