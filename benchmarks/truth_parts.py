"""The oracle as a provider of the fleet, and an extractor that keeps what it answers, word for word."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from benchmarks.truth_oracle import Oracle, Throttled, kept_of
from memory.llm import LLM, LLMUnavailable, Reply
from memory.schema import AdmissionAction, Candidate, Context, Extraction, Kind, MemoryType, Turn
from memory.settings import Settings
from worker.extract.base import AdmittedTurn

SECONDS, FAULTY, LOG = "BENCH_TRUTH_SECONDS", "BENCH_TRUTH_FAULTY", "BENCH_TRUTH_LOG"


class OracleProvider:
    """Answers what is right to say of each line `turn ID: text` of a prompt."""

    name = "oracle"

    def __init__(self, oracle: Oracle) -> None:
        self._oracle = oracle

    def reply(self, prompt: str, schema: dict[str, Any]) -> Reply:
        del schema
        found = []
        for line in prompt.splitlines():
            if line.startswith("turn "):
                turn_id, _, text = line.removeprefix("turn ").partition(": ")
                found += [{"turn_id": turn_id, "text": kept} for _, kept in kept_of(text)]
        try:
            text = self._oracle.answer(prompt, json.dumps({"memories": found}))
        except Throttled as error:
            raise LLMUnavailable("throttled") from error
        return Reply(text, prompt_tokens=len(prompt) // 4)


def open_provider(_settings: Settings) -> OracleProvider:
    oracle = Oracle(float(os.environ[SECONDS]), os.environ[FAULTY] == "1", Path(os.environ[LOG]))
    return OracleProvider(oracle)


class _Said(BaseModel):
    turn_id: str
    text: str


class _Answer(BaseModel):
    memories: list[_Said]


class OracleExtractor:
    """Asks once for all turns of a batch that are worth it."""

    def __init__(self, llm: LLM) -> None:
        self._llm = llm

    def prepare(self) -> None:
        """There is nothing to load."""

    def extract(self, turns: Sequence[AdmittedTurn], _context: Context) -> Extraction:
        worth = {one.turn.turn_id: one.turn for one in turns if one.admission.action is not AdmissionAction.SKIP}
        prompt = "\n".join(f"turn {id_}: {turn.text_of('user')}" for id_, turn in worth.items())
        completion = self._llm.complete(prompt, _Answer)
        said = [one for one in completion.answer.memories if one.turn_id in worth]
        items = tuple(_candidate(one.text, n, worth[one.turn_id]) for n, one in enumerate(said))
        return Extraction(items=items, model=self._llm.name, prompt_tokens=completion.prompt_tokens)


def open_extractor(_settings: Settings, llm: LLM | None) -> OracleExtractor:
    if llm is None:
        raise ValueError("the oracle's extractor asks a language model: set AFTERTURN_LLM")
    return OracleExtractor(llm)


def _candidate(text: str, ordinal: int, turn: Turn) -> Candidate:
    return Candidate(
        turn_id=turn.turn_id,
        ordinal=ordinal,
        type=MemoryType.SEMANTIC,
        kind=Kind.USER_FACT,
        category="Personal",
        summary=text,
        confidence=0.9,
        occurred_at=turn.occurred_at,
        said_at=turn.occurred_at,
    )
