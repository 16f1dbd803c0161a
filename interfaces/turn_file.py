"""Reads a file of turns: JSON lines, one turn a line."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from producers import parse_turn
from producers.client import filled_in
from schema import Turn
from schema.errors import InvalidTurn


@dataclass(frozen=True)
class BadLine:
    """A line that is no turn; `number` counts from 1."""

    number: int
    reason: str


def read_turns(path: Path) -> Iterator[tuple[int, Turn | BadLine]]:
    """Yield the turns of a file with the numbers of their lines, and what is wrong with the lines that are none.

    Blank lines are passed over. In a line `user_id` and `messages` are enough, as they are for `enqueue`; but its
    `turn_id` is a digest of its number and content, and its `occurred_at` is when the file was last written, so that
    the same file read again has the same turns.

    Raises:
        OSError: the file cannot be read.
    """
    with path.open("rb") as lines:
        written_at = datetime.fromtimestamp(os.fstat(lines.fileno()).st_mtime, UTC)
        for number, line in enumerate(lines, start=1):
            if line.strip():
                yield number, _turn_or_bad(number, line, written_at)


def _turn_or_bad(number: int, line: bytes, written_at: datetime) -> Turn | BadLine:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError) as error:
        return BadLine(number, f"not JSON: {error}")
    if not isinstance(value, dict):
        return BadLine(number, "not a JSON object")
    try:
        return parse_turn(filled_in(value, turn_id=_id_of(number, line), occurred_at=written_at))
    except InvalidTurn as error:
        return BadLine(number, str(error))


def _id_of(number: int, line: bytes) -> str:
    return f"line-{number}:{hashlib.sha256(line.strip()).hexdigest()[:32]}"
