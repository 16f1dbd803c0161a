"""Who sits before a page: one-time links that a product's backend asks for, and the sessions that they open.

A person's pages and those for staff have links and sessions of their own kinds: one never opens the other. Both lie in
the broker's Redis under the SHA-256 of their secret, so that whoever reads it can open nothing, and a
session ends at once when its key is deleted.
"""

from __future__ import annotations

import hashlib
import json
import secrets
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from redis import Redis

from policies.access import in_force
from schema import Capability, Principal
from schema.settings import Settings
from stores.catalog import Catalog

LINK_SECONDS: Final = 300
"""How long a link may wait to be followed, once."""
SESSION_SECONDS: Final = 8 * 3600
COOKIE: Final = "afterturn_session"
STAFF_COOKIE: Final = "afterturn_staff"
PAGES_ALLOW: Final = frozenset({Capability.READ, Capability.WRITE, Capability.DELETE})
"""The capabilities of a person over their own memory, on its pages."""


ANONYMOUS_KEY: Final = "anonymous"
"""Stands for the key in a session of staff that was opened where no key had been made yet."""


@dataclass(frozen=True)
class Session:
    """A person before a page, and the token that their forms must send back."""

    principal: Principal
    form_token: str


@dataclass(frozen=True)
class StaffSession:
    """Somebody of the staff of a tenant before a page; `by` is what the audit calls them."""

    tenant_id: str
    by: str
    form_token: str


def make_link(tenant_id: str, user_id: str, redis: Redis) -> str:
    """Return the secret of a link that opens a session for a user once, within five minutes."""
    return _made("page-link", [tenant_id, user_id, _microseconds(redis)], redis)


def make_staff_link(tenant_id: str, name: str, key_id: str | None, redis: Redis) -> str:
    """Return the secret of a link that opens the pages for staff once, within five minutes: for whom a key with `admin`
    vouches, or an operator where `key_id` is None."""
    return _made("staff-link", [tenant_id, name, key_id], redis)


def link_to_pages(settings: Settings, tenant_id: str, user_id: str, redis: Redis) -> str:
    """Return a link to a user's pages at the address on which the settings let the service listen."""
    return f"{_address(settings)}/me/enter?link={make_link(tenant_id, user_id, redis)}"


def link_for_staff(settings: Settings, tenant_id: str, name: str, redis: Redis) -> str:
    """Return a link to the pages for staff at the address on which the settings let the service listen."""
    return f"{_address(settings)}/admin/enter?link={make_staff_link(tenant_id, name, None, redis)}"


def open_session(link_secret: str, redis: Redis) -> str | None:
    """Return the secret of a new session for whom a link was made; None where it was followed before, is late, or all
    sessions of its user were ended since."""
    stored: Any = redis.getdel(_key("page-link", link_secret))
    if stored is None:
        return None
    tenant_id, user_id, made_at = json.loads(stored)
    return None if _ended_since(tenant_id, user_id, made_at, redis) else start_session(tenant_id, user_id, redis)


def start_session(tenant_id: str, user_id: str, redis: Redis) -> str:
    """Return the secret of a new session for a user who has shown who they are."""
    secret = secrets.token_urlsafe(32)
    session = [tenant_id, user_id, _microseconds(redis), secrets.token_urlsafe(16)]
    redis.set(_key("page-session", secret), json.dumps(session), ex=SESSION_SECONDS)
    return secret


def end_sessions(tenant_id: str, user_id: str, redis: Redis) -> None:
    """Close all sessions of a user for good, and the links to their pages that nobody followed yet."""
    redis.set(_mark(tenant_id, user_id), _microseconds(redis), ex=SESSION_SECONDS + LINK_SECONDS)


def open_staff_session(link_secret: str, redis: Redis) -> str | None:
    """Return the secret of a new session for whom of the staff a link was made; None where it was followed before, or
    is late."""
    stored: Any = redis.getdel(_key("staff-link", link_secret))
    if stored is None:
        return None
    secret = secrets.token_urlsafe(32)
    session = [*json.loads(stored), secrets.token_urlsafe(16)]
    redis.set(_key("staff-session", secret), json.dumps(session), ex=SESSION_SECONDS)
    return secret


def session_of(secret: str | None, redis: Redis) -> Session | None:
    """Return the session with this secret, if it is open."""
    stored: Any = redis.get(_key("page-session", secret)) if secret else None
    if stored is None:
        return None
    tenant_id, user_id, opened_at, form_token = json.loads(stored)
    if _ended_since(tenant_id, user_id, opened_at, redis):
        return None
    key_id = f"page:{user_id}"[:200]
    principal = Principal(tenant_id=tenant_id, user_id=user_id, capabilities=PAGES_ALLOW, key_id=key_id)
    return Session(principal, form_token)


def staff_session_of(secret: str | None, redis: Redis, catalog: Catalog, now: datetime) -> StaffSession | None:
    """Return the session of staff with this secret, if it is open, and the key that vouched for it may still do so."""
    stored: Any = redis.get(_key("staff-session", secret)) if secret else None
    if stored is None:
        return None
    tenant_id, name, key_id, form_token = json.loads(stored)
    if not _vouches(key_id, catalog, now):
        return None
    by = f"staff:{name}" if key_id in (None, ANONYMOUS_KEY) else f"staff:{name} ({key_id})"
    return StaffSession(tenant_id, by[:200], form_token)


def end_session(secret: str, redis: Redis) -> None:
    """Close a session for good, of whichever kind."""
    redis.delete(_key("page-session", secret), _key("staff-session", secret))


def _vouches(key_id: str | None, catalog: Catalog, now: datetime) -> bool:
    if key_id is None:
        return True
    if key_id == ANONYMOUS_KEY:
        return not catalog.keys.any()
    key = catalog.keys.get(key_id)
    return key is not None and in_force(key, now) and Capability.ADMIN in key.capabilities


def _made(kind: str, for_whom: list[str | int | None], redis: Redis) -> str:
    secret = secrets.token_urlsafe(32)
    redis.set(_key(kind, secret), json.dumps(for_whom), ex=LINK_SECONDS)
    return secret


def _ended_since(tenant_id: str, user_id: str, at: int, redis: Redis) -> bool:
    """Return whether all sessions of a user were ended at a moment or after it."""
    ended_at: Any = redis.get(_mark(tenant_id, user_id))
    return ended_at is not None and int(ended_at) >= at


def _microseconds(redis: Redis) -> int:
    """Return Redis' own time: the clocks of two services differ."""
    now: Any = redis.time()
    return int(now[0]) * 1_000_000 + int(now[1])


def _mark(tenant_id: str, user_id: str) -> str:
    return _key("sessions-ended", json.dumps([tenant_id, user_id]))


def _address(settings: Settings) -> str:
    return f"http://{settings.http_host}:{settings.http_port}"


def _key(kind: str, secret: str) -> str:
    return f"afterturn:{kind}:{hashlib.sha256(secret.encode()).hexdigest()}"
