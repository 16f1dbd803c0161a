"""Ids as parts of addresses, and places in lists as cursors."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any, TypeVar
from urllib.parse import quote

from recall.cursors import InvalidCursor

_Row = TypeVar("_Row")
_GREATEST = 2**63 - 1
"""Of a number of a row."""


def as_path(subject_id: str) -> str:
    """Return an id as a part of an address, whatever characters it has: quoted twice, for a server reads it once before
    it looks for slashes."""
    return quote(quote(subject_id, safe="").replace(".", "%2E"), safe="")


def cursor_of(*position: object) -> str:
    """Return the cursor of what stands behind a place in a list."""
    text = json.dumps([str(part) for part in position])
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def place_of(cursor: str, *kinds: Callable[[str], Any]) -> tuple[Any, ...]:
    """Return the place that a cursor stands for, each part made by one of `kinds`.

    Raises:
        InvalidCursor: it is none.
    """
    try:
        values = json.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
        return tuple(_known(kind(part)) for kind, part in zip(kinds, values, strict=True))
    except (ValueError, TypeError, AttributeError, OverflowError) as error:
        raise InvalidCursor from error


def _known(part: Any) -> Any:
    """Return a part of a place as a database takes it.

    Raises:
        ValueError, OverflowError: none does.
    """
    if isinstance(part, datetime):
        return part.astimezone(UTC)
    if isinstance(part, int) and not 0 <= part <= _GREATEST:
        raise ValueError("there is no row of that number")
    if isinstance(part, str) and "\x00" in part.encode().decode():
        raise ValueError("there is no such text")
    return part


def page_of(rows: Sequence[_Row], size: int, position_of: Callable[[_Row], Sequence[object]]) -> tuple[list[_Row], str]:
    """Return the first `size` of the rows, and the cursor of what comes behind them; empty where nothing does."""
    shown = list(rows[:size])
    return shown, cursor_of(*position_of(shown[-1])) if len(rows) > size else ""
