"""Sends task messages as Celery does, by kombu alone: a chat backend that only enqueues installs no Celery.

The message is of Celery's protocol 2 (docs.celeryq.dev, "Message Protocol"): see `docs/reference/queue-contract.md`.
"""

from __future__ import annotations

import os
import socket
import uuid
from collections.abc import Iterable, Mapping
from typing import Any

from kombu import Connection, Queue
from kombu.pools import ProducerPool

_CONNECTIONS = 10
"""As many as a Celery application keeps open (`broker_pool_limit`)."""


class Publisher:
    """Connections of one process to a broker, for any number of threads. Connects on first use.

    `options` are those of kombu's transport, `retries` its policy when a message does not get through.
    """

    def __init__(
        self,
        url: str,
        queues: Iterable[Queue],
        *,
        options: Mapping[str, Any],
        tls: dict[str, Any],
        retries: Mapping[str, Any],
    ) -> None:
        self.url = url
        self._queues = {queue.name: queue for queue in queues}
        self.connection = Connection(url, transport_options=dict(options), ssl=tls or False)
        # A pool of its own: kombu's own ones are of the process, and a child of a fork would get its parent's sockets.
        self._pool = ProducerPool(self.connection.Pool(_CONNECTIONS), limit=_CONNECTIONS)
        self._retries = dict(retries)

    def send_task(
        self,
        name: str,
        *,
        args: list[Any],
        queue: str,
        ignore_result: bool,
        argsrepr: str,
        kwargsrepr: str,
        priority: int = 0,
    ) -> None:
        """Put one task's message onto a queue.

        Raises:
            KombuError, OSError: the broker does not take it.
        """
        task_id = str(uuid.uuid4())
        headers = {
            "lang": "py",
            "task": name,
            "id": task_id,
            "root_id": task_id,
            "parent_id": None,
            "group": None,
            "retries": 0,
            "eta": None,
            "expires": None,
            "timelimit": [None, None],
            "argsrepr": argsrepr,
            "kwargsrepr": kwargsrepr,
            "origin": f"gen{os.getpid()}@{socket.gethostname()}",
            "ignore_result": ignore_result,
        }
        embedded = {"callbacks": None, "errbacks": None, "chain": None, "chord": None}
        target = self._queues[queue]
        with self._pool.acquire(block=True) as producer:
            producer.publish(
                (args, {}, embedded),
                serializer="json",
                exchange="",
                routing_key=target.name,
                declare=[target],
                headers=headers,
                correlation_id=task_id,
                priority=priority,
                retry=True,
                retry_policy=self._retries,
            )

    def load(self) -> None:
        """Import what a first call would import, without connecting."""
        self.connection.get_transport_cls()

    def close(self) -> None:
        """Close all connections."""
        self._pool.force_close_all()  # type: ignore[attr-defined]  # it is in no published type
        self._pool.connections.force_close_all()
