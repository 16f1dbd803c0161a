"""The tasks, by their names on the queues."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from functools import cache, partial
from typing import Any

import structlog
from celery.exceptions import Reject
from celery.signals import worker_init, worker_shutdown, worker_shutting_down
from pydantic import ValidationError

from memory.agreement import look_at_watched
from memory.documents.indexing import make_searchable
from memory.documents.put import put_document as put
from memory.events import announce_left
from memory.failures import is_transient
from memory.leases import LeaseKeeper
from memory.metrics import DeadLetterReason, count_dead_letter
from memory.quotas import refuse_turn, tell_refused
from memory.reindex import must_be_built
from memory.tracing import start_tracing
from schema import Document, Subject, Turn
from schema.errors import (
    BrokerOutage,
    BrokerRefused,
    ConflictingTurn,
    OperatorError,
    Outage,
    QuotaExceeded,
    Refused,
    exit_code_of,
)
from schema.wrong_fields import wrong_fields
from stores.failpoints import hit
from stores.queue import (
    CONDENSE,
    DRAIN_MAILBOX,
    INDEX_DOCUMENT,
    INGEST_TURN,
    NIGHT,
    NIGHT_CHUNK,
    PUT_DOCUMENT,
    SEND_WEBHOOKS,
    SWEEP,
    TIDY,
    notify,
    request_indexing,
    request_night_page,
    request_webhooks,
    send_dead_letter,
    turn_quota,
)
from worker.app import app, settings
from worker.context import WorkerContext, load_models, open_worker_context
from worker.drain import drain
from worker.freed_memory import bound_allocator
from worker.inspection import busy
from worker.memory_bound import MemoryBound
from worker.nights.base import JobName
from worker.nights.cleanup import clean_up
from worker.nights.consolidate import condense_at_once
from worker.nights.dispatch import tick
from worker.nights.jobs import NIGHTLY_JOBS
from worker.nights.page import do_page
from worker.nights.throttle import SingleFlight
from worker.repair import index_left
from worker.scrape import show_worker
from worker.shutdown import Shutdown
from worker.webhooks import send_waiting

_log = structlog.get_logger()
_SUBJECTS_A_SWEEP = 500
_ENDPOINTS_A_SWEEP = 100
_SWEEP_CLAIM = "afterturn:sweep:claim"
"""Stands for half of the time between two sweeps."""
_night_flight = SingleFlight()


@cache
def _context() -> WorkerContext:
    return open_worker_context(settings, app)


@cache
def _leases() -> LeaseKeeper:
    return LeaseKeeper(_context().mailbox, settings.lease_seconds, settings.turn_deadline_seconds)


@cache
def _shutdown() -> Shutdown:
    return Shutdown(_leases(), settings.shutdown_seconds)


@cache
def _memory_bound() -> MemoryBound:
    return MemoryBound(settings.worker_memory_mb)


@cache
def _tracing() -> Callable[[], None]:
    return start_tracing(settings.tracing)


@worker_init.connect
def _open_at_start(**_: Any) -> None:
    bound_allocator()
    try:
        _require_entry()
        must_be_built(_context())
        load_models(_context())
        show_worker(_context(), _leases(), busy)
        _memory_bound()
        _tracing()
    except (OperatorError, Outage) as error:
        # Celery would log it and go on.
        sys.stderr.write(f"afterturn worker: {error}\n")
        sys.exit(exit_code_of(error))


def _require_entry() -> None:
    """Refuse to begin where the broker refuses who we say we are; for one that is away Celery waits, and says so.

    Raises:
        BrokerRefused: it does.
    """
    try:
        _context().redis.ping()
    except BrokerOutage as error:
        if isinstance(error, BrokerRefused):
            raise


@worker_shutting_down.connect
def _begin_the_end(**_: Any) -> None:
    _night_flight.stop()
    _shutdown().begin()


@worker_shutdown.connect
def _close_at_end(**_: Any) -> None:
    _shutdown().finish()
    _leases().stop()
    _memory_bound().stop()
    _tracing()()
    _context().close()


@app.task(name=INGEST_TURN)
def ingest_turn(*arguments: Any, **named: Any) -> None:
    """Park one turn, if its producer did not, and drain its subject's mailbox."""
    context = _context()
    if len(arguments) != 1 or named:
        _refuse({"args": arguments, "kwargs": named}, "invalid", "not one turn as its only argument", context)
        return
    [turn] = arguments
    try:
        accepted = Turn.model_validate(turn)
    except ValidationError as error:
        _refuse(turn, "invalid", f"not a turn of this version: {wrong_fields(error)}", context)
        return
    hit("before_append")
    try:
        if not _is_parked(accepted, context):
            return
    except ConflictingTurn as error:
        _refuse(turn, "conflict", str(error), context)
        return
    except Exception as error:
        # A turn that came as a plain message lies nowhere else yet: only the broker can give it back.
        if is_transient(error):
            raise Reject(type(error).__name__, requeue=True) from error
        _refuse(turn, "error", f"parking failed: {type(error).__name__}", context)
        raise
    drain(accepted.subject, context, _leases())
    hit("before_ack")


def _is_parked(turn: Turn, context: WorkerContext) -> bool:
    """Park a turn, and return whether it was: what a quota keeps out is written down."""
    try:
        context.mailbox.append(turn, settings.sweep_seconds, turn_quota(settings))
    except QuotaExceeded as error:
        refuse_turn(turn, error, context, datetime.now(UTC))
        return False
    return True


def _refuse(turn: Any, why: DeadLetterReason, reason: str, context: WorkerContext) -> None:
    named = turn.get("turn_id") if isinstance(turn, dict) else None
    turn_id = named if isinstance(named, str) else None
    send_dead_letter(context.celery, reason=reason, turn_id=turn_id, body=turn)
    count_dead_letter(why)
    _log.error("dead_letter", stage="receive", turn_id=turn_id, reason=reason)


@app.task(name=DRAIN_MAILBOX)
def drain_mailbox(tenant_id: str, subject_id: str) -> None:
    """Drain a mailbox that a sweeper found."""
    drain(Subject(tenant_id=tenant_id, subject_id=subject_id), _context(), _leases())
    hit("before_ack")


@app.task(name=NIGHT)
def night(job: JobName) -> None:
    """Begin the runs of a nightly job whose moment has come, and ask for pages of those under way."""
    tick(job, _context(), datetime.now(UTC))


@app.task(name=NIGHT_CHUNK)
def night_chunk(run_id: str) -> None:
    """Do a nightly job for the next page of a run's subjects, if no other page is in work in this process."""
    context = _context()
    _night_flight.run(
        run_id,
        partial(do_page, run_id, NIGHTLY_JOBS, context, _leases(), _night_flight.is_stopping),
        partial(request_night_page, context.celery),
    )


@app.task(name=CONDENSE)
def condense(tenant_id: str, subject_id: str) -> None:
    """Condense the episodes of a subject that told too many in a day."""
    subject = Subject(tenant_id=tenant_id, subject_id=subject_id)
    condense_at_once(subject, _context(), _leases(), datetime.now(UTC))


@app.task(name=PUT_DOCUMENT)
def put_document(*arguments: Any, **named: Any) -> None:
    """Keep a document that came as a message, and ask for it to be made searchable: turns do not wait for that."""
    context = _context()
    given = arguments[0] if len(arguments) == 1 and not named else {"args": arguments, "kwargs": named}
    try:
        document = Document.model_validate(given)
        put(None, document, context, now=datetime.now(UTC))
    except (ValueError, Refused) as error:
        count_dead_letter("invalid")
        send_dead_letter(context.celery, reason=_refusal_of(error), turn_id=None, body=given)
        _log.error("document_refused", stage="receive", reason=type(error).__name__)
        return
    except Exception as error:
        if is_transient(error):
            # It lies nowhere else yet.
            raise Reject(type(error).__name__, requeue=True) from error
        count_dead_letter("error")
        send_dead_letter(context.celery, reason=f"keeping failed: {type(error).__name__}", turn_id=None, body=given)
        raise
    # Without the notification it is the sweep that finds it.
    with suppress(BrokerOutage):
        request_indexing(app, document.subject, document.document_id)
    hit("before_ack")


def _refusal_of(error: Exception) -> str:
    if isinstance(error, ValidationError):
        return f"no document of this version: {wrong_fields(error)}"
    return str(error) if isinstance(error, Refused) else "not one document as its only argument"


@app.task(name=INDEX_DOCUMENT)
def index_document(tenant_id: str, subject_id: str, document_id: str) -> None:
    """Make a document searchable that somebody put."""
    make_searchable(Subject(tenant_id=tenant_id, subject_id=subject_id), document_id, _context(), _now)
    hit("before_ack")


def _now() -> datetime:
    return datetime.now(UTC)


@app.task(name=TIDY)
def tidy_up() -> None:
    """Drop what is stale. Twice in an hour does no harm."""
    clean_up(_context(), datetime.now(UTC))


@app.task(name=SEND_WEBHOOKS)
def send_webhooks(endpoint_id: str) -> None:
    """Send what waits for an endpoint of a webhook. Slow ones hold up nobody else's."""
    send_waiting(endpoint_id, _context())


@app.task(name=SWEEP)
def sweep() -> None:
    """Notify the mailboxes that nobody holds, and finish what was committed but not indexed or announced.

    Whoever comes first does it, however many schedulers ask for it at the same time.
    """
    context = _context()
    if not context.redis.set(_SWEEP_CLAIM, 1, nx=True, px=round(settings.sweep_seconds * 500)):
        return
    # As long as a worker may be silent nothing more is sent for a subject: its message may be in the queue.
    for subject in context.mailbox.due(_SUBJECTS_A_SWEEP, settings.lease_seconds):
        notify(app, subject)
    now, patience = datetime.now(UTC), timedelta(seconds=settings.lease_seconds)
    tell_refused(context, now, limit=_SUBJECTS_A_SWEEP)
    # What is from the future was written by a worker whose clock is ahead, and may be as old.
    in_work = now - patience, now + patience
    for subject, document_id in context.catalog.documents.waiting(now - patience, _SUBJECTS_A_SWEEP):
        request_indexing(app, subject, document_id)
    announce_left(context.catalog.outbox(besides=in_work), context)
    index_left(context, in_work)
    for endpoint_id in context.catalog.webhooks.due(now, _ENDPOINTS_A_SWEEP):
        request_webhooks(app, endpoint_id)
    look_at_watched(context, now, limit=_SUBJECTS_A_SWEEP)
