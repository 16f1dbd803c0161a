"""Ids as parts of addresses, and places in lists as cursors."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Sequence
from typing import Any, TypeVar
from urllib.parse import quote

from recall.cursors import InvalidCursor

_Row = TypeVar("_Row")


def as_path(subject_id: str) -> str:
    """Return an id as a part of an address, whatever characters it has: quoted twice, for a server reads it once before
    it looks for slashes."""
    return quote(quote(subject_id, safe="").replace(".", "%2E"), safe="")


def cursor_of(*place: object) -> str:
    """Return the cursor of what stands behind a place in a list."""
    text = json.dumps([str(part) for part in place])
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def place_of(cursor: str, *kinds: Callable[[str], Any]) -> tuple[Any, ...]:
    """Return the place that a cursor stands for, each part made by one of `kinds`.

    Raises:
        InvalidCursor: it is none.
    """
    try:
        parts = json.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
        return tuple(kind(part) for kind, part in zip(kinds, parts, strict=True))
    except (ValueError, TypeError) as error:
        raise InvalidCursor from error


def page_of(rows: Sequence[_Row], size: int, place: Callable[[_Row], Sequence[object]]) -> tuple[list[_Row], str]:
    """Return the first `size` of the rows, and the cursor of what comes behind them; empty where nothing does."""
    shown = list(rows[:size])
    return shown, cursor_of(*place(shown[-1])) if len(rows) > size else ""
