"""Messages beside what the fleet remembered of their users: wishes to forget (`benchmarks/data/wishes`) and what ends
something (`benchmarks/data/endings`); their READMEs have the conventions."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

_DATA: Final = Path(__file__).parent / "data"
WISHES_HELD_OUT: Final = frozenset({"pd", "pe", "pu"})
ENDINGS_HELD_OUT: Final = frozenset({"ud", "uj", "ul", "ur", "vd"})
"""The authors from whom no reader learns, so that what their readings weigh may be fitted on them."""


@dataclass(frozen=True)
class Remembered:
    """What a user `told`, where that is kept, what of it is `known`, each memory with its pieces, and what they `said`
    then. `meant` are the places of a memory and of a text of it: what that asks to have forgotten, or ends; `among` is
    how many memories there are of them in all."""

    author: str
    user: str
    told: tuple[str, ...]
    known: tuple[tuple[str, ...], ...]
    said: str
    meant: frozenset[tuple[int, int]]
    among: int
    asks: bool = True
    """False where a message that sounds like a wish to forget asks nothing of the memory."""

    def texts(self) -> Iterator[tuple[str, bool]]:
        """Yield each memory and each piece of one, and whether it is meant."""
        for place, texts in enumerate(self.known):
            yield from ((text, (place, number) in self.meant) for number, text in enumerate(texts))

    def surely_labelled(self) -> Iterator[tuple[str, bool]]:
        """Yield the same without the pieces of a memory of which only the whole is marked: any of them may be meant."""
        for place, texts in enumerate(self.known):
            meant = {number for number in range(len(texts)) if (place, number) in self.meant}
            yield from ((text, number in meant) for number, text in enumerate(texts[:1] if meant == {0} else texts))


def wishes() -> Iterator[Remembered]:
    """Yield the wishes to forget of all authors."""
    yield from _read("wishes")


def endings() -> Iterator[Remembered]:
    """Yield the messages of all authors that end something, or look like it."""
    yield from _read("endings")


def _read(folder: str) -> Iterator[Remembered]:
    for file in sorted((_DATA / folder).glob("*.jsonl")):
        for row in map(json.loads, file.read_text(encoding="utf-8").splitlines()):
            yield Remembered(
                file.stem,
                row["user"] or "",
                tuple(row.get("told", ())),
                tuple(map(tuple, row["known"])),
                row["said"],
                frozenset(map(tuple, row["meant"])),
                row.get("among", len(row["known"])),
                row.get("asks", True),
            )
