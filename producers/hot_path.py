"""The hot path: what a user just said, noted before anybody has decided on it, and their orders done at once.

It runs while the assistant answers, waits for no lease and for no model longer than it may. What it notes is
provisional: the worker settles it with what came of the turn, or withdraws it. The turn is enqueued as ever, under the
same id.
"""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as TookTooLong
from contextlib import nullcontext, suppress
from contextvars import copy_context
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Annotated, Final, Literal

from pydantic import BaseModel, ConfigDict, Field

from producers.client import require_not_ahead
from schema import (
    AdmissionAction,
    AdmittedTurn,
    Candidate,
    Event,
    EventName,
    ForgetRequest,
    Kind,
    Memory,
    MemoryType,
    Status,
    Turn,
    Verdict,
)
from schema.errors import AfterturnError, AlreadyDecided, Transient
from stores.plugin import needs_extra

with needs_extra("fleet", "producers.hot_path"):
    import structlog

    from memory.blocked_topics import likely_about
    from memory.context import MemoryContext
    from memory.draft import Draft
    from memory.forget import hide_meant
    from memory.metrics import HOT_PATH, HOT_PATH_SECONDS
    from memory.planted_orders import likely_planted
    from memory.prompts import prompt
    from memory.publish import publish
    from memory.scoring import Origin, new_memory, score
    from memory.spending import current_spending, shares_of, spending
    from memory.spoken_preferences import Consent, spoken_preferences
    from memory.superseding import tolerance_of
    from memory.tags import kept_tags
    from memory.tracing import memory_span, span
    from policies.admission import admit, admit_for_model
    from policies.authority import authority_of
    from policies.categories import normalised_category
    from policies.limits import within_rate
    from policies.privacy import planted
    from policies.privacy.prompts import is_prompt
    from policies.privacy.rights_claims import is_without_authority
    from policies.privacy.screen import screen
    from policies.privacy.third_parties import may_name_others, told_of
    from policies.speakers import of_one_user
    from policies.trigger import ACT_FROM, Trigger, is_borne_out, last_exchange, orders_in, trigger_by_rules
    from stores.catalog import Changes, Undecided

_log = structlog.get_logger()
PROMPT: Final = "trigger-1"
FAILED: Final = "hot_path_failed"
"""The code of the event that says that nothing was noted; the turn itself is processed all the same."""
_MODEL_CALLS: Final = 8
"""Questions to the model that may be under way in this process: past that the rules answer."""
_AGAIN_SECONDS: Final = 0.05
_WINDOW: Final = timedelta(hours=1)
_SHOWN_CHARS: Final = 2_000
_CONFIDENCE: Final = 0.6
_BY_THE_TRIGGER: Final = "noted by the hot path"


class _Answer(BaseModel):
    model_config = ConfigDict(extra="ignore")

    should_create: bool = False
    summary: Annotated[str, Field(max_length=2_000)] = ""
    type: Literal["semantic", "episodic", "procedural"] = "semantic"
    category: str = ""
    tags: list[str] = []
    confidence: Annotated[float, Field(ge=0, le=1)] = 0.0


@dataclass(frozen=True)
class Noted:
    """Outcome of a turn on the hot path. `done` names the orders that were done at once; `candidate` is what is
    provisional now, if anything."""

    trigger: Trigger
    done: tuple[str, ...] = ()
    candidate: Memory | None = None


class _Pending:
    """A trigger that the model may still be asked about; the rules' own where it fails, or is late by `deadline`, a
    moment of `time.monotonic`."""

    def __init__(
        self, began: float, by_rules: Trigger, asked: Future[Trigger | None] | None = None, deadline: float = 0.0
    ) -> None:
        self.began = began
        self._by_rules = by_rules
        self._asked = asked
        self._deadline = deadline

    def known(self) -> Trigger:
        """Return the trigger, as soon as it is there."""
        trigger = self._answered() or self._by_rules
        HOT_PATH_SECONDS.labels("trigger").observe(time.monotonic() - self.began)
        # Whoever tries again does not wait again.
        self._by_rules, self._asked = trigger, None
        return trigger

    def _answered(self) -> Trigger | None:
        if self._asked is None:
            return None
        try:
            return self._asked.result(max(0.0, self._deadline - time.monotonic()))
        except TookTooLong:
            self._asked.cancel()
            HOT_PATH.labels("late").inc()
        except AfterturnError as error:
            _log.warning("trigger_unanswered", error=type(error).__name__)
        return None


class HotPath:
    """Notes turns. May be used from many threads."""

    def __init__(self, context: MemoryContext) -> None:
        self._context = context
        self._asks_model = context.settings.hot_path == "model" and context.llm is not None
        self._model = ThreadPoolExecutor(_MODEL_CALLS, thread_name_prefix="trigger")

    def close(self) -> None:
        """Ask the model nothing more."""
        self._model.shutdown(wait=False, cancel_futures=True)

    def note(self, turn: Turn, *, by: str, now: datetime) -> Noted:
        """Do at once what the turn orders, and note what it tells that is worth a memory. Asked again it changes
        nothing.

        Tried twice; where that fails an event says so.

        Raises:
            InvalidTurn: it says that it was said too far ahead.
            AlreadyDecided: the turn was processed or erased before.
            Transient: a store is away; nothing was noted.
        """
        require_not_ahead(turn, self._context.settings, now)
        try:
            with span("hot_path"), spending("hot_path") as spent:
                spent.conversations = shares_of([turn])
                trigger = self._begin(turn)
                noted = self._twice(turn, trigger, by, now)
        except AlreadyDecided:
            HOT_PATH.labels("decided").inc()
            raise
        except Transient as error:
            HOT_PATH.labels("failed").inc()
            self._say_failed(turn, error, now)
            raise
        HOT_PATH.labels("noted" if noted.candidate else "done" if noted.done else "nothing").inc()
        HOT_PATH_SECONDS.labels("whole").observe(time.monotonic() - trigger.began)
        return noted

    def trigger(self, turn: Turn) -> Trigger:
        """Return whether a turn holds something to note: by the model within its time where the settings name it, and
        by the rules where they do not, it is late, it fails, or the user gave an order."""
        return self._begin(turn).known()

    def _begin(self, turn: Turn) -> _Pending:
        """Ask the rules, and have the model asked beside whatever is done meanwhile."""
        began = time.monotonic()
        turn = of_one_user(turn)
        by_rules = trigger_by_rules(turn)
        if not self._asks_model or by_rules.explicit or orders_in(turn):
            return _Pending(began, by_rules)
        asked = self._model.submit(copy_context().run, self._ask, turn)
        return _Pending(began, by_rules, asked, time.monotonic() + self._context.settings.hot_path_model_ms / 1000)

    def _ask(self, turn: Turn) -> Trigger | None:
        """Return what the model makes of a turn; None where it may not be shown it."""
        llm, categories = self._context.llm, self._context.settings.categories
        assert llm is not None
        spoken, before = last_exchange(turn)
        screened = screen(spoken, self._context.policy)
        if screened.verdict is Verdict.REFUSE or not self._may_be_shown(turn, before):
            return None
        screened_before = screen(before, self._context.policy)
        shown = []
        if before and screened_before.verdict is not Verdict.REFUSE:
            shown.append({"role": "assistant", "content": screened_before.text[-_SHOWN_CHARS:]})
        shown.append({"role": "user", "content": screened.text[:_SHOWN_CHARS]})
        messages = "\n".join(json.dumps(message, ensure_ascii=False) for message in shown)
        answer = llm.complete(
            prompt(PROMPT).filled(messages=messages, categories=", ".join(categories)), _Answer
        ).answer
        summary = " ".join(answer.summary.split())
        borne_out = bool(summary) and is_borne_out(summary, spoken)
        return Trigger(
            answer.should_create and borne_out and answer.confidence >= ACT_FROM,
            answer.confidence,
            summary[:600],
            MemoryType(answer.type),
            normalised_category(answer.category, categories),
            tuple(tag.strip().lower()[:60] for tag in answer.tags[:4] if tag.strip()),
            reasons=(PROMPT,) if borne_out else (PROMPT, "not_borne_out"),
            by="model",
        )

    def _may_be_shown(self, turn: Turn, before: str) -> bool:
        """Return whether a model may be shown a turn: as the worker does, nothing that may not be kept."""
        if not self._remembers(turn) or admit_for_model(turn, before).action is AdmissionAction.SKIP:
            return False
        preferences = self._context.catalog.preferences.of(turn.subject)
        return preferences.consent != "withdrawn" and not preferences.pauses(turn.conversation_id)

    def _remembers(self, turn: Turn) -> bool:
        """Return whether the agent of a turn is one that remembers."""
        return self._context.settings.switches_of(turn.agent_id).creator

    def _twice(self, turn: Turn, trigger: _Pending, by: str, now: datetime) -> Noted:
        try:
            return self._note(turn, trigger, by, now)
        except Transient:
            time.sleep(_AGAIN_SECONDS)
            return self._note(turn, trigger, by, now)

    def _note(self, turn: Turn, pending: _Pending, by: str, now: datetime) -> Noted:
        """Do and note; all that does not hang on the trigger is done while a model may still think."""
        context, subject = self._context, turn.subject
        if noted := context.catalog.provisional.of_turns(subject, [turn.turn_id]):
            return Noted(pending.known(), candidate=noted[0])
        undecided = Undecided(turn, tolerance_of(context))
        turn = of_one_user(turn)
        draft = Draft(subject, now, context.policy.version, by=by, name=turn.user_name())
        preferences = context.catalog.preferences.of(subject)
        _, before = last_exchange(turn)
        consent = Consent(context.catalog.preferences.consent_since(subject), tolerance_of(context))
        heard = [AdmittedTurn(turn, admit(turn, before))]
        spoken = spoken_preferences(heard, preferences, consent, {turn.turn_id: now}, draft)
        done = [preference.name.value for preference in (*draft.preferred, *draft.unpreferred)]
        if hidden := self._hide(turn, draft):
            done.append("forget")
        withheld = turn.turn_id in spoken.withheld or turn.consent == "withdrawn"
        writes = context.catalog.subject_state(subject, now - _WINDOW).writes
        trigger = pending.known()
        candidate = None
        withheld = withheld or not (self._remembers(turn) or trigger.explicit)
        if trigger.should_create and not withheld and not hidden:
            candidate = self._provisional(turn, trigger, spoken.topics(turn.turn_id), writes, draft)
        if draft.changed or draft.preferred or draft.unpreferred:
            with memory_span("upsert_memory", record_id=candidate.id, count=1) if candidate else nullcontext():
                publish(replace(draft.changes(), undecided=undecided), draft.vectors, context)
        elif rows := current_spending().rows():
            with suppress(Transient):
                context.catalog.costs.note(draft.subject, rows, now)
        return Noted(trigger, tuple(done), candidate)

    def _hide(self, turn: Turn, draft: Draft) -> bool:
        """Take out of what is told what the user wants forgotten; the worker erases it with the turn."""
        orders = [order for order in orders_in(turn) if order.intent == "forget" and not order.doubtful]
        if not orders or not authority_of(turn.source).deletes:
            return False
        requests = [
            ForgetRequest(
                turn_id=turn.turn_id,
                ordinal=ordinal,
                what=(order.object_text or "all that was just said")[:600],
                scope=order.scope,
                whole=order.whole,
                just_said=order.reaches_back and order.scope != "all",
                said_at=turn.occurred_at,
            )
            for ordinal, order in enumerate(orders)
        ]
        vectors = self._context.embedder.embed([request.what for request in requests])
        hidden = [
            hide_meant(request, vector, draft, self._context, turn.conversation_id)
            for request, vector in zip(requests, vectors, strict=True)
        ]
        return any(hidden)

    def _provisional(
        self, turn: Turn, trigger: Trigger, topics: Sequence[str], writes: int, draft: Draft
    ) -> Memory | None:
        context = self._context
        spoken, _ = last_exchange(turn)
        candidate = Candidate(
            turn_id=turn.turn_id,
            ordinal=0,
            type=trigger.type_hint,
            kind=Kind.USER_FACT,
            category=normalised_category(trigger.category, context.settings.categories),
            summary=trigger.summary,
            tags=kept_tags(trigger.tags_hint, tuple(filter(None, [turn.user_name()])), context),
            source=turn.source,
            confidence=_CONFIDENCE,
            occurred_at=turn.occurred_at,
            said_at=turn.occurred_at,
            explicit=trigger.explicit,
        )
        if not _may_be_noted(candidate, turn, spoken, topics, context):
            return None
        scored = score(candidate, context)
        slower = within_rate(writes, candidate.explicit, context.policy)
        scored = replace(scored, importance=scored.importance * slower)
        origin = Origin(turn.conversation_id, turn.agent_id, turn.user_id)
        memory = new_memory(scored, origin, draft, context).model_copy(
            update={"id": uuid.uuid4(), "status": Status.PROVISIONAL}
        )
        draft.note(memory, None, _BY_THE_TRIGGER)
        return memory

    def _say_failed(self, turn: Turn, error: Transient, now: datetime) -> None:
        _log.warning("hot_path_failed", error=type(error).__name__, turn_id=turn.turn_id)
        payload = {"turn_id": turn.turn_id, "code": FAILED, "message": "nothing was noted; the turn comes all the same"}
        event = Event(name=EventName.ERROR, **turn.subject.model_dump(), at=now, payload=payload)
        try:
            publish(Changes(subject=turn.subject, at=now, events=(event,)), {}, self._context)
        except Transient as again:
            _log.warning("hot_path_failure_not_told", error=type(again).__name__, turn_id=turn.turn_id)


def _may_be_noted(candidate: Candidate, turn: Turn, spoken: str, topics: Sequence[str], context: MemoryContext) -> bool:
    """Return whether something may be kept before anybody looked closely: where any rule has a doubt the worker
    decides, who masks and asks."""
    own = tuple(filter(None, [turn.user_name()]))
    names = (message.name for message in turn.messages if message.name)
    return (
        all(
            screen(text, context.policy, blocked_topics=topics).verdict is Verdict.ALLOW
            for text in (spoken, candidate.summary)
        )
        and not likely_about(candidate.summary, topics, context.embedder, *own)
        and not is_without_authority(turn.source, spoken, candidate.summary)
        and not is_prompt(spoken)
        and not any(any(planted.find(name)) for name in names)
        and not likely_planted([spoken, planted.sentence_behind(candidate.summary, spoken)], context.embedder)
        and not told_of(candidate, own)
        and not may_name_others(candidate.summary, own)
    )
