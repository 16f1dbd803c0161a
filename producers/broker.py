"""The broker as a producer sees it: park a turn, announce it, and tell a wrong setting from a broker that is unwell."""

from __future__ import annotations

from schema import Turn
from schema.settings import Settings
from stores.mailbox import ANY_NUMBER, Receipt
from stores.queue import create_publisher, open_mailbox, send_turn, turn_quota
from stores.redis import open_redis


class Broker:
    """Connections of one process to the broker, for any number of threads. Connects on first use.

    A call ends within a small multiple of `timeout` seconds, and no call is tried twice: there is a spool.
    """

    def __init__(self, settings: Settings, *, timeout: float) -> None:
        self._look_after = settings.sweep_seconds
        self._publisher = create_publisher(settings, timeout=timeout)
        self._redis = open_redis(settings, timeout=timeout, retries=0)
        self._mailbox = open_mailbox(settings, self._redis, self._publisher)
        self._quota = turn_quota(settings)

    def park(self, turn: Turn, *, was_accepted: bool = False, waited: float = 0.0) -> Receipt:
        """Put a turn into its subject's mailbox: from then on it will be processed.

        No quota keeps out what `was_accepted` before, while the broker was away. It was enqueued `waited` seconds ago.

        Raises:
            ConflictingTurn: the mailbox knows another turn of that id.
            QuotaExceeded: the user, or the tenant, has had its turns of this minute.
            BrokerRefused: the broker refuses who we say we are.
            BrokerFailed: anything else that keeps the broker from it.
        """
        quota = ANY_NUMBER if was_accepted else self._quota
        return self._mailbox.append(turn, self._look_after, quota, waited)

    def announce(self, turn: Turn) -> None:
        """Send the message that brings a worker to a parked turn. Where it fails, a sweeper notifies later.

        Raises:
            BrokerFailed: the broker does not take it.
        """
        send_turn(self._publisher, turn)

    def pending_turns(self) -> int:
        """Return how many turns of all subjects wait.

        Raises:
            BrokerFailed: the broker does not answer.
        """
        return self._mailbox.pending_turns()

    def load(self) -> None:
        """Import what a first call would import, without connecting."""
        self._publisher.load()

    def close(self) -> None:
        """Close all connections."""
        self._redis.close()
        self._publisher.close()
