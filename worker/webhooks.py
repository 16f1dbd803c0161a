"""Sends what waits for webhooks, signed as the Standard Webhooks specification says."""

from __future__ import annotations

import json
import random
import time
import uuid
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Any, Final, Protocol

import structlog
from standardwebhooks import Webhook

from memory.metrics import count_webhook
from policies.webhooks import Answered, answered, left_alone, may_be_told, pause_after
from schema import Memory, Status
from schema.webhook import Attempt, Delivery, DeliveryStatus, WebhookEndpoint
from stores.open import Stores
from stores.outgoing import Answer, Outgoing, Undelivered
from stores.redis import try_lock
from worker.context import WorkerContext

_log = structlog.get_logger()
_AT_A_TIME: Final = 8
"""Messages that are under way to one endpoint."""
_RUN_SECONDS: Final = 20.0
"""For how long one task sends to an endpoint before it lets others have the slot."""
_CLAIM_SECONDS: Final = 60
"""After how long what a killed worker had in hand is sent by another: longer than a try may take."""
_TOLD: Final = frozenset({Status.ACTIVE, Status.PROVISIONAL})


class Posting(Protocol):
    """A way to carry a message."""

    def post(self, url: str, headers: dict[str, str], body: bytes) -> Answer:
        """Return what was answered.

        Raises:
            Undelivered: nobody answered.
        """
        ...


def send_waiting(endpoint_id: str, context: WorkerContext) -> None:
    """Send what waits for an endpoint, unless another worker does."""
    settings = context.settings
    outgoing = Outgoing(settings.webhook_networks, settings.webhook_timeout_seconds)
    with try_lock(context.redis, f"afterturn:webhook:{endpoint_id}", _CLAIM_SECONDS) as lock:
        if lock is not None:
            send_due(endpoint_id, context, outgoing, until=time.monotonic() + _RUN_SECONDS)


def send_due(
    endpoint_id: str,
    stores: Stores,
    outgoing: Posting,
    *,
    until: float,
    clock: Callable[[], datetime] = lambda: datetime.now(UTC),
) -> None:
    """Send what is due for an endpoint, some at a time, until nothing is, it is to be left alone, or a moment of the
    monotonic clock has come."""
    with ThreadPoolExecutor(_AT_A_TIME, thread_name_prefix="webhook") as pool:
        while time.monotonic() < until:
            now = clock()
            endpoint = stores.catalog.webhooks.get(endpoint_id)
            if endpoint is None or endpoint.ended_at or (endpoint.waits_until and endpoint.waits_until > now):
                return
            in_hand = now + timedelta(seconds=_CLAIM_SECONDS)
            claimed = stores.catalog.webhooks.claim(endpoint_id, now, in_hand, _AT_A_TIME)
            if not claimed:
                return
            keys = [key.secret for key in stores.catalog.webhooks.secrets(endpoint_id) if not _is_over(key.until, now)]
            list(pool.map(lambda delivery: _send(delivery, endpoint, keys, stores, outgoing, clock), claimed))  # noqa: B023


def _is_over(until: datetime | None, now: datetime) -> bool:
    return until is not None and until <= now


def _send(
    delivery: Delivery,
    endpoint: WebhookEndpoint,
    keys: list[str],
    stores: Stores,
    outgoing: Posting,
    clock: Callable[[], datetime],
) -> None:
    webhooks = stores.catalog.webhooks
    body = _body(delivery, endpoint, stores)
    if body is None:
        webhooks.drop(delivery.id)
        return
    at = clock()
    began = time.monotonic()
    answer, error = None, None
    try:
        answer = outgoing.post(endpoint.url, _headers(delivery.id, at, body, keys), body.encode())
    except Undelivered as undelivered:
        error = undelivered.reason
    seconds = round(time.monotonic() - began, 3)
    attempt = Attempt(at=at, status=answer.status if answer else None, error=error, seconds=seconds)
    tried = delivery.model_copy(update={"attempts": (*delivery.attempts, attempt)})
    meant = answered(answer.status) if answer else Answered.REFUSED
    now = clock()
    if meant is Answered.TAKEN:
        done = {"status": DeliveryStatus.DELIVERED, "delivered_at": now, "next_at": None}
        webhooks.note(tried.model_copy(update=done))
        count_webhook("delivered", max(0.0, (now - delivery.at).total_seconds()))
        return
    asked_seconds = answer.retry_after if answer else None
    pause = pause_after(len(tried.attempts), random.random(), asked_seconds)
    is_last = pause is None or meant is Answered.GONE
    status = DeliveryStatus.FAILED if is_last else DeliveryStatus.WAITING
    later = None if is_last or pause is None else now + pause
    alone = left_alone(endpoint.failures + 1, asked_seconds)
    webhooks.note(
        tried.model_copy(update={"status": status, "next_at": later}), waits_until=now + alone if alone else None
    )
    count_webhook("gone" if meant is Answered.GONE else "failed")
    if meant is Answered.GONE:
        _end(endpoint, "it answered 410: it wants nothing any more", stores, now)
    elif is_last and (endpoint.succeeded_at is None or endpoint.succeeded_at < delivery.at):
        _end(endpoint, "nothing was taken in three days", stores, now)


def _end(endpoint: WebhookEndpoint, because: str, stores: Stores, now: datetime) -> None:
    stores.catalog.webhooks.end(endpoint.id, because, now)
    _log.warning("webhook_ended", stage="webhooks", endpoint=endpoint.id, reason=because)


def _body(delivery: Delivery, endpoint: WebhookEndpoint, stores: Stores) -> str | None:
    """Return the message of an event as it may be told now; None where it may not be any more."""
    names_memory = "id" in delivery.payload
    memory = _memory_of(delivery, stores) if names_memory else None
    labels = memory.labels if memory else None
    if not may_be_told(delivery.name, names_memory=names_memory, labels=labels):
        return None
    data: dict[str, Any] = {"tenant_id": delivery.tenant_id, "subject_id": delivery.subject_id, **delivery.payload}
    if endpoint.with_summaries and memory and memory.status in _TOLD and not memory.suppressed:
        data["summary"] = memory.summary
    message = {"type": delivery.name.value, "timestamp": delivery.at.isoformat(), "data": data}
    return json.dumps(message, ensure_ascii=False, separators=(",", ":"))


def _memory_of(delivery: Delivery, stores: Stores) -> Memory | None:
    id_ = uuid.UUID(str(delivery.payload["id"]))
    return stores.catalog.memories(delivery.subject, [id_]).get(id_)


def _headers(message_id: str, at: datetime, body: str, keys: list[str]) -> dict[str, str]:
    signatures = [Webhook(key).sign(message_id, at, body) for key in keys]
    return {
        "content-type": "application/json",
        "user-agent": "afterturn",
        "webhook-id": message_id,
        "webhook-timestamp": str(int(at.timestamp())),
        "webhook-signature": " ".join(signatures),
    }
