"""Wishes to forget beside what is remembered of their users (`benchmarks/data/wishes`, its README has the
conventions)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

_DATA: Final = Path(__file__).parent / "data" / "wishes"
HELD_OUT: Final = frozenset({"pd", "pe"})
"""The authors from whom no reader learns, so that what their readings weigh may be fitted on them."""


@dataclass(frozen=True)
class Wish:
    """What a user `told`, what of it is `known`, each memory with its pieces, and the wish that was `said`. `meant` are
    the places of a memory and of a text of it."""

    author: str
    user: str
    told: tuple[str, ...]
    known: tuple[tuple[str, ...], ...]
    said: str
    meant: frozenset[tuple[int, int]]

    def texts(self) -> Iterator[tuple[str, bool]]:
        """Yield each memory and each piece of one, and whether it is meant."""
        for place, texts in enumerate(self.known):
            yield from ((text, (place, number) in self.meant) for number, text in enumerate(texts))


def wishes() -> Iterator[Wish]:
    """Yield the wishes of all authors."""
    for file in sorted(_DATA.glob("*.jsonl")):
        for row in map(json.loads, file.read_text(encoding="utf-8").splitlines()):
            yield Wish(
                file.stem,
                row["user"] or "",
                tuple(row["told"]),
                tuple(map(tuple, row["known"])),
                row["said"],
                frozenset(map(tuple, row["meant"])),
            )
