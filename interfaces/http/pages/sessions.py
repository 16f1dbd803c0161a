"""Who sits before a page: one-time links that a product's backend asks for, and the sessions that they open.

Both lie in the broker's Redis under the SHA-256 of their secret, so that whoever reads it can open nothing, and a
session ends at once when its key is deleted.
"""

from __future__ import annotations

import hashlib
import json
import secrets
from dataclasses import dataclass
from typing import Any, Final

from redis import Redis

from schema import Capability, Principal
from schema.settings import Settings

LINK_SECONDS: Final = 300
"""How long a link may wait to be followed, once."""
SESSION_SECONDS: Final = 8 * 3600
COOKIE: Final = "afterturn_session"
PAGES_ALLOW: Final = frozenset({Capability.READ, Capability.WRITE, Capability.DELETE})
"""What a person may do with their own memory on its pages."""


@dataclass(frozen=True)
class Session:
    """A person before a page, and the token that their forms must send back."""

    principal: Principal
    form_token: str


def make_link(tenant_id: str, user_id: str, redis: Redis) -> str:
    """Return the secret of a link that opens a session for a user once, within five minutes."""
    secret = secrets.token_urlsafe(32)
    redis.set(_key("page-link", secret), json.dumps([tenant_id, user_id]), ex=LINK_SECONDS)
    return secret


def link_to_pages(settings: Settings, tenant_id: str, user_id: str, redis: Redis) -> str:
    """Return a link to a user's pages at the address on which the settings let the service listen."""
    secret = make_link(tenant_id, user_id, redis)
    return f"http://{settings.http_host}:{settings.http_port}/me/enter?link={secret}"


def open_session(link_secret: str, redis: Redis) -> str | None:
    """Return the secret of a new session for whom a link was made; None where it was followed before, or is late."""
    found: Any = redis.getdel(_key("page-link", link_secret))
    if found is None:
        return None
    tenant_id, user_id = json.loads(found)
    secret = secrets.token_urlsafe(32)
    session = [tenant_id, user_id, secrets.token_urlsafe(16)]
    redis.set(_key("session", secret), json.dumps(session), ex=SESSION_SECONDS)
    return secret


def session_of(secret: str | None, redis: Redis) -> Session | None:
    """Return the session with this secret, if it is open."""
    found: Any = redis.get(_key("session", secret)) if secret else None
    if found is None:
        return None
    tenant_id, user_id, form_token = json.loads(found)
    key_id = f"page:{user_id}"[:200]
    principal = Principal(tenant_id=tenant_id, user_id=user_id, capabilities=PAGES_ALLOW, key_id=key_id)
    return Session(principal, form_token)


def end_session(secret: str, redis: Redis) -> None:
    """Close a session for good."""
    redis.delete(_key("session", secret))


def _key(kind: str, secret: str) -> str:
    return f"afterturn:{kind}:{hashlib.sha256(secret.encode()).hexdigest()}"
