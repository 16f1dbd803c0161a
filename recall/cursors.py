"""Where in a list to go on: what says of the last row where it stands, as one opaque word."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any, TypeVar

from schema.errors import Refused

_Row = TypeVar("_Row")
_GREATEST = 2**63 - 1
"""Of a number of a row."""
MOST_CHARS = 3_500
"""Of a cursor of a fact: an entity, a verb and an object of 600 characters of four bytes together, and a type."""


class InvalidCursor(Refused, ValueError):
    """The cursor is none that a list gave."""

    def __str__(self) -> str:
        return "this cursor is none that a list gave: begin again without one"


def cursor_of(*position: object) -> str:
    """Return the cursor of what stands behind a place in a list."""
    text = json.dumps([str(part) for part in position], ensure_ascii=False)
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def place_of(cursor: str, *kinds: Callable[[str], Any]) -> tuple[Any, ...]:
    """Return the place that a cursor stands for, each part made by one of `kinds`.

    Raises:
        InvalidCursor: no list gave it.
    """
    try:
        padded = cursor + "=" * (-len(cursor) % 4)
        values = json.loads(base64.urlsafe_b64decode(padded.encode("ascii", "strict")))
        return tuple(_known(kind(part)) for kind, part in zip(kinds, values, strict=True))
    except (ValueError, TypeError, AttributeError, OverflowError) as error:
        raise InvalidCursor from error


def page_of(rows: Sequence[_Row], size: int, position_of: Callable[[_Row], Sequence[object]]) -> tuple[list[_Row], str]:
    """Return the first `size` of the rows, and the cursor of what comes behind them; empty where nothing does."""
    shown = list(rows[:size])
    return shown, cursor_of(*position_of(shown[-1])) if len(rows) > size else ""


def _known(part: Any) -> Any:
    """Return a part of a place as a database takes it.

    Raises:
        ValueError, OverflowError: none does.
    """
    if isinstance(part, datetime):
        if part.tzinfo is None:
            raise ValueError("a moment has a zone")
        # A day before the year 1 is none in UTC.
        return part.astimezone(UTC)
    if isinstance(part, int) and not 0 <= part <= _GREATEST:
        raise ValueError("there is no row of that number")
    if isinstance(part, str) and "\x00" in part.encode().decode():
        raise ValueError("there is no such text")
    return part
