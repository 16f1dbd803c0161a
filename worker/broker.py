"""Kombu's Redis transport, with what a worker needs to outlive the loss of its broker.

When a connection is lost while tasks run, kombu 5.7 gives the messages in hand back, and acknowledges those that end
later, over the channel that is gone: an AttributeError, which no one expects, ends the worker. Here it is the
connection error that it is. Messages in hand are not given back, for they are still being worked on; those that nobody
acknowledges come back by themselves.

A broker that is there and refuses, because it became a replica or its disk is full, would end the worker too: to kombu
it is a mistake in a command. Here the connection counts as lost, and the worker tries again until it is served.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from kombu.transport import TRANSPORT_ALIASES
from kombu.transport.redis import Channel, Transport
from redis import Connection, SSLConnection
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import ResponseError

from stores.redis import refuses


class _Served(Connection):
    """A connection that is lost when the server refuses."""

    def read_response(self, *arguments: Any, **options: Any) -> Any:
        return _unless_refused(super().read_response, *arguments, **options)


class _ServedOverTLS(SSLConnection):
    """As `_Served`."""

    def read_response(self, *arguments: Any, **options: Any) -> Any:
        return _unless_refused(super().read_response, *arguments, **options)


def _unless_refused(read: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
    try:
        return read(*arguments, **options)
    except ResponseError as error:
        if refuses(error):
            raise RedisConnectionError(f"the broker refuses: {error}") from error
        raise


class LastingChannel(Channel):
    """A channel whose use after its end is a connection error."""

    do_restore = False
    takes: ClassVar[Callable[[bytes], bool]] = staticmethod(lambda _: True)
    """The test of whether an element of a queue may be taken for a message; what may not is gone from the queue."""
    connection_class = _Served
    connection_class_ssl = _ServedOverTLS
    _lasting_client: tuple[Any, Any] = (None, None)

    def _connparams(self, asynchronous: bool = False) -> Any:
        if getattr(self.connection, "client", None) is None:
            raise ConnectionError("the connection of this channel was lost")
        return super()._connparams(asynchronous)  # type: ignore[misc]

    def _create_client(self, asynchronous: bool = False) -> Any:
        if asynchronous:
            client = super()._create_client(asynchronous=True)  # type: ignore[misc]
            client.set_response_callback("BRPOP", _taken)
            return client
        pool, client = self._lasting_client
        if pool is not self.pool:
            pool, client = self.pool, super()._create_client()  # type: ignore[misc]
            self._lasting_client = pool, client
        return client


def _taken(reply: Any) -> Any:
    return reply if reply and LastingChannel.takes(reply[1]) else None


class LastingTransport(Transport):
    """For `redis://` and `rediss://`."""

    Channel = LastingChannel


def outlive_lost_connections() -> None:
    """Make every connection of this process that is opened from now on such a one."""
    path = f"{__name__}:{LastingTransport.__name__}"
    TRANSPORT_ALIASES.update(redis=path, rediss=path)
