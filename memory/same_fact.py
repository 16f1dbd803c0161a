"""Asks a language model what words and cosines could not settle: whether two memories tell the same fact."""

from __future__ import annotations

import json
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Final

import structlog
from pydantic import BaseModel, BeforeValidator, ConfigDict

from memory.metrics import LLM_CHECKS
from memory.prompts import prompt
from schema import Candidate, Memory, SameFact
from schema.errors import CircuitOpen, LLMAnswerInvalid, LLMBusy, LLMRefused, LLMUnavailable
from stores.llm import LLM

PROMPT: Final = "same-fact-1"
MAX_PAIRS: Final = 20
"""Pairs of one call; of more, the first are asked about."""
_log = structlog.get_logger()
Key = tuple[str, int, uuid.UUID]
Verdicts = Mapping[Key, SameFact]
_NEVER: Final = (LLMAnswerInvalid, LLMRefused)
_AWAY: Final = (LLMUnavailable, LLMBusy, CircuitOpen)
_VERDICTS: Final = {verdict.value: verdict for verdict in (SameFact.SAME, SameFact.CHANGED, SameFact.DIFFERENT)}


@dataclass(frozen=True)
class Check:
    """A candidate and the active memory that it may be the same as."""

    candidate: Candidate
    memory: Memory

    @property
    def key(self) -> Key:
        """Return what tells it from the other checks of a batch."""
        return self.candidate.turn_id, self.candidate.ordinal, self.memory.id


def _text(value: object) -> str:
    return value.strip().lower() if isinstance(value, str) else ""


def _objects(value: object) -> object:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else value


class _Verdict(BaseModel):
    model_config = ConfigDict(json_schema_extra={"required": ["pair", "verdict"]})

    pair: Annotated[str, BeforeValidator(_text)] = ""
    verdict: Annotated[str, BeforeValidator(_text)] = ""


class _Answer(BaseModel):
    verdicts: Annotated[list[_Verdict], BeforeValidator(_objects)]


class Judge:
    """Asks a model about all pairs of a batch in one call. Safe for many threads.

    Where the model never answers usefully the pairs stay unsettled, and a duplicate may be the price. With `waits` a
    model that is away is waited for, as the rest of the fleet does; without it, the same holds for that.
    """

    def __init__(self, llm: LLM, *, waits: bool) -> None:
        self._llm = llm
        self._gives_up_on: tuple[type[Exception], ...] = _NEVER if waits else (*_NEVER, *_AWAY)

    @property
    def name(self) -> str:
        return self._llm.name

    def judge(self, checks: Sequence[Check]) -> Verdicts:
        """Return what the model says of each pair; those of which it says nothing are left out.

        Raises:
            LLMUnavailable, LLMBusy, CircuitOpen: try again later.
        """
        asked = {f"p{number}": check for number, check in enumerate(checks[:MAX_PAIRS], start=1)}
        if not asked:
            return {}
        try:
            completion = self._llm.complete(prompt(PROMPT).filled(pairs=_written(asked)), _Answer)
        except self._gives_up_on as error:
            _log.warning("checks_unanswered", error=type(error).__name__, checks=len(checks))
            LLM_CHECKS.labels("unanswered").inc(len(checks))
            return {}
        verdicts = {
            asked[answer.pair].key: _VERDICTS[answer.verdict]
            for answer in completion.answer.verdicts
            if answer.pair in asked and answer.verdict in _VERDICTS
        }
        for verdict in verdicts.values():
            LLM_CHECKS.labels(verdict.value).inc()
        LLM_CHECKS.labels("unanswered").inc(len(checks) - len(verdicts))
        return verdicts


def _written(checks: Mapping[str, Check]) -> str:
    return "\n".join(
        json.dumps(
            {
                "pair": label.upper(),
                "known": check.memory.summary,
                "known_of": f"{check.memory.said_at:%Y-%m-%d}",
                "new": check.candidate.summary,
                "new_of": f"{check.candidate.said_at:%Y-%m-%d}",
            },
            ensure_ascii=False,
        )
        for label, check in checks.items()
    )
