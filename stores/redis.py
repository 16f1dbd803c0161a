"""The Redis client of mailboxes, events and status, and what its failures mean."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, Final, Never, cast

from kombu.exceptions import OperationalError as KombuConnectionError
from redis import Redis
from redis.asyncio import Redis as AsyncRedis
from redis.backoff import ExponentialWithJitterBackoff
from redis.client import Pipeline
from redis.exceptions import (
    AuthenticationError,
    AuthenticationWrongNumberOfArgsError,
    AuthorizationError,
    BusyLoadingError,
    ClusterDownError,
    InvalidResponse,
    LockError,
    MasterDownError,
    NoPermissionError,
    NoScriptError,
    OutOfMemoryError,
    ReadOnlyError,
    RedisError,
    ResponseError,
    TryAgainError,
)
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import TimeoutError as RedisTimeoutError
from redis.lock import Lock
from redis.retry import Retry

from schema.errors import BrokerOutage, BrokerRefused, BrokerRejected
from schema.settings import Settings

_NOT_ALLOWED = (AuthenticationError, AuthenticationWrongNumberOfArgsError, AuthorizationError, NoPermissionError)
_REFUSALS = (BusyLoadingError, ClusterDownError, MasterDownError, OutOfMemoryError, ReadOnlyError, TryAgainError)
_REFUSING_WORDS = ("MISCONF ", "NOREPLICAS ", "BUSY ", "UNBLOCKED ")
"""How answers begin for which the client has no class: its disk is full, its replicas are away, a script runs on, it
became a replica while somebody waited for a message."""


def refuses(error: BaseException) -> bool:
    """Return whether a Redis refuses for a reason of its own that passes: full, read-only after a failover, loading."""
    return isinstance(error, _REFUSALS) or (isinstance(error, ResponseError) and str(error).startswith(_REFUSING_WORDS))


def translated(error: Exception, shown: str) -> Exception:
    """Return the project's error for one of the client's, and any other as it is.

    `shown` is the broker's URL without its password.
    """
    match error:
        case NoScriptError():
            # The client loads the script, and asks again.
            return error
        case _ if isinstance(error, _NOT_ALLOWED):
            return BrokerRefused(f"AFTERTURN_BROKER_URL: {shown} refuses the credentials, or a command: {error}")
        case _ if refuses(error):
            return BrokerOutage(f"the broker at {shown} refuses: {error}. Look at its memory, disk and replicas")
        case RedisConnectionError() | RedisTimeoutError() | OSError():
            return _away(shown)
        case ResponseError() | InvalidResponse():
            return BrokerRejected(f"the broker at {shown} refuses: {error}. Check AFTERTURN_BROKER_URL and its rights")
    return error


def _away(shown: str) -> BrokerOutage:
    return BrokerOutage(
        f"no broker answers at {shown}. Start one (`afterturn run` brings its own) or set AFTERTURN_BROKER_URL"
    )


@contextmanager
def translating(shown: str) -> Iterator[None]:
    """Raise the project's errors for those of a library that talks to the broker by itself."""
    try:
        yield
    except LockError as error:
        raise BrokerOutage(
            f"another does by now what one of the fleet does at a time ({error}): start again"
        ) from error
    except KombuConnectionError as error:
        raise _away(shown) from error
    except (RedisError, OSError) as error:
        _raise(error, shown)


class BrokerRedis(Redis):
    """A client whose calls raise `BrokerFailed` of one kind or another where the server fails.

    `shown` is its URL without the password.
    """

    shown = "the broker's URL"

    def execute_command(self, *args: Any, **options: Any) -> Any:
        try:
            return super().execute_command(*args, **options)  # type: ignore[no-untyped-call]
        except (RedisError, OSError) as error:
            _raise(error, self.shown)

    def pipeline(self, transaction: bool = True, shard_hint: str | None = None) -> Pipeline:
        pipeline = _BrokerPipeline(self.connection_pool, self.response_callbacks, transaction, shard_hint)
        pipeline.shown = self.shown
        return pipeline


class _BrokerPipeline(Pipeline):
    """As `BrokerRedis`."""

    shown = BrokerRedis.shown

    def execute(self, raise_on_error: bool = True) -> list[Any]:
        try:
            return super().execute(raise_on_error)
        except (RedisError, OSError) as error:
            _raise(error, self.shown)


def _raise(error: Exception, shown: str) -> Never:
    ours = translated(error, shown)
    if ours is error:
        raise error
    raise ours from error


_CONNECTIONS: Final = 10_000
"""How many connections a client may have: as many as Redis lets in (its `maxclients`). The library's own bound of 100
dropped the hundred-and-first listener of a process, and any thread beyond that."""


def open_redis(settings: Settings, *, timeout: float = 5.0, retries: int = 3) -> Redis:
    """Return a client of the broker's Redis that answers in bytes. It connects on first use.

    A call that fails for want of a connection is tried `retries` more times, within about a second; every script
    and command used here may be repeated. What fails is a `BrokerFailed`.
    """
    redis = cast(
        BrokerRedis,
        BrokerRedis.from_url(
            settings.broker_url,
            max_connections=_CONNECTIONS,
            socket_timeout=timeout,
            socket_connect_timeout=min(timeout, 2.0),
            socket_keepalive=True,
            health_check_interval=30,
            retry=Retry(ExponentialWithJitterBackoff(cap=0.5, base=0.05), retries),
            retry_on_error=[RedisConnectionError, RedisTimeoutError],
        ),
    )
    redis.shown = settings.broker_shown
    return redis


@contextmanager
def try_lock(redis: Redis, name: str, seconds: float) -> Iterator[FleetLock | None]:
    """Yield a lock of the fleet's, held until the block ends, or for `seconds` since it was last renewed: whoever is
    killed, or does not renew it, holds up nobody. None where another holds it."""
    lock = redis.lock(name, timeout=seconds, thread_local=False)
    if not lock.acquire(blocking=False):
        yield None
        return
    try:
        yield FleetLock(lock)
    finally:
        with suppress(LockError):
            lock.release()


class FleetLock:
    """A lock that this process holds in the fleet, or held: it may have run out."""

    def __init__(self, lock: Lock) -> None:
        self._lock = lock

    def renew(self) -> bool:
        """Hold it for as long again; False where it has run out.

        Raises:
            BrokerFailed: Redis is away, or refuses.
        """
        try:
            self._lock.reacquire()
        except LockError:
            return False
        return True


LONGEST_BLOCK_SECONDS: Final = 20.0


def open_async_redis(settings: Settings) -> AsyncRedis:
    """Return a client for those who wait on streams from an event loop. It connects on first use.

    A call may block for up to `LONGEST_BLOCK_SECONDS`; each that does has a connection of its own.
    """
    # By default an answer is given up after five seconds, and with it whoever listens while nothing happens.
    return AsyncRedis.from_url(
        settings.broker_url,
        max_connections=_CONNECTIONS,
        socket_connect_timeout=2.0,
        socket_timeout=LONGEST_BLOCK_SECONDS + 10.0,
        socket_keepalive=True,
    )
