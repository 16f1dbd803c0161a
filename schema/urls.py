"""Addresses in settings: what they must be, and how they are shown."""

from __future__ import annotations

from urllib.parse import urlsplit


def http_url(url: str) -> str:
    """Return the address of a server, as it was given.

    Raises:
        ValueError: it is none, or holds a password.
    """
    parsed = urlsplit(url)
    if parsed.scheme not in {"http", "https"} or not parsed.hostname:
        raise ValueError("must start with http:// or https:// and a host")
    if parsed.username or parsed.password:
        raise ValueError("must hold no password; a key has a setting of its own")
    return url


def webhook_url(url: str) -> str:
    """Return the address of a webhook, as it was given.

    Raises:
        ValueError: nothing can be sent there.
    """
    parsed = urlsplit(http_url(url))
    if parsed.fragment or not url.isascii() or not url.isprintable() or " " in url or parsed.port == 0:
        raise ValueError("must be the address of a server: ASCII, without spaces and without a part behind #")
    return url


def without_password(url: str) -> str:
    """Return a URL as it may be shown."""
    parsed = urlsplit(url)
    if parsed.password is None:
        return url
    host = parsed.netloc.rpartition("@")[2]
    return parsed._replace(netloc=f"{parsed.username or ''}:***@{host}").geturl()
