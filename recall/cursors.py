"""Where in a list to go on: the moment and id of what was read last, as one opaque word."""

from __future__ import annotations

import base64
import json
from datetime import UTC, datetime

from schema.errors import Refused


class InvalidCursor(Refused, ValueError):
    """The cursor is none that a list gave."""

    def __str__(self) -> str:
        return "this cursor is none that a list gave: begin again without one"


def cursor_of(at: datetime, id_: str) -> str:
    """Return the cursor of what lies behind a moment and an id."""
    position = json.dumps([at.isoformat(), id_])
    return base64.urlsafe_b64encode(position.encode()).decode().rstrip("=")


def place_of(cursor: str) -> tuple[datetime, str]:
    """Return the moment and id of a cursor.

    Raises:
        InvalidCursor: no list gave it.
    """
    try:
        padded = cursor + "=" * (-len(cursor) % 4)
        at, id_ = json.loads(base64.urlsafe_b64decode(padded.encode("ascii", "strict")))
        moment = datetime.fromisoformat(at)
        if moment.tzinfo is None or not isinstance(id_, str):
            raise InvalidCursor
        # A day before the year 1 is none in UTC.
        return moment.astimezone(UTC), id_
    except (ValueError, TypeError, AttributeError, OverflowError) as error:
        raise InvalidCursor from error
