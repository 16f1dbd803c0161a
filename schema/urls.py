"""Addresses in settings: what they must be, and how they are shown."""

from __future__ import annotations

from urllib.parse import urlsplit


def http_url(url: str) -> str:
    """Return the address of a server, as it was given.

    Raises:
        ValueError: it is none, or holds a password.
    """
    parts = urlsplit(url)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise ValueError("must start with http:// or https:// and a host")
    if parts.username or parts.password:
        raise ValueError("must hold no password; a key has a setting of its own")
    return url


def without_password(url: str) -> str:
    """Return a URL as it may be shown."""
    parts = urlsplit(url)
    if parts.password is None:
        return url
    host = parts.netloc.rpartition("@")[2]
    return parts._replace(netloc=f"{parts.username or ''}:***@{host}").geturl()
