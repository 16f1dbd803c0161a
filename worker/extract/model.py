"""The extractor that asks a language model: once for all turns of a batch, with what the rules think of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, Literal

from memory.prompts import prompt
from policies.privacy.screen import screen
from schema import AdmissionAction, AdmittedTurn, Candidate, Context, Extraction, Policy
from schema.errors import CircuitOpen, LLMFailed
from stores.llm import LLM
from worker.extract.answer_form import Answer
from worker.extract.base import Extractor
from worker.extract.from_model import Reading
from worker.extract.rules import NAMELESS
from worker.extract.shown import ShownTurn, show, written

PROMPT: Final = "extract-1"
Fallback = Literal["retry", "rules"]
_MAX_NAME_CHARS: Final = 60


class ModelExtractor:
    """Asks a model for candidates and takes of its answer what the user's words bear out. Safe for many threads.

    `hints` proposes what the model is shown, `rules` if it is None. With `fallback` "rules" the rules answer where the
    model does not; with "retry" the turns wait. `dropped` is told why something of an answer was not taken, and
    `fell_back` of every batch that the rules had to answer.
    """

    def __init__(
        self,
        llm: LLM,
        rules: Extractor,
        categories: Sequence[str],
        policy: Policy,
        *,
        hints: Extractor | None = None,
        fallback: Fallback = "retry",
        dropped: Callable[[str], None] = lambda _why: None,
        fell_back: Callable[[], None] = lambda: None,
    ) -> None:
        self._llm = llm
        self._hints = hints or rules
        self._rules = rules
        self._categories = tuple(categories)
        self._policy = policy
        self._fallback = fallback
        self._dropped = dropped
        self._fell_back = fell_back

    def prepare(self) -> None:
        """Load the rules' models."""
        self._rules.prepare()

    def extract(self, turns: Sequence[AdmittedTurn], context: Context) -> Extraction:
        """What there is to remember or to forget in the turns: one call of the model, none if all were skipped.

        Raises:
            LLMBusy, LLMUnavailable, LLMAnswerInvalid, CircuitOpen: try again later; all but the first only where
                the rules do not answer instead.
            LLMRefused: the provider will never answer.
        """
        if all(one.admission.action is AdmissionAction.SKIP for one in turns):
            return Extraction(model=self._llm.name, open_topics=tuple(context.open_topics.values()))
        if context.preferences.consent == "withdrawn":
            return self._rules.extract(turns, context)
        shown = show(turns, context, self._policy)
        if not any(one.open and one.said_by("user") for one in shown):
            return self._by_rules(turns, context)
        reading = self._reading(shown, context, self._hints.extract(turns, context))
        try:
            completion = self._llm.complete(self._prompt(reading), Answer)
        except (LLMFailed, CircuitOpen):
            if self._fallback == "retry":
                raise
            self._fell_back()
            return self._by_rules(turns, context)
        return Extraction(
            items=tuple(reading.items(completion.answer)),
            open_topics=reading.topics(completion.answer),
            model=self._llm.name,
            prompt_version=PROMPT,
            prompt_tokens=completion.prompt_tokens,
            completion_tokens=completion.completion_tokens,
        )

    def _by_rules(self, turns: Sequence[AdmittedTurn], context: Context) -> Extraction:
        by_rules = self._rules.extract(turns, context)
        return by_rules.model_copy(update={"open_topics": tuple(context.open_topics.values())})

    def _reading(self, shown: Sequence[ShownTurn], context: Context, hinted: Extraction) -> Reading:
        told = next((name for one in reversed(shown) if (name := one.turn.user_name())), None)
        name = " ".join((told or context.name or NAMELESS).split())[:_MAX_NAME_CHARS]
        hints = {one.turn.turn_id: [item for item in hinted.items if item.turn_id == one.turn.turn_id] for one in shown}
        return Reading(shown, context, name or NAMELESS, self._categories, hints, self._dropped)

    def _may_show(self, text: str) -> str:
        return screen(text, self._policy).text

    def _prompt(self, reading: Reading) -> str:
        hints = {
            turn_id: [text for one in items if isinstance(one, Candidate) and (text := self._may_show(one.summary))]
            for turn_id, items in reading.hints.items()
        }
        return prompt(PROMPT).filled(
            name=reading.name,
            category=self._categories[0],
            categories=", ".join(self._categories),
            turns=written(reading.shown, reading.context, hints),
        )
