"""Drains a subject's mailbox: takes the lease, processes what is parked, batch by batch, and gives it back."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial

import structlog
from pydantic import ValidationError

from memory.draft import Draft
from memory.failures import is_outage, is_transient, pause_before_retry
from memory.leases import LeaseKeeper
from memory.metrics import LEASES_LOST, DeadLetterReason, count_dead_letter, count_retry, count_takeover
from memory.provisional import noted_of, settle
from memory.publish import publish
from memory.spending import current_spending, spending
from memory.stages import in_batch
from schema import EventName, Subject, Turn
from schema.errors import ConflictingTurn, LeaseLost, LLMAnswerCut, StaleFence, Transient
from schema.wrong_fields import wrong_fields
from stores.catalog import LedgerEntry, Outcome
from stores.celery_messages import json_or_text
from stores.failpoints import hit
from stores.mailbox import Batch, Lease, ParkedTurn
from stores.queue import notify, send_dead_letter
from worker import suspects
from worker.context import WorkerContext
from worker.pipeline import ReceivedTurn, process

_log = structlog.get_logger()
_BATCHES_A_LEASE = 4
"""How many batches a subject gets before it lines up again behind the others of its tenant."""


def drain(subject: Subject, context: WorkerContext, leases: LeaseKeeper) -> None:
    """Process the parked turns of a subject, oldest first, until none is left or others wait longer.

    A failure that passes leaves the turns where they are and the subject backing off; one that stays makes a dead
    letter of the turn that causes it, and the ones behind it go on.
    """
    settings = context.settings
    batch = context.mailbox.acquire(subject, settings.memory_batch_turns, settings.lease_seconds)
    count_takeover(batch)
    for remaining in reversed(range(_BATCHES_A_LEASE)):
        if batch is None:
            return
        with (
            leases.keeping(batch.lease, partial(_leave, batch, context)),
            in_batch([parked.turn_id for parked in batch.turns]),
        ):
            hit("after_acquire")
            batch = _next(batch, context, leases, is_last=not remaining)


@spending("turn")
def _next(batch: Batch, context: WorkerContext, leases: LeaseKeeper, *, is_last: bool) -> Batch | None:
    """Process a batch and take the turns behind it, unless it is the last or the process is to end; None when this
    worker leaves the subject."""
    try:
        with suspects.one_at_a_time(batch, context) as may_be_tried:
            if not may_be_tried:
                _give_back(batch, context.settings.lease_seconds, context, blamed=False)
                return None
            _work(batch, context)
        done = [parked.turn_id for parked in batch.turns]
        limit = context.settings.memory_batch_turns if leases.takes_more and not is_last else 0
        return context.mailbox.commit(batch.lease, done, limit, context.settings.lease_seconds)
    except (LeaseLost, StaleFence):
        LEASES_LOST.inc()
        _log.warning("lease_lost", stage="mailbox")
        return None
    except Exception as error:
        if not is_transient(error):
            raise
        _retry_later(batch, error, context)
        return None


def _retry_later(batch: Batch, error: Exception, context: WorkerContext) -> None:
    outage = is_outage(error)
    count_retry(error, outage=outage)
    before = batch.outages if outage else max(parked.failures for parked in batch.turns)
    pause = pause_before_retry(before + 1, error)
    _log.warning("retry_later", stage="mailbox", error=type(error).__name__, attempt=before + 1, seconds=pause)
    _give_back(batch, pause, context, blamed=not outage)
    # A catalog that is away has no row of it.
    with suppress(Transient):
        context.catalog.costs.note(batch.lease.subject, current_spending().rows(), datetime.now(UTC))


def _give_back(batch: Batch, pause: float, context: WorkerContext, *, blamed: bool) -> None:
    context.mailbox.release(batch, retry_in=pause, blamed=blamed)
    context.delayed.after(pause, batch.lease.subject)


def _leave(batch: Batch, context: WorkerContext) -> None:
    """Give a batch back for a process that ends, and have another worker take it at once."""
    context.mailbox.release(batch, retry_in=0, blamed=False)
    notify(context.celery, batch.lease.subject)


def _work(batch: Batch, context: WorkerContext) -> None:
    received = []
    for parked in batch.turns:
        if given_up := _given_up(parked, context):
            _make_dead_letter(parked, batch.lease, *given_up, context)
            continue
        try:
            turn = Turn.model_validate_json(parked.body)
        except ValidationError as error:
            _make_dead_letter(parked, batch.lease, "invalid", wrong_fields(error), context)
            continue
        received.append((parked, ReceivedTurn(turn, turn.digest(), parked.arrived_at, parked.enqueued_at)))
    if not received:
        return
    try:
        _process([received_turn for _, received_turn in received], batch.lease, context)
    except (LeaseLost, StaleFence):
        raise
    except Exception as error:
        if is_transient(error):
            raise
        _log.exception("batch_failed", stage="pipeline", turns=len(received))
        _one_by_one(received, batch.lease, context)


def _process(received: Sequence[ReceivedTurn], lease: Lease, context: WorkerContext) -> None:
    """Process turns together, or in halves where a model's answer to all of them would be too long."""
    try:
        process(received, lease, context, datetime.now(UTC))
    except LLMAnswerCut:
        if len(received) == 1:
            raise
        half = len(received) // 2
        _process(received[:half], lease, context)
        _process(received[half:], lease, context)


def _given_up(parked: ParkedTurn, context: WorkerContext) -> tuple[DeadLetterReason, str] | None:
    if parked.deliveries > context.settings.max_deliveries:
        return "workers_died", f"given up: {parked.deliveries - 1} workers took it and were not heard of again"
    if parked.failures >= context.settings.max_failures:
        return "failures", f"given up after {parked.failures} failures"
    return None


def _one_by_one(received: Sequence[tuple[ParkedTurn, ReceivedTurn]], lease: Lease, context: WorkerContext) -> None:
    for parked, received_turn in received:
        try:
            process([received_turn], lease, context, datetime.now(UTC))
        except (LeaseLost, StaleFence):
            raise
        except ConflictingTurn as error:
            _make_dead_letter(parked, lease, "conflict", str(error), context)
        except Exception as error:
            if is_transient(error):
                raise
            _log.exception("turn_failed", stage="pipeline", turn_id=parked.turn_id)
            _make_dead_letter(parked, lease, "error", f"processing failed: {type(error).__name__}", context)


def _make_dead_letter(
    parked: ParkedTurn, lease: Lease, why: DeadLetterReason, reason: str, context: WorkerContext
) -> None:
    """Make a dead letter of a turn. The letter is sent before the ledger says so: better twice than not at all."""
    send_dead_letter(context.celery, reason=reason, turn_id=parked.turn_id, body=json_or_text(parked.body))
    count_dead_letter(why)
    _log.error("dead_letter", stage="mailbox", turn_id=parked.turn_id, reason=reason)
    if context.catalog.processed(lease.subject, [parked.turn_id]):
        return
    now = datetime.now(UTC)
    entry = LedgerEntry(parked.turn_id, parked.digest, Outcome.DEAD, (reason,), parked.arrived_at, now)
    payload = {"turn_id": parked.turn_id, "code": why, "message": reason}
    draft = Draft(lease.subject, now, context.policy.version, by="worker")
    settle(noted_of(lease.subject, [parked.turn_id], context), {}, draft)
    draft.emit(EventName.ERROR, payload)
    publish(replace(draft.changes(lease.token), ledger=(entry,)), {}, context)
