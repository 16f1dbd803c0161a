"""Kombu's Redis transport, with what a worker needs to outlive the loss of its broker.

When a connection is lost while tasks run, kombu 5.7 gives the messages in hand back, and acknowledges those that end
later, over the channel that is gone: an AttributeError, which no one expects, ends the worker. Here it is the
connection error that it is. Messages in hand are not given back, for they are still being worked on; those that nobody
acknowledges come back by themselves.
"""

from __future__ import annotations

from typing import Any

from kombu.transport import TRANSPORT_ALIASES
from kombu.transport.redis import Channel, Transport


class LastingChannel(Channel):
    """A channel whose use after its end is a connection error."""

    do_restore = False
    _lasting_client: tuple[Any, Any] = (None, None)

    def _connparams(self, asynchronous: bool = False) -> Any:
        if getattr(self.connection, "client", None) is None:
            raise ConnectionError("the connection of this channel was lost")
        return super()._connparams(asynchronous)  # type: ignore[misc]

    def _create_client(self, asynchronous: bool = False) -> Any:
        if asynchronous:
            return super()._create_client(asynchronous=True)  # type: ignore[misc]
        pool, client = self._lasting_client
        if pool is not self.pool:
            pool, client = self.pool, super()._create_client()  # type: ignore[misc]
            self._lasting_client = pool, client
        return client


class LastingTransport(Transport):
    """For `redis://` and `rediss://`."""

    Channel = LastingChannel


def outlive_lost_connections() -> None:
    """Make every connection of this process that is opened from now on such a one."""
    path = f"{__name__}:{LastingTransport.__name__}"
    TRANSPORT_ALIASES.update(redis=path, rediss=path)
