"""Poison turns, over which workers died: tried one at a time beside those that were in the same worker's hands.

A worker has many turns in hand when one kills it, and all of them are counted. So a turn over which two workers died is
tried while no other is that was in hand at the last of these deaths: then the one that kills is alone with its guilt,
and the others get through. Whoever has to wait gives its turns back, lines up, and is woken by who was before it; the
pause and the sweep are for where that one dies too.
"""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, Final, cast

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


@contextmanager
def one_at_a_time(batch: Batch, context: WorkerContext) -> Iterator[bool]:
    """Tell whether a batch may be worked on now; the next of the same death is woken when the block ends. One that may
    not be is given back in the block."""
    most = max((parked.deliveries for parked in batch.turns), default=0)
    if most < _SUSPECTED_AT - 1:
        yield True
        return
    death = _last_death(batch.lease.subject, context)
    if not any(_SUSPECTED_AT <= parked.deliveries <= context.settings.max_deliveries for parked in batch.turns):
        yield True
        return
    name = f"{PREFIX}{death}"
    lock = context.redis.lock(name, timeout=context.settings.lease_seconds, thread_local=False)
    if not lock.acquire(blocking=False):
        _keep_death(batch.lease.subject, death, context)
        yield False
        _wait_in_line(batch.lease.subject, name, context)
        # Whoever was before it may be through since, and have found nobody to wake.
        if not context.redis.exists(name):
            _wake_next(name, context)
        return
    try:
        yield True
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
    """End the pause of who has waited longest; some in line have been tried since, or are just now."""
    while following := cast(list[tuple[bytes, float]], context.redis.zpopmin(f"{name}:waiting")):
        subject = Subject.from_key(following[0][0].decode())
        if context.redis.delete(key_of(subject, "retry")):
            context.delayed.after(0, subject)
            return
