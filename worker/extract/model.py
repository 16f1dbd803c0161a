"""The extractor that asks a language model: once for all turns of a batch, with what is known before it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final, Literal

from memory.prompts import prompt
from policies.admission import MAY_TELL
from policies.language.orders import orders_of
from schema import Admission, AdmissionAction, AdmittedTurn, Candidate, Context, Extraction, ForgetRequest, Policy
from schema.errors import CircuitOpen, LLMAnswerCut, LLMFailed
from stores.llm import LLM, Completion
from worker.extract.answer_form import Answer
from worker.extract.base import Extractor
from worker.extract.from_model import Reading
from worker.extract.prompt_view import ShownTurn, show, written
from worker.extract.quotation import NAMELESS

PROMPT: Final = "extract-2"
Fallback = Literal["retry", "rules"]
_MAX_NAME_CHARS: Final = 60
_SHORTER: Final = "\n\nYour last answer was too long and was cut off. Tell only the five memories that are worth most."


class ModelExtractor:
    """Asks a model for candidates and takes of its answer what the user's words bear out. Safe for many threads.

    `rules` say what the user ordered in so many words, should the model overlook it. With `fallback` "rules" they
    answer where the model does not; with "retry" the turns wait. `dropped` is told why something of an answer was not
    taken, and `fell_back` of every batch that the rules had to answer.
    """

    def __init__(
        self,
        llm: LLM,
        rules: Extractor,
        categories: Sequence[str],
        policy: Policy,
        *,
        fallback: Fallback = "retry",
        dropped: Callable[[str], None] = lambda _why: None,
        fell_back: Callable[[], None] = lambda: None,
    ) -> None:
        self._llm = llm
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
        """Return what there is to remember or to forget in the turns: one call of the model, none if all were skipped.

        Raises:
            LLMAnswerCut: ask for fewer turns at a time.
            LLMBusy, LLMUnavailable, LLMAnswerInvalid, CircuitOpen: try again later; all but the first only where
                the rules do not answer instead.
            LLMRefused: the provider will never answer.
        """
        if all(admitted.admission.action is AdmissionAction.SKIP for admitted in turns):
            return Extraction(model=self._llm.name, open_topics=tuple(context.open_topics.values()))
        if context.preferences.consent == "withdrawn":
            return self._rules.extract(turns, context)
        shown = show(turns, context, self._policy)
        if not any(shown_turn.open and shown_turn.said_by("user") for shown_turn in shown):
            return self._by_rules(turns, context)
        reading = self._reading(shown, context, self._orders(turns, context))
        try:
            completion = self._answer(prompt(PROMPT).filled(turns=written(shown, context, reading.name)), shown)
        except (LLMFailed, CircuitOpen) as error:
            may_be_halved = isinstance(error, LLMAnswerCut) and len(turns) > 1
            if may_be_halved or self._fallback == "retry":
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

    def _answer(self, asked: str, shown: Sequence[ShownTurn]) -> Completion[Answer]:
        try:
            return self._llm.complete(asked, Answer)
        except LLMAnswerCut:
            if len(shown) > 1:
                raise
            return self._llm.complete(asked + _SHORTER, Answer)

    def _by_rules(self, turns: Sequence[AdmittedTurn], context: Context) -> Extraction:
        by_rules = self._rules.extract([_as_rules_admit(admitted) for admitted in turns], context)
        return by_rules.model_copy(update={"open_topics": tuple(context.open_topics.values())})

    def _orders(self, turns: Sequence[AdmittedTurn], context: Context) -> dict[str, list[Candidate | ForgetRequest]]:
        """Return what the rules make of the turns in which the user orders something of the memory, or attaches
        something."""
        ordering = [admitted for admitted in turns if admitted.turn.attachments or _orders_something(admitted)]
        by_turn: dict[str, list[Candidate | ForgetRequest]] = {}
        if ordering:
            for item in self._rules.extract(ordering, context).items:
                by_turn.setdefault(item.turn_id, []).append(item)
        return by_turn

    def _reading(
        self,
        shown: Sequence[ShownTurn],
        context: Context,
        orders: Mapping[str, Sequence[Candidate | ForgetRequest]],
    ) -> Reading:
        user_name = next((name for shown_turn in reversed(shown) if (name := shown_turn.turn.user_name())), None)
        name = " ".join((user_name or context.name or NAMELESS).split())[:_MAX_NAME_CHARS]
        return Reading(shown, context, name or NAMELESS, self._categories, orders, self._dropped)


def _orders_something(admitted: AdmittedTurn) -> bool:
    if admitted.admission.action is AdmissionAction.SKIP:
        return False
    return any(orders_of(message.content) for message in admitted.turn.messages if message.role == "user")


def _as_rules_admit(admitted: AdmittedTurn) -> AdmittedTurn:
    """Return the turn as it was admitted if no model read it: what may tell something only to a model is skipped."""
    if MAY_TELL not in admitted.admission.reasons:
        return admitted
    return AdmittedTurn(admitted.turn, Admission(action=AdmissionAction.SKIP, reasons=("nothing_personal",)))
