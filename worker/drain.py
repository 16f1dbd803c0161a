"""Drains a subject's mailbox: takes the lease, processes what is parked, batch by batch, and gives it back."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import structlog
from pydantic import ValidationError

from memory.catalog import Changes, LedgerEntry, Outcome, StaleFence
from memory.mailbox import Batch, Lease, LeaseLost, ParkedTurn
from memory.queue import send_dead_letter
from memory.schema import Subject, Turn
from worker.failures import is_transient, pause_before_retry
from worker.leases import LeaseKeeper
from worker.parts import Parts
from worker.pipeline import ReceivedTurn, process

_log = structlog.get_logger()


def drain(subject: Subject, parts: Parts, leases: LeaseKeeper) -> None:
    """Process the parked turns of a subject, oldest first, until none is left or another worker has the lease.

    A failure that passes leaves the turns where they are and the subject backing off; one that stays makes a dead
    letter of the turn that causes it, and the ones behind it go on.
    """
    settings = parts.settings
    batch = parts.mailbox.acquire(subject, settings.memory_batch_turns, settings.lease_seconds)
    while batch is not None:
        with leases.keeping(batch.lease):
            batch = _next(batch, parts)


def _next(batch: Batch, parts: Parts) -> Batch | None:
    """Process a batch and take the one behind it; None when there is none, or this worker must leave the subject."""
    settings = parts.settings
    try:
        _work(batch, parts)
        done = [parked.turn_id for parked in batch.turns]
        return parts.mailbox.commit(batch.lease, done, settings.memory_batch_turns, settings.lease_seconds)
    except (LeaseLost, StaleFence):
        _log.warning("lease_lost", stage="mailbox")
        return None
    except Exception as error:
        if not is_transient(error):
            raise
        attempt = max(parked.deliveries for parked in batch.turns)
        pause = pause_before_retry(attempt)
        _log.warning("retry_later", stage="mailbox", error=type(error).__name__, attempt=attempt, seconds=pause)
        parts.mailbox.release(batch.lease, retry_in=pause)
        return None


def _work(batch: Batch, parts: Parts) -> None:
    received = []
    for parked in batch.turns:
        if parked.deliveries > parts.settings.max_deliveries:
            _bury(parked, batch.lease, f"given up after {parked.deliveries - 1} deliveries", parts)
            continue
        try:
            turn = Turn.model_validate_json(parked.body)
        except ValidationError as error:
            _bury(parked, batch.lease, _without_content(error), parts)
            continue
        received.append((parked, ReceivedTurn(turn, parked.digest, parked.arrived_at)))
    if not received:
        return
    try:
        process([one for _, one in received], batch.lease, parts, datetime.now(UTC))
    except (LeaseLost, StaleFence):
        raise
    except Exception as error:
        if is_transient(error):
            raise
        _log.exception("batch_failed", stage="pipeline", turns=len(received))
        _one_by_one(received, batch.lease, parts)


def _one_by_one(received: Sequence[tuple[ParkedTurn, ReceivedTurn]], lease: Lease, parts: Parts) -> None:
    for parked, one in received:
        try:
            process([one], lease, parts, datetime.now(UTC))
        except (LeaseLost, StaleFence):
            raise
        except Exception as error:
            if is_transient(error):
                raise
            _log.exception("turn_failed", stage="pipeline", turn_id=parked.turn_id)
            _bury(parked, lease, f"processing failed: {type(error).__name__}", parts)


def _bury(parked: ParkedTurn, lease: Lease, reason: str, parts: Parts) -> None:
    """Make a dead letter of a turn. The letter is sent before the ledger says so: better twice than not at all."""
    send_dead_letter(parts.celery, reason=reason, turn_id=parked.turn_id, body=_json_or_text(parked.body))
    _log.error("dead_letter", stage="mailbox", turn_id=parked.turn_id, reason=reason)
    if parts.catalog.processed(lease.subject, [parked.turn_id]):
        return
    now = datetime.now(UTC)
    entry = LedgerEntry(parked.turn_id, parked.digest, Outcome.DEAD, (reason,), parked.arrived_at, now)
    parts.catalog.commit(Changes(subject=lease.subject, at=now, fence=lease.token, ledger=(entry,)))


def _json_or_text(body: str) -> Any:
    try:
        return json.loads(body)
    except ValueError:
        return body


def _without_content(error: ValidationError) -> str:
    problems = error.errors(include_input=False, include_url=False, include_context=False)
    return "; ".join(f"{'.'.join(map(str, problem['loc'])) or 'turn'}: {problem['msg']}" for problem in problems)
