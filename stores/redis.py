"""The Redis client of mailboxes, events and status, and what a Redis that is there may refuse for a while."""

from __future__ import annotations

from redis import Redis
from redis.backoff import ExponentialWithJitterBackoff
from redis.exceptions import (
    BusyLoadingError,
    ClusterDownError,
    MasterDownError,
    OutOfMemoryError,
    ReadOnlyError,
    ResponseError,
    TryAgainError,
)
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import TimeoutError as RedisTimeoutError
from redis.retry import Retry

from schema.settings import Settings

_REFUSALS = (BusyLoadingError, ClusterDownError, MasterDownError, OutOfMemoryError, ReadOnlyError, TryAgainError)
_REFUSING_WORDS = ("MISCONF ", "NOREPLICAS ", "BUSY ", "UNBLOCKED ")
"""How answers begin for which the client has no class: its disk is full, its replicas are away, a script runs on, it
became a replica while somebody waited for a message."""


def refuses(error: BaseException) -> bool:
    """Whether a Redis refuses for a reason of its own that passes: full, read-only after a failover, still loading."""
    return isinstance(error, _REFUSALS) or (isinstance(error, ResponseError) and str(error).startswith(_REFUSING_WORDS))


def open_redis(settings: Settings, *, timeout: float = 5.0, retries: int = 3) -> Redis:
    """A client of the broker's Redis that answers in bytes. Connects on first use.

    A call that fails for want of a connection is tried `retries` more times, within about a second; every script
    and command used here may be repeated.
    """
    return Redis.from_url(
        settings.broker_url,
        socket_timeout=timeout,
        socket_connect_timeout=min(timeout, 2.0),
        socket_keepalive=True,
        health_check_interval=30,
        retry=Retry(ExponentialWithJitterBackoff(cap=0.5, base=0.05), retries),
        retry_on_error=[RedisConnectionError, RedisTimeoutError],
    )
