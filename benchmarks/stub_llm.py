"""A language model that only takes time, an extractor that asks it, and the log that both leave.

A line of the log is `subject,sequence,start,end`: which turn was in the model's hands, and when, on the machine's
monotonic clock. From it overlaps and misorders of one subject are counted.
"""

from __future__ import annotations

import os
import time
from collections import defaultdict
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from schema import AdmittedTurn, Candidate, Context, Extraction, Kind, MemoryType, Turn
from schema.settings import Settings
from stores.llm import LLM, Reply

SECONDS = "BENCH_LLM_SECONDS"
LOG = "BENCH_LLM_LOG"


class _Nothing(BaseModel):
    """The answer carries nothing: what came of a turn is known without it."""


class StubProvider:
    """Answers an empty object after a fixed time."""

    name = "stub"

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds

    def reply(self, prompt: str, schema: dict[str, Any]) -> Reply:
        del schema
        time.sleep(self._seconds)
        return Reply("{}", prompt_tokens=len(prompt) // 4)


def open_provider(_settings: Settings) -> StubProvider:
    return StubProvider(float(os.environ[SECONDS]))


class StubExtractor:
    """Asks the model once for all turns of a batch, and keeps every one as a memory of its own."""

    def __init__(self, llm: LLM) -> None:
        self._llm = llm

    def prepare(self) -> None:
        """Do nothing: there is nothing to load."""

    def extract(self, turns: Sequence[AdmittedTurn], context: Context) -> Extraction:
        del context
        said = [one.turn for one in turns]
        with logged(said):
            self._llm.complete("\n".join(turn.text_of("user") for turn in said), _Nothing)
        return Extraction(items=tuple(map(_candidate, said)), model=self._llm.name)


def open_extractor(_settings: Settings, llm: LLM | None) -> StubExtractor:
    if llm is None:
        raise ValueError("the stub extractor asks a language model: set AFTERTURN_LLM")
    return StubExtractor(llm)


def _candidate(turn: Turn) -> Candidate:
    return Candidate(
        turn_id=turn.turn_id,
        ordinal=0,
        type=MemoryType.SEMANTIC,
        kind=Kind.USER_FACT,
        category="Other",
        summary=f"{turn.text_of('user')} ({turn.sequence})",
        confidence=0.9,
        occurred_at=turn.occurred_at,
        said_at=turn.occurred_at,
    )


class logged:  # noqa: N801 - a context manager that reads as a verb
    """Write to the log which turns were in the model's hands while the block ran."""

    def __init__(self, turns: Sequence[Turn]) -> None:
        self._turns = turns
        self._start = 0.0

    def __enter__(self) -> None:
        self._start = time.monotonic()

    def __exit__(self, *_: object) -> None:
        end = time.monotonic()
        lines = "".join(f"{turn.user_id},{turn.sequence},{self._start:.6f},{end:.6f}\n" for turn in self._turns)
        descriptor = os.open(os.environ[LOG], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        os.write(descriptor, lines.encode())
        os.close(descriptor)


def read_log(path: Path) -> tuple[int, int, int]:
    """Return, from a log, the calls of the model, those that overlap another of the same subject, and the turns behind
    a later one."""
    spans: dict[str, dict[tuple[float, float], list[int]]] = defaultdict(lambda: defaultdict(list))
    for line in path.read_text().splitlines():
        subject, number, start, end = line.split(",")
        spans[subject][float(start), float(end)].append(int(number))
    calls = overlaps = misorders = 0
    for of_subject in spans.values():
        calls += len(of_subject)
        ordered = sorted(of_subject)
        overlaps += sum(later[0] < earlier[1] for earlier, later in pairwise(ordered))
        # A turn counts where its call ended: that is when its effect was written.
        latest = -1
        for span in sorted(of_subject, key=lambda span: span[1]):
            for sequence in of_subject[span]:
                misorders += sequence < latest
                latest = max(latest, sequence)
    return calls, overlaps, misorders
