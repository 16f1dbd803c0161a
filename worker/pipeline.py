"""Process the pending turns of one subject: read top to bottom, it is the story of `docs/architecture.md`."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

import structlog

from memory.draft import OVER_QUOTA, Draft
from memory.erasure.raw_turns import reduced_turn
from memory.provisional import settle
from memory.publish import publish
from memory.quotas import room_of
from memory.resolve import resolve
from memory.scoring import Item, Origin, embed, score
from memory.screening import screened, source_of
from memory.spending import current_spending, shares_of
from memory.spoken_preferences import Consent, SpokenPreferences, spoken_preferences, without_withheld
from memory.stages import stage
from memory.superseding import tolerance_of
from policies.limits import within_rate
from policies.speakers import of_one_user
from schema import (
    AdmissionAction,
    AdmittedTurn,
    AuditAction,
    Candidate,
    Context,
    Extraction,
    ForgetRequest,
    OpenTopic,
    Policy,
    Turn,
)
from schema.errors import ConflictingTurn
from stores.catalog import BeforeBatch, LedgerEntry, Outcome
from stores.failpoints import hit
from stores.mailbox import Lease
from worker.context import WorkerContext
from worker.conversation import (
    admitted,
    before_batch,
    name_of,
    questions_after,
    recent_after,
    topics_after,
    with_histories,
    with_known,
    without_answered_secrets,
)
from worker.extract.model import ModelExtractor
from worker.nights.consolidate import is_burst, request_condensing_once

_log = structlog.get_logger()
_WORKER = "worker"
_BEFORE_AN_ERASURE = "said before an erasure"


@dataclass(frozen=True)
class ReceivedTurn:
    """A turn as it came out of the mailbox: checked, with when it arrived there, and when it was enqueued."""

    turn: Turn
    digest: str
    arrived_at: datetime
    enqueued_at: datetime


@dataclass(frozen=True)
class Decided:
    """Decisions on some turns of a subject, stage by stage, before any of them is written."""

    received: list[ReceivedTurn]
    turns: list[AdmittedTurn]
    conversation: Context
    """The context that earlier batches left, without what the turns themselves say of what was before them."""
    preferences: SpokenPreferences
    extraction: Extraction | None
    """None where admission skipped every turn."""
    items: list[Item]
    """Items that were proposed and may be kept or forgotten, as they were weighed."""
    effective: set[str]
    """The ids of the turns of which something was kept or forgotten."""
    became: dict[str, list[uuid.UUID]]
    """The memories that candidates became or were merged into, by the turn."""
    topics: dict[str | None, OpenTopic | None]
    draft: Draft


def process(received: Sequence[ReceivedTurn], lease: Lease, context: WorkerContext, now: datetime) -> None:
    """Take turns of one subject, oldest first, from the mailbox to memory. Repeatable: a turn has its effect once.

    Raises:
        StaleFence: the lease was taken over; nothing was written.
        ConflictingTurn: another turn was processed under the id of one of them; nothing was written.
        Exception: whatever a part raised before the commit; nothing was written.
    """
    subject = lease.subject
    before = before_batch(subject, [arrived.turn for arrived in received], context, now)
    noted = before.noted
    fresh, too_late = _fresh(received, before, context)
    refused = tuple(_refused(late, now) for late in too_late)
    if not fresh:
        if refused or noted:
            draft = Draft(subject, now, context.policy.version, by=_WORKER)
            settle(noted, {}, draft)
            publish(replace(draft.changes(lease.token), ledger=refused), {}, context)
        return
    current_spending().conversations = shares_of([arrived.turn for arrived in fresh])
    decided = decide(fresh, before.context, context, now)
    turns, conversation, preferences, draft = decided.turns, decided.conversation, decided.preferences, decided.draft
    settle(noted, decided.became, draft)
    questions = questions_after(turns, conversation, preferences, context.policy)
    forgetting = draft.hid | {
        item.turn_id for item in decided.items if isinstance(item, ForgetRequest) and not item.only_as_read
    }
    keeps_recent = isinstance(context.extractor, ModelExtractor) and not forgetting
    sources = _within_quota(tuple(_sources(decided.received, preferences, draft, context.policy)), draft)
    changes = replace(
        draft.changes(lease.token),
        sources=sources,
        ledger=(*_ledger(decided.received, turns, decided.effective, draft), *refused),
        topics=decided.topics,
        questions=dict.fromkeys(questions) if forgetting else questions,
        recent=recent_after(turns, conversation, preferences, context.policy) if keeps_recent else {},
        forgets=bool(forgetting),
    )
    publish(changes, draft.vectors, context)
    if is_burst(subject, changes.created, context, now):
        request_condensing_once(subject, context)


def decide(fresh: Sequence[ReceivedTurn], kept_context: Context, context: WorkerContext, now: datetime) -> Decided:
    """Decide what turns of one subject, oldest first, change, after what earlier batches left. Nothing is written.

    Raises:
        Exception: whatever a part raised.
    """
    asks_model = isinstance(context.extractor, ModelExtractor)
    subject = fresh[0].turn.subject
    arrivals = {arrived.turn.turn_id: arrived.arrived_at for arrived in fresh}
    with stage("admit"):
        original = [arrived.turn for arrived in fresh]
        conversation = with_histories(original, kept_context, context)
        masked = without_answered_secrets(original, conversation)
        fresh = [replace(arrived, turn=turn) for arrived, turn in zip(fresh, masked, strict=True)]
        turns = admitted(list(map(of_one_user, masked)), conversation, context.settings, for_model=asks_model)
        draft = Draft(subject, now, context.policy.version, by=_WORKER, name=name_of(masked, conversation))
        draft.room = room_of(subject, context)
        consent = Consent(conversation.consent_since, tolerance_of(context))
        preferences = spoken_preferences(
            turns, conversation.preferences, consent, arrivals, draft, context.utterance_reader
        )
        turns = without_withheld(turns, preferences)
    extraction: Extraction | None = None
    items: list[Item] = []
    effective: set[str] = set()
    became: dict[str, list[uuid.UUID]] = {}
    topics: dict[str | None, OpenTopic | None] = {}
    if any(turn.admission.action is not AdmissionAction.SKIP for turn in turns):
        with stage("extract"):
            subject_state = context.catalog.subject_state(subject, now - timedelta(hours=1))
            before = with_known(turns, conversation, context) if asks_model else conversation
            extraction = context.extractor.extract(turns, before)
            hit("after_extract")
            draft.made_by = _made_by(extraction)
        with stage("screen"):
            turns_by_id = {arrived.turn.turn_id: arrived.turn for arrived in fresh}
            kept = list(screened(extraction, turns_by_id, preferences, draft, context))
            topics = topics_after(extraction, turns, conversation, preferences, context.policy)
        with stage("score"):
            in_order = (_as_of_arrival(item, turns_by_id[item.turn_id], arrivals[item.turn_id]) for item in kept)
            items = list(_score(in_order, subject_state.writes, context))
        if items:
            with stage("embed"):
                vectors = embed(items, subject_state.unindexed, draft, context)
            with stage("resolve"):
                resolutions = resolve(items, vectors, _origins(fresh), draft, context)
                effective = {resolution.turn_id for resolution in resolutions if resolution.is_effective}
                for resolution in resolutions:
                    if resolution.memory_id is not None:
                        became.setdefault(resolution.turn_id, []).append(resolution.memory_id)
    return Decided(list(fresh), turns, kept_context, preferences, extraction, items, effective, became, topics, draft)


def _fresh(
    received: Sequence[ReceivedTurn], before: BeforeBatch, context: WorkerContext
) -> tuple[list[ReceivedTurn], list[ReceivedTurn]]:
    """Return those of the turns that were neither processed nor erased; and those that come after an erasure and were
    said before it."""
    for arrived in received:
        known = before.processed.get(arrived.turn.turn_id)
        if known is not None and not arrived.turn.is_known_by(known):
            raise ConflictingTurn(arrived.turn.turn_id)
    erased = before.tombstones
    tolerance = tolerance_of(context)
    fresh, too_late = list[ReceivedTurn](), list[ReceivedTurn]()
    for arrived in received:
        turn = arrived.turn
        if turn.turn_id in before.processed or any(tombstone.covers(turn, arrived.arrived_at) for tombstone in erased):
            continue
        was_said_before = any(tombstone.refuses(turn, arrived.enqueued_at, tolerance) for tombstone in erased)
        (too_late if was_said_before else fresh).append(arrived)
    return fresh, too_late


def _refused(arrived: ReceivedTurn, now: datetime) -> LedgerEntry:
    reasons = (_BEFORE_AN_ERASURE,)
    return LedgerEntry(arrived.turn.turn_id, arrived.digest, Outcome.REFUSED, reasons, arrived.arrived_at, now)


def _made_by(extraction: Extraction) -> dict[str, str | int]:
    made_by: dict[str, str | int] = {"model": extraction.model}
    if extraction.prompt_version is None:
        return made_by
    return made_by | {
        "prompt_version": extraction.prompt_version,
        "batch_prompt_tokens": extraction.prompt_tokens,
        "batch_completion_tokens": extraction.completion_tokens,
    }


def _origins(received: Sequence[ReceivedTurn]) -> dict[str, Origin]:
    turns = [arrived.turn for arrived in received]
    return {turn.turn_id: Origin(turn.conversation_id, turn.agent_id, turn.user_id) for turn in turns}


def _as_of_arrival(item: Candidate | ForgetRequest, turn: Turn, arrived_at: datetime) -> Candidate | ForgetRequest:
    """Return an item said no later than its turn arrived: a clock that is ahead would have it outlast what is said
    after it."""
    said = item.said_at or turn.occurred_at
    if item.said_at == said <= arrived_at:
        return item
    said_at = min(said, arrived_at).astimezone(said.tzinfo)
    if isinstance(item, ForgetRequest) or item.occurred_at != item.said_at:
        return item.model_copy(update={"said_at": said_at})
    return item.model_copy(update={"said_at": said_at, "occurred_at": said_at})


def _score(items: Iterable[Candidate | ForgetRequest], written: int, context: WorkerContext) -> Iterator[Item]:
    for item in items:
        if isinstance(item, ForgetRequest):
            yield item
            continue
        scored = score(item, context)
        if scored.importance < context.policy.importance_minimum and not item.explicit:
            continue
        yield replace(scored, importance=scored.importance * within_rate(written, item.explicit, context.policy))
        written += 1


def _sources(
    fresh: Sequence[ReceivedTurn], preferences: SpokenPreferences, draft: Draft, policy: Policy
) -> Iterator[Turn]:
    """Yield the raw turns that memories of the draft came of, as they may be kept."""
    made = (*draft.created(), *draft.updated())
    for turn in (arrived.turn for arrived in fresh):
        kept = [memory.summary for memory in made if turn.turn_id in memory.source_turn_ids]
        if kept:
            hidden = draft.hidden.get(turn.turn_id, ())
            own = [name for name in (turn.user_name(), draft.name, turn.user_id) if name]
            source = source_of(turn, preferences.topics(turn.turn_id), hidden, policy, own=own)
            gone = draft.gone.get(turn.turn_id)
            yield reduced_turn(source, gone, kept) if gone else source


def _within_quota(sources: tuple[Turn, ...], draft: Draft) -> tuple[Turn, ...]:
    """Return the raw turns that may be kept: none where a quota of them is full, which is said."""
    if draft.room.sources_full is None:
        return sources
    for turn in sources:
        draft.refuse_by_quota(turn.turn_id, "sources", draft.room.sources_full)
    return ()


def _ledger(
    fresh: Sequence[ReceivedTurn],
    turns: Sequence[AdmittedTurn],
    effective: set[str],
    draft: Draft,
) -> Iterator[LedgerEntry]:
    """Yield what became of each turn. `effective` are the ids of those of which something was kept or forgotten."""
    refused = {entry.turn_id for entry in draft.audit if entry.action in (AuditAction.REFUSED, AuditAction.QUARANTINED)}
    for arrived, admitted_turn in zip(fresh, turns, strict=True):
        turn_id = arrived.turn.turn_id
        if turn_id in effective:
            hid = Outcome.HIDDEN if turn_id in draft.hid else Outcome.KEPT
            outcome = Outcome.FORGOTTEN if turn_id in draft.forgot else hid
        else:
            outcome = Outcome.REFUSED if turn_id in refused else Outcome.SKIPPED
        reasons = admitted_turn.admission.reasons
        if turn_id in draft.over_quota:
            reasons = (*reasons, f"{OVER_QUOTA} memories")
        yield LedgerEntry(turn_id, arrived.digest, outcome, reasons, arrived.arrived_at, draft.time())
