"""The Redis client of mailboxes, events and status."""

from __future__ import annotations

from redis import Redis
from redis.backoff import ExponentialWithJitterBackoff
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import TimeoutError as RedisTimeoutError
from redis.retry import Retry

from memory.settings import Settings


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
