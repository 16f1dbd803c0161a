"""A language model that reads right: it answers from what is known of each sentence, after a fixed time.

It can be made to fail as real ones do: every tenth answer cut off in the middle, every fifth call throttled. Both kinds
of memory are given the same model; each asks in its own way. Needs nothing but the standard library.
"""

from __future__ import annotations

import json
import os
import random
import threading
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from benchmarks.truth_sayings import KEPT_OF, MEANING

_TRUNCATED, _THROTTLED = 0.10, 0.20
_NEW = "## New Messages\n"
_EXISTING = "## Existing Memories\n"


class Throttled(Exception):
    """The model refuses the call for now."""


@dataclass
class Oracle:
    """Takes `seconds` for a call and leaves a line of each in `log`: its outcome and the characters sent."""

    seconds: float
    faulty: bool
    log: Path

    def __post_init__(self) -> None:
        self._chance = random.Random(17)
        self._lock = threading.Lock()

    def answer(self, characters: int, said: str) -> str:
        """Return the answer to a prompt of so many characters, which may be cut off. `said` is what is right to say.

        Raises:
            Throttled: as often as is usual, if faulty.
        """
        with self._lock:
            throttled, truncated = (self._chance.random() < share for share in (_THROTTLED, _TRUNCATED))
        if self.faulty and throttled:
            self._note("throttled", characters)
            raise Throttled
        time.sleep(self.seconds)
        cut = self.faulty and truncated
        self._note("truncated" if cut else "answered", characters)
        return said[: len(said) // 2] if cut else said

    def _note(self, outcome: str, characters: int) -> None:
        descriptor = os.open(self.log, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        os.write(descriptor, f"{outcome},{characters}\n".encode())
        os.close(descriptor)


@dataclass(frozen=True)
class Calls:
    """What a log says: calls of the model, and characters of their prompts in all."""

    count: int
    characters: int


def read_calls(log: Path) -> Calls:
    lines = log.read_text().splitlines() if log.exists() else []
    return Calls(len(lines), sum(int(line.partition(",")[2]) for line in lines))


def kept_of(text: str) -> Iterator[tuple[str, str]]:
    """Return the sentences of a turn that say something, each with what is written down of it."""
    rest = text.strip()
    while rest:
        ends = [end for end in _ends(rest) if rest[:end] in KEPT_OF]
        if not ends:
            return
        said, rest = rest[: ends[-1]], rest[ends[-1] :].strip()
        yield said, KEPT_OF[said]


def _ends(text: str) -> Iterable[int]:
    return [*(place for place, letter in enumerate(text) if letter == " "), len(text)]


def answer_to_mem0(prompt: str) -> str:
    """Return what is right to say to mem0's prompt: all that is new in the messages beside its memories."""
    existing = json.loads(_section(prompt, _EXISTING))
    known = {MEANING.get(memory["text"]) for memory in existing}
    lines = _section(prompt, _NEW).splitlines()
    told = [text for line in lines if line.startswith("user: ") for _, text in kept_of(line.removeprefix("user: "))]
    new: Final = [text for text in told if MEANING[text] not in known]
    return json.dumps({"memory": [{"id": str(n), "text": text, "attributed_to": "user"} for n, text in enumerate(new)]})


def _section(prompt: str, head: str) -> str:
    return prompt.partition(head)[2].partition("\n\n## ")[0]
