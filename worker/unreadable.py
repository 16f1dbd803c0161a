"""Messages that are no task of ours: each becomes a dead letter, whole, and ends no worker.

Left to itself kombu fails on what is no message, Celery fails on some of what is no task, and the next worker fails on
it after that; the rest Celery throws away.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from typing import Any

import structlog
from celery import Celery
from celery.worker.consumer import Consumer

from memory.metrics import count_dead_letter
from stores.celery_messages import json_or_text
from stores.queue import send_dead_letter
from worker.broker import LastingChannel

_log = structlog.get_logger()
_MALFORMED = (ValueError, TypeError, LookupError, AttributeError)
"""Errors that Celery raises over a message that has not what it takes for granted."""


def fault_of(item: bytes) -> str | None:
    """Return why kombu could not read this element of a queue; None if it can."""
    try:
        message = json.loads(item)
    except (ValueError, RecursionError):
        return "it is no JSON"
    properties = message.get("properties") if isinstance(message, dict) else None
    if not isinstance(properties, dict) or not isinstance(properties.get("delivery_tag"), str):
        return "it is no message: it has no delivery tag"
    origin = properties.get("delivery_info")
    if not isinstance(origin, dict) or not {"exchange", "routing_key"} <= origin.keys():
        return "it is no message: it does not say where it was sent to"
    encoding, body = properties.get("body_encoding"), message.get("body")
    if encoding not in (None, "base64", "utf-8"):
        return "its body is in an unknown encoding"
    if encoding == "base64" and body:
        try:
            base64.b64decode(body)
        except (ValueError, TypeError):
            return "its body is no base64"
    return None


def set_aside(app: Celery, reason: str, item: Any) -> None:
    """Make a dead letter of what is no task, as it came: a JSON value, or text where it is none."""
    send_dead_letter(app, reason=f"not a task of this version: {reason}", turn_id=None, body=item)
    count_dead_letter("invalid")
    _log.error("dead_letter", stage="receive", turn_id=None, reason=reason)


class CarefulConsumer(Consumer):
    """Celery's consumer, but for what it cannot read."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        LastingChannel.takes = self._takes

    def _takes(self, item: bytes) -> bool:
        reason = fault_of(item)
        if reason is not None:
            set_aside(self.app, reason, json_or_text(item))
        return reason is None

    def create_task_handler(self, *arguments: Any, **options: Any) -> Callable[[Any], None]:
        handle = super().create_task_handler(*arguments, **options)

        def on_task_received(message: Any) -> None:
            try:
                handle(message)
            except _MALFORMED as error:
                self._drop(message, f"Celery cannot read it ({type(error).__name__})")

        return on_task_received

    def on_unknown_message(self, body: Any, message: Any) -> None:  # noqa: ARG002
        self._drop(message, "it names no task")

    def on_unknown_task(self, body: Any, message: Any, exc: BaseException) -> None:  # noqa: ARG002
        self._drop(message, "nothing here has its task's name")

    def on_invalid_task(self, body: Any, message: Any, exc: BaseException) -> None:  # noqa: ARG002
        self._drop(message, "its content is not JSON, or no arguments of a task")

    def on_decode_error(self, message: Any, exc: BaseException) -> None:  # noqa: ARG002
        self._drop(message, "its body cannot be decoded")

    def _drop(self, message: Any, reason: str) -> None:
        # Who reads the letter, and who looks for what is to be erased, shall not have to decode it.
        set_aside(self.app, reason, message._raw | {"body": json_or_text(message.body)})
        message.ack()
