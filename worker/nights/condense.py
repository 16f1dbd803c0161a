"""What a group of episodes says in one memory: by a language model where one is configured, by the rules otherwise."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from typing import Annotated

import structlog
from pydantic import BaseModel, StringConstraints

from memory.llm import LLM, LLMAnswerInvalid, LLMRefused
from memory.schema import MAX_SUMMARY_CHARS, Memory, Verdict
from policies.consolidation import told
from policies.privacy import screen
from policies.wording import read
from worker.parts import Parts

_log = structlog.get_logger()
_PROMPT = "condense-1.md"


class Condensed(BaseModel):
    """What the model answers."""

    summary: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=MAX_SUMMARY_CHARS)]


def condensed(group: Sequence[Memory], parts: Parts) -> tuple[str, str]:
    """A summary of a group that `told` can tell, and who made it.

    What a model wrote is taken only if it adds no number, date or name, and if it may be kept; otherwise, and when the
    model answers nonsense, the rules tell it.

    Raises:
        LLMUnavailable, LLMBusy, CircuitOpen: the model may answer later.
    """
    by_rules = told(group, parts.policy)
    if by_rules is None:
        raise ValueError("the group is too much for one memory")
    if parts.llm is None:
        return by_rules, "rules"
    try:
        summary = _ask(group, parts.llm)
    except (LLMAnswerInvalid, LLMRefused) as error:
        _log.warning("not_condensed_by_model", stage="night", error=type(error).__name__)
        return by_rules, "rules"
    if adds_something(summary, [by_rules]) or screen(summary, parts.policy).verdict is not Verdict.ALLOW:
        _log.warning("not_condensed_by_model", stage="night", error="it added something")
        return by_rules, "rules"
    return summary, f"{parts.llm.name}, {_PROMPT.removesuffix('.md')}"


def adds_something(summary: str, originals: Sequence[str]) -> bool:
    """Whether a text has numbers, dates or names that none of the others has."""
    said, known = read(summary), [read(text) for text in originals]
    quantities = {quantity for one in known for quantity in one.quantities}
    words = {word for one in known for word in one.words}
    return bool(said.quantities - quantities or said.names - words - {name for one in known for name in one.names})


def _ask(group: Sequence[Memory], llm: LLM) -> str:
    lines = "\n".join(f"- {memory.occurred_at:%d %B %Y}: {memory.summary}" for memory in group)
    return llm.complete(_prompt().replace("{memories}", lines), Condensed).answer.summary


@cache
def _prompt() -> str:
    return files("worker.nights").joinpath("prompts", _PROMPT).read_text(encoding="utf-8")
