"""Reads a file of turns: JSON lines, one turn a line."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from producers import parse_turn
from schema import Turn
from schema.errors import InvalidTurn


@dataclass(frozen=True)
class BadLine:
    """A line that is no turn; `number` counts from 1."""

    number: int
    reason: str


def read_turns(path: Path) -> Iterator[tuple[int, Turn | BadLine]]:
    """Yield the turns of a file with the numbers of their lines, and what is wrong with the lines that are none.

    Blank lines are passed over.

    Raises:
        OSError: the file cannot be read.
    """
    with path.open("rb") as lines:
        for number, line in enumerate(lines, start=1):
            if line.strip():
                yield number, _turn_or_bad(number, line)


def _turn_or_bad(number: int, line: bytes) -> Turn | BadLine:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError) as error:
        return BadLine(number, f"not JSON: {error}")
    if not isinstance(value, dict):
        return BadLine(number, "not a JSON object")
    try:
        return parse_turn(value)
    except InvalidTurn as error:
        return BadLine(number, str(error))
