"""Turns over which workers died, tried one at a time beside those that were in the same worker's hands.

A worker has many turns in hand when one kills it, and all of them are counted. So a turn over which two workers died is
tried while no other is that was in hand at the last of these deaths: then the one that kills is alone with its guilt,
and the others get through. Whoever has to wait is woken by who was before it; the pause and the sweep are for where
that one dies too.
"""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from enum import StrEnum
from typing import Any, Final

from redis.exceptions import LockNotOwnedError

from schema import Subject
from stores.mailbox import Batch, key_of
from worker.context import WorkerContext

PREFIX: Final = "afterturn:suspect:"
_SUSPECTED_AT: Final = 3
"""From which delivery on a turn is tried by itself: one lost worker may be anybody's fault, and is common."""
_KEPT_SECONDS: Final = 3600
"""How long it is known who took a turn last that a worker died over."""
_UNKNOWN: Final = "unknown"
_PROCESS: Final = uuid.uuid4().hex


def taker_key(subject: Subject) -> str:
    """Return the key of who took a subject's turn last over which a worker had died."""
    return f"afterturn:taker:{{{subject.key}}}"


class Clearance(StrEnum):
    """Decision whether a batch may be worked on now, and otherwise when to come back."""

    NOW = "now"
    SOON = "soon"
    WHEN_WOKEN = "when woken"


@contextmanager
def one_at_a_time(batch: Batch, context: WorkerContext) -> Iterator[Clearance]:
    """Tell whether a batch may be worked on now; the next of the same death is woken when the block ends."""
    most = max((parked.deliveries for parked in batch.turns), default=0)
    if most < _SUSPECTED_AT - 1:
        yield Clearance.NOW
        return
    death = _last_death(batch.lease.subject, context)
    if not any(_SUSPECTED_AT <= parked.deliveries <= context.settings.max_deliveries for parked in batch.turns):
        yield Clearance.NOW
        return
    name = f"{PREFIX}{death}"
    lock = context.redis.lock(name, timeout=context.settings.lease_seconds, thread_local=False)
    if not lock.acquire(blocking=False):
        _keep_death(batch.lease.subject, death, context)
        _wait_in_line(batch.lease.subject, name, context)
        # Whoever had it may be gone since, and have woken nobody.
        yield Clearance.WHEN_WOKEN if context.redis.exists(name) else Clearance.SOON
        return
    try:
        yield Clearance.NOW
    finally:
        # It may have expired under a slow model: then another is tried already.
        with suppress(LockNotOwnedError):
            lock.release()
        _wake_next(name, context)


def _last_death(subject: Subject, context: WorkerContext) -> str:
    """Return which process took the subject's turns last and was not heard of again, and note that this one has them
    now."""
    mine = f"{_PROCESS}-{os.getpid()}"
    before: Any = context.redis.set(taker_key(subject), mine, ex=_KEPT_SECONDS, get=True)
    return before.decode() if before else _UNKNOWN


def _keep_death(subject: Subject, death: str, context: WorkerContext) -> None:
    """Leave a subject that is not tried now among those of its death."""
    context.redis.set(taker_key(subject), death, ex=_KEPT_SECONDS)


def _wait_in_line(subject: Subject, name: str, context: WorkerContext) -> None:
    waiting = f"{name}:waiting"
    context.redis.zadd(waiting, {subject.key: context.mailbox.now().timestamp()}, nx=True)
    context.redis.expire(waiting, _KEPT_SECONDS)


def _wake_next(name: str, context: WorkerContext) -> None:
    following: Any = context.redis.zpopmin(f"{name}:waiting")
    for key, _ in following:
        subject = Subject.from_key(key.decode())
        context.redis.delete(key_of(subject, "retry"))
        context.delayed.after(0, subject)
