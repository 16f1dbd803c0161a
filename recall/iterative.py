"""Retrieval for an agent before it answers: a language model searches in rounds and chooses what it is given.

Source: "VOS Memory System", "Memory Retriever Module"; where that is silent, limits are settings.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as TooLate
from contextvars import copy_context
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Final, Literal

import structlog
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from memory.metrics import RETRIEVER, RETRIEVER_ROUNDS, RETRIEVER_SECONDS
from memory.prompts import prompt
from memory.spending import Spending, spending
from memory.tracing import RECORD_COUNT, span
from policies.privacy.screen import screen
from recall.audience import audiences
from recall.retrieve import Hit, retrieve
from schema import Message, Policy, Principal, Subject, Way
from schema.errors import AfterturnError, CatalogOutage
from stores.llm import LLM
from stores.open import Stores

PROMPT: Final = "retrieve-1"
_HITS_A_QUERY: Final = 3
_QUERIES_A_ROUND: Final = 3
_GIVEN_AT_MOST: Final = 9
_MODEL_CALLS: Final = 16
"""Questions to the model that may be under way in this process: one that is late holds its place until it is over."""
_SHOWN_CHARACTERS: Final = 500
"""Of one message: what a model needs to see what is talked about."""
_log = structlog.get_logger()
_pool = ThreadPoolExecutor(_MODEL_CALLS, thread_name_prefix="retriever")


class Outcome(StrEnum):
    """End of a retrieval in rounds."""

    GIVEN = "given"
    """The model chose what is given."""
    IGNORED = "ignored"
    """The model said that nothing need be known."""
    CUT = "cut"
    """The rounds or the time were up: the best of what was found is given."""
    FALLBACK = "fallback"
    """The model could not be asked, or answered nothing useful: the best of what was found is given."""
    SINGLE = "single"
    """There is no model: one search by the user's last message."""


@dataclass(frozen=True)
class Retrieved:
    """Memories for an agent, best first, at most nine; `rounds` is how often the model was asked."""

    hits: tuple[Hit, ...]
    rounds: int
    outcome: Outcome


@dataclass(frozen=True)
class Limits:
    """`messages` are the last ones that the model sees, `seconds` the time for all rounds together."""

    rounds: int = 3
    messages: int = 10
    seconds: float = 1.5


def _texts(value: object) -> object:
    return [item.strip() for item in value if isinstance(item, str) and item.strip()] if isinstance(value, list) else []


class _Step(BaseModel):
    model_config = ConfigDict(json_schema_extra={"required": ["decision", "queries", "selected"]})

    decision: Literal["GET_MEMORIES", "GIVE_MEMORIES", "IGNORE"]
    queries: Annotated[list[str], BeforeValidator(_texts)] = Field(default_factory=list)
    selected: Annotated[list[str], BeforeValidator(_texts)] = Field(default_factory=list)


def is_due(turn_number: int, every_turns: int) -> bool:
    """Return whether the retriever runs before a turn; `turn_number` counts from 1."""
    return turn_number % every_turns == 0


def retrieve_in_rounds(
    principal: Principal | None,
    subjects: Sequence[Subject],
    messages: Sequence[Message],
    stores: Stores,
    *,
    llm: LLM | None,
    limits: Limits,
    now: datetime,
) -> Retrieved:
    """Return the memories that an agent should have before it answers the last of `messages`, oldest first.

    The model sees the messages, masked, and what was found so far under labels, never an id; in each round it searches
    with up to three queries, or gives what it chose, or says that nothing is needed. What is given counts as used, and
    what was only looked at does not. Without a model it is one search by the user's last message.

    Raises:
        ValueError: there is no message of the user, or the subjects are of several tenants.
        NotAMember, NotAllowed: the principal may see nothing of one of the subjects.
        Transient: a store cannot be asked now.
    """
    spoken = (message.content for message in reversed(messages) if message.role == "user")
    question = next((text for text in spoken if text.strip()), "")
    if not question:
        raise ValueError("messages: none of them is the user's; send at least what the user said last")
    started = time.monotonic()
    # Before a model is asked for whoever may see nothing.
    audiences(principal, subjects, stores)
    search = _Search(principal, subjects, stores, now)
    with span("retriever") as current:
        if llm is None:
            retrieved = Retrieved(
                tuple(search.ask([question], _GIVEN_AT_MOST).values())[:_GIVEN_AT_MOST], 0, Outcome.SINGLE
            )
        else:
            shown = _shown(messages[-limits.messages :], stores.policy)
            with spending("question") as spent:
                retrieved = _in_rounds(shown, question, search, llm, limits, started + limits.seconds)
                _note_costs(spent, subjects, stores, now)
        current.set_attribute("afterturn.outcome", retrieved.outcome.value)
        current.set_attribute("afterturn.rounds", retrieved.rounds)
        current.set_attribute(RECORD_COUNT, len(retrieved.hits))
    for subject in subjects:
        used = [hit.memory.id for hit in retrieved.hits if hit.memory.subject == subject]
        stores.accesses.note(subject, used, now, Way.ROUNDS, principal.agent_id if principal else None)
    RETRIEVER.labels(retrieved.outcome).inc()
    RETRIEVER_ROUNDS.inc(retrieved.rounds)
    RETRIEVER_SECONDS.observe(time.monotonic() - started)
    return retrieved


def _note_costs(spent: Spending, subjects: Sequence[Subject], stores: Stores, now: datetime) -> None:
    """Write down what the model was asked for, in equal parts for the subjects; the answer is there without it."""
    rows = [spending.part(1 / len(subjects)) for spending in spent.rows()]
    try:
        for subject in subjects:
            stores.catalog.costs.note(subject, rows, now)
    except CatalogOutage as error:
        _log.warning("costs_not_noted", error=type(error).__name__)


@dataclass(frozen=True)
class _Search:
    principal: Principal | None
    subjects: Sequence[Subject]
    stores: Stores
    now: datetime

    def ask(self, queries: Sequence[str], limit: int = _HITS_A_QUERY) -> dict[str, Hit]:
        """Return what is found by each query, by the memories' ids, in the order in which it was found."""
        return {
            str(hit.memory.id): hit
            for query in queries
            for hit in retrieve(self.principal, self.subjects, query, self.stores, limit=limit, way=None, now=self.now)
        }


def _in_rounds(shown: str, question: str, search: _Search, llm: LLM, limits: Limits, deadline: float) -> Retrieved:
    hits: dict[str, Hit] = {}
    asked: set[frozenset[str]] = set()
    outcome, rounds = Outcome.CUT, 0
    for _ in range(limits.rounds):
        rounds += 1
        labels = {f"M{number}": hit for number, hit in enumerate(hits.values(), start=1)}
        try:
            step = _ask(llm, shown, labels, deadline)
        except TooLate:
            break
        except AfterturnError as error:
            _log.warning("retriever_unanswered", error=type(error).__name__, round=rounds)
            outcome = Outcome.FALLBACK
            break
        if step.decision == "IGNORE":
            return Retrieved((), rounds, Outcome.IGNORED)
        if step.decision == "GIVE_MEMORIES":
            chosen = {str(labels[label].memory.id): labels[label] for label in step.selected if label in labels}
            return Retrieved(tuple(chosen.values())[:_GIVEN_AT_MOST], rounds, Outcome.GIVEN)
        queries = frozenset(query.casefold() for query in step.queries[:_QUERIES_A_ROUND])
        if not queries or queries in asked:
            break
        asked.add(queries)
        # What has a label keeps it.
        hits |= {id_: hit for id_, hit in search.ask(step.queries[:_QUERIES_A_ROUND]).items() if id_ not in hits}
    if not hits:
        hits = search.ask([question], _GIVEN_AT_MOST)
    best = sorted(hits.values(), key=lambda hit: -hit.score)
    return Retrieved(tuple(best[:_GIVEN_AT_MOST]), rounds, outcome)


def _ask(llm: LLM, shown: str, labels: Mapping[str, Hit], deadline: float) -> _Step:
    """Return what the model decides, in the time that is left.

    Raises:
        TimeoutError: it did not answer in time; its answer comes to nobody.
        LLMAnswerInvalid, LLMRefused, LLMUnavailable, LLMThrottled, LLMBusy, CircuitOpen
    """
    memories = "\n".join(_line(label, hit) for label, hit in labels.items()) or "(none yet)"
    text = prompt(PROMPT).filled(messages=shown, memories=memories)
    answer: Future[_Step] = _pool.submit(copy_context().run, lambda: llm.complete(text, _Step).answer)
    try:
        return answer.result(max(0.0, deadline - time.monotonic()))
    finally:
        # Whoever waits for the agent does not wait for a model that is late.
        answer.cancel()


def _line(label: str, hit: Hit) -> str:
    return f"{label} ({hit.memory.occurred_at:%Y-%m-%d}): {json.dumps(hit.memory.summary, ensure_ascii=False)}"


def _shown(messages: Sequence[Message], policy: Policy) -> str:
    return "\n".join(
        f"{message.role}: {json.dumps(screen(message.content, policy).text[:_SHOWN_CHARACTERS], ensure_ascii=False)}"
        for message in messages
    )
