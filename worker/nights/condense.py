"""Write what a group of episodes says as one memory: by a language model where one is set, by the rules otherwise."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from typing import Annotated, Final

import structlog
from pydantic import BaseModel, StringConstraints

from policies.consolidation import retell, sentences_in
from policies.language.days_named import days_named
from policies.language.wording import read
from policies.privacy.screen import screen
from schema import MAX_SUMMARY_CHARS, Memory, Policy, Verdict
from schema.errors import CircuitOpen, LLMFailed, LLMUnavailable
from stores.llm import LLM
from worker.context import WorkerContext

_log = structlog.get_logger()
_PROMPT = "condense-1.md"
_OWN_WORDS: Final = 0.5
"""Share of a summary's content words that may be the model's own: it may say in other words what was said, and a text
that is mostly other words says something else."""


class Condensed(BaseModel):
    """Answer of the model."""

    summary: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=MAX_SUMMARY_CHARS)]


def condensed(group: Sequence[Memory], context: WorkerContext) -> tuple[str, str]:
    """Return a summary of a group that `retell` can tell, and who made it.

    What a model wrote is taken only if it has something of each of them and adds no number, date, name or denial, is
    no longer than the rules may be, and may be kept; otherwise, and when the model answers nonsense, the rules tell it.

    Raises:
        ValueError: the group is too much for one memory.
        LLMUnavailable, LLMBusy, CircuitOpen: the model may answer later; the first and the last not where the settings
            take what the rules make of it.
    """
    by_rules = retell(group, context.policy)
    if by_rules is None:
        raise ValueError("the group is too much for one memory")
    if context.llm is None:
        return by_rules, "rules"
    try:
        summary = _ask(group, context.llm)
    except (LLMFailed, CircuitOpen) as error:
        is_away = isinstance(error, LLMUnavailable | CircuitOpen)
        if is_away and context.settings.llm_fallback == "retry":
            raise
        _log.warning("not_condensed_by_model", stage="night", error=type(error).__name__)
        return by_rules, "rules"
    if fault := _fault(summary, by_rules, group, context.policy):
        _log.warning("not_condensed_by_model", stage="night", error=fault)
        return by_rules, "rules"
    return summary, f"{context.llm.name}, {_PROMPT.removesuffix('.md')}"


def _fault(summary: str, by_rules: str, group: Sequence[Memory], policy: Policy) -> str | None:
    """Return why a model's summary of a group is not taken, if it is not."""
    originals = [memory.summary for memory in group]
    if sentences_in(summary) > policy.consolidate_sentences:
        return "it is too long"
    if adds_something(summary, [by_rules]):
        return "it added something"
    if leaves_out(summary, originals):
        return "it left something out"
    if leaves_out_days(summary, by_rules):
        return "it left a day out"
    if screen(summary, policy).verdict is not Verdict.ALLOW:
        return "it may not be kept"
    return None


def adds_something(summary: str, originals: Sequence[str]) -> bool:
    """Return whether a text has numbers, dates or names that none of the others has, denies more than they do, or is
    mostly in words of its own."""
    wording, wordings = read(summary), [read(text) for text in originals]
    quantities = {quantity for original in wordings for quantity in original.quantities}
    words = {word for original in wordings for word in original.words}
    return bool(
        wording.quantities - quantities
        or wording.names - words - {name for original in wordings for name in original.names}
        or wording.negations > sum(original.negations for original in wordings)
        or len(wording.words - words) > _OWN_WORDS * len(wording.words)
    )


def leaves_out(summary: str, originals: Sequence[str]) -> bool:
    """Return whether a text has none of the words that one of the others has and not all of them have, or denies
    nothing where one of them does."""
    wording, wordings = read(summary), [read(text) for text in originals]
    if not wording.negations and any(original.negations for original in wordings):
        return True
    common = frozenset.intersection(*(original.words for original in wordings))
    own_words = (original.words - common for original in wordings)
    return any(own and not wording.words & own for own in own_words)


def leaves_out_days(summary: str, by_rules: str) -> bool:
    """Return whether a text does not name all days, with their month and year, that the rules name."""
    return not days_named(summary) >= days_named(by_rules)


def _ask(group: Sequence[Memory], llm: LLM) -> str:
    lines = "\n".join(f"- {memory.occurred_at:%d %B %Y}: {memory.summary}" for memory in group)
    return llm.complete(_prompt().replace("{memories}", lines), Condensed).answer.summary


@cache
def _prompt() -> str:
    return files("worker.nights").joinpath("prompts", _PROMPT).read_text(encoding="utf-8")
