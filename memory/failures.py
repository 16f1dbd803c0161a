"""Tells failures that pass from those that stay, in one place."""

from __future__ import annotations

import errno
import random
import sqlite3

from kombu.exceptions import OperationalError as BrokerUnavailable
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import TimeoutError as RedisTimeoutError
from sqlalchemy.exc import InterfaceError, OperationalError
from sqlalchemy.exc import TimeoutError as NoConnectionFree

from stores.breaker import CircuitOpen
from stores.catalog import ConcurrentChange
from stores.embedding import EmbedderUnavailable
from stores.index import IndexUnavailable
from stores.llm import LLMAnswerInvalid, LLMBusy, LLMUnavailable
from stores.postgres import is_passing
from stores.redis import refuses

PASSING_FAILURES = (LLMUnavailable, LLMAnswerInvalid, EmbedderUnavailable, ConnectionError, TimeoutError, MemoryError)
"""Of a model, or of whatever a part of the user's own asks: tried again, a number of times."""
INDEX_FAILURES = (
    IndexUnavailable,
    sqlite3.OperationalError,
    OperationalError,
    NoConnectionFree,
    ConnectionError,
    TimeoutError,
)

_OUTAGES = (
    BrokerUnavailable,
    RedisConnectionError,
    RedisTimeoutError,
    OperationalError,
    InterfaceError,
    NoConnectionFree,
    IndexUnavailable,
    sqlite3.OperationalError,
    ConcurrentChange,
    CircuitOpen,
    LLMBusy,
)
_USED_UP = frozenset(
    {errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EAGAIN, errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO}
)
"""What the machine has no more of: open files, memory, threads, room on a disk that works."""
_FIRST_PAUSE = 0.5
_LONGEST_PAUSE = 60.0
_DOUBLINGS = 10
"""More than it takes to come to the longest pause: an outage of a day has 1,500 attempts, and 2.0**1024 is none."""


def is_transient(error: BaseException) -> bool:
    """Whether the same work may succeed later with nothing changed: connections, locks, timeouts, lost races."""
    return isinstance(error, PASSING_FAILURES) or is_outage(error)


def is_outage(error: BaseException) -> bool:
    """Whether a failure that passes is nobody's turn's fault: a store or the broker is away, or the machine has no more
    to give, and every turn must wait however long that takes."""
    used_up = isinstance(error, OSError) and error.errno in _USED_UP
    return isinstance(error, _OUTAGES) or used_up or is_passing(error) or refuses(error)


def pause_before_retry(attempt: int, error: BaseException | None = None) -> float:
    """Seconds to wait before the attempt after `attempt` (from 1): exponential, half of it jitter, at most a minute;
    and, up to that, no less than a provider asked for in its error."""
    ceiling = min(_LONGEST_PAUSE, _FIRST_PAUSE * 2.0 ** min(attempt - 1, _DOUBLINGS))
    asked = error.retry_after if isinstance(error, LLMUnavailable | EmbedderUnavailable) else None
    return max(ceiling * random.uniform(0.5, 1.0), min(asked or 0.0, _LONGEST_PAUSE))
