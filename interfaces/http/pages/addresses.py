"""Ids as parts of addresses."""

from __future__ import annotations

from urllib.parse import quote


def as_path(subject_id: str) -> str:
    """Return an id as a part of an address, whatever characters it has: quoted twice, for a browser takes
    `%2E%2E` for a step up, and what stands before the service may read it once before it looks for slashes."""
    return quote(quote(subject_id, safe="").replace(".", "%2E"), safe="")
