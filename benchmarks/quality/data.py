"""The data folder, read: conversations and questions, labelled turns, pairs of statements, attacks, personal data.

Every file is JSON lines in gzip. A row may have more fields than are read here.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, TypeVar

import typer

T = TypeVar("T")

FILES: Final = {
    "locomo": ("locomo_turns.jsonl.gz", "locomo_queries.jsonl.gz"),
    "msc": ("msc_worth.jsonl.gz",),
    "pairs": ("pairs.jsonl.gz",),
    "attack": ("attack.jsonl.gz",),
    "pii": ("pii.jsonl.gz",),
}
"""The files that each part of the benchmark needs."""


@dataclass(frozen=True)
class Utterance:
    """What one of two people said to the other, who is not named."""

    conversation: str
    turn: str
    speaker: str
    text: str
    when: datetime


@dataclass(frozen=True)
class Question:
    """A question about a conversation, asked at a moment after it, with the turns that answer it."""

    conversation: str
    id: str
    text: str
    category: str
    evidence: tuple[str, ...]
    asked_at: datetime


@dataclass(frozen=True)
class Labelled:
    """A turn of which somebody wrote down a fact, or did not; `before` is what the other side had just said."""

    conversation: str
    turn: int
    speaker: str
    text: str
    before: str


@dataclass(frozen=True)
class Pair:
    """Two statements; `number` is the line that they stand on, from 0."""

    number: int
    a: str
    b: str


@dataclass(frozen=True)
class Line:
    """A text; `number` is the line that it stands on, from 0."""

    number: int
    text: str


def missing(folder: Path, part: str) -> list[str]:
    """Return the files of a part of the benchmark that are not in the folder."""
    return [name for name in FILES[part] if not (folder / name).is_file()]


def utterances(folder: Path) -> list[Utterance]:
    return _read(
        folder / "locomo_turns.jsonl.gz",
        lambda row, _: Utterance(row["conv"], str(row["turn"]), row["speaker"], row["text"], _moment(row["when"])),
    )


def questions(folder: Path) -> list[Question]:
    return _read(
        folder / "locomo_queries.jsonl.gz",
        lambda row, _: Question(
            row["conv"],
            row["qid"],
            row["question"],
            row["category"],
            tuple(str(turn) for turn in row.get("evidence") or ()),
            _moment(row["asof"]),
        ),
    )


def labelled(folder: Path) -> list[Labelled]:
    return _read(
        folder / "msc_worth.jsonl.gz",
        lambda row, _: Labelled(row["conv"], row["turn"], row["speaker"], row["text"], row.get("prev") or ""),
    )


def pairs(folder: Path) -> list[Pair]:
    return _read(folder / "pairs.jsonl.gz", lambda row, number: Pair(number, row["a"], row["b"]))


def lines(folder: Path, part: str) -> list[Line]:
    """Return the texts of `attack` or `pii`."""
    return _read(folder / FILES[part][0], lambda row, number: Line(number, row["text"]))


def _moment(text: str) -> datetime:
    """Return a moment; one without a zone is taken for UTC."""
    moment = datetime.fromisoformat(text)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _read(path: Path, made: Callable[[dict[str, Any], int], T]) -> list[T]:
    """Yield every row of a file, blank lines left out.

    Raises:
        typer.BadParameter: a line is not what the file should hold. The message has none of its text.
    """
    found = []
    for number, (place, text) in enumerate(_lines(path)):
        try:
            found.append(made(json.loads(text), number))
        except (ValueError, KeyError, TypeError) as error:
            what = f"no field {error}" if isinstance(error, KeyError) else "no such row"
            raise typer.BadParameter(
                f"{path}, line {place}: {what}; see docs/how-to/measure-the-judgement.md"
            ) from None
    return found


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    with gzip.open(path, "rt", encoding="utf-8") as rows:
        for place, text in enumerate(rows, 1):
            if text.strip():
                yield place, text
