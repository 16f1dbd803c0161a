"""Endpoints of webhooks and their deliveries. Safe to call from many threads and processes."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, bindparam, delete, func, insert, or_, select, tuple_, update

from schema import Event
from schema.webhook import Delivery, DeliveryStatus, WebhookEndpoint, WebhookSecret
from stores.catalog.rows import from_row
from stores.catalog.store import Store
from stores.catalog.webhook_tables import deliveries, endpoints

# Built once, as every commit with events runs it.
_LISTENING = select(endpoints.c.id, endpoints.c.events).where(
    endpoints.c.tenant_id == bindparam("tenant"), endpoints.c.ended_at.is_(None)
)
_ENDED = select(endpoints.c.id).where(endpoints.c.ended_at.is_not(None))
_SAYS = "summary"
"""The part of a payload that is what somebody said."""
_KEPT_ATTEMPTS = 20


@dataclass(frozen=True)
class Waiting:
    """Number of deliveries that wait, and since when the oldest event does."""

    count: int
    oldest: datetime | None


def write_deliveries(connection: Connection, events: Sequence[Event], event_ids: Sequence[int]) -> None:
    """Write what is to be told of the events of one tenant to each of its endpoints, in the transaction that writes
    them."""
    listening = connection.execute(_LISTENING, {"tenant": events[0].tenant_id})
    listeners = [(row.id, frozenset(row.events)) for row in listening]
    rows = [
        {
            "id": f"msg_{uuid.uuid4().hex}",
            "endpoint_id": endpoint_id,
            "tenant_id": event.tenant_id,
            "subject_id": event.subject_id,
            "event_id": event_id,
            "name": event.name.value,
            "at": event.at,
            "payload": {key: value for key, value in event.payload.items() if key != _SAYS},
            "status": DeliveryStatus.WAITING.value,
            "attempts": [],
            "next_at": event.at,
        }
        for endpoint_id, names in listeners
        for event_id, event in zip(event_ids, events, strict=True)
        if not names or event.name.value in names
    ]
    if rows:
        connection.execute(insert(deliveries), rows)


class WebhookStore(Store):
    """Endpoints of a tenant and the deliveries of its events."""

    # -- endpoints ----------------------------------------------------------------------------------------------

    def add(self, endpoint: WebhookEndpoint, secret: WebhookSecret) -> None:
        """Keep a new endpoint."""
        row = endpoint.model_dump() | {"events": list(endpoint.events), "secrets": [secret.model_dump(mode="json")]}
        self._run(insert(endpoints), [row])

    def get(self, endpoint_id: str, tenant_id: str | None = None) -> WebhookEndpoint | None:
        """Return an endpoint by its id, if it is the tenant's."""
        query = select(endpoints).where(endpoints.c.id == endpoint_id)
        if tenant_id is not None:
            query = query.where(endpoints.c.tenant_id == tenant_id)
        row = self._row(query)
        return None if row is None else _endpoint_of(row)

    def all(
        self, tenant_id: str | None = None, *, after: tuple[datetime, str] | None = None, limit: int | None = None
    ) -> list[WebhookEndpoint]:
        """Return the endpoints of a tenant, or of all, oldest first, from behind the moment and id of one that was
        read."""
        query = select(endpoints).order_by(endpoints.c.created_at, endpoints.c.id).limit(limit)
        if tenant_id is not None:
            query = query.where(endpoints.c.tenant_id == tenant_id)
        if after is not None:
            query = query.where(tuple_(endpoints.c.created_at, endpoints.c.id) > after)
        return [_endpoint_of(row) for row in self._rows(query)]

    def secrets(self, endpoint_id: str) -> list[WebhookSecret]:
        """Return the secrets of an endpoint, newest first, those too that have run out."""
        with self._engine.connect() as connection:
            return _secrets(connection, endpoint_id)

    def rotate(self, endpoint_id: str, secret: WebhookSecret, until: datetime, now: datetime) -> None:
        """Put a new secret before the others, which are used until a moment and no longer."""

        def write(connection: Connection) -> None:
            earlier = [
                known_secret.model_copy(update={"until": min(filter(None, (known_secret.until, until)))})
                for known_secret in _secrets(connection, endpoint_id, to_change=True)
                if known_secret.until is None or known_secret.until > now
            ]
            kept = [known_secret.model_dump(mode="json") for known_secret in (secret, *earlier)]
            connection.execute(update(endpoints).where(endpoints.c.id == endpoint_id).values(secrets=kept))

        self._writers.write(write)

    def remove(self, endpoint_id: str) -> None:
        """Drop an endpoint with all its deliveries."""

        def write(connection: Connection) -> None:
            connection.execute(delete(deliveries).where(deliveries.c.endpoint_id == endpoint_id))
            connection.execute(delete(endpoints).where(endpoints.c.id == endpoint_id))

        self._writers.write(write)

    def end(self, endpoint_id: str, because: str, at: datetime) -> None:
        """Send nothing more to an endpoint; what waits for it has failed."""

        def write(connection: Connection) -> None:
            mine = endpoints.c.id == endpoint_id
            ended = {"ended_at": at, "ended_because": because}
            connection.execute(update(endpoints).where(mine, endpoints.c.ended_at.is_(None)).values(ended))
            connection.execute(_fail_waiting(deliveries.c.endpoint_id == endpoint_id))

        self._writers.write(write)

    def resume(self, endpoint_id: str) -> None:
        """Send to an endpoint again what happens from now on."""
        again = {"ended_at": None, "ended_because": None, "failures": 0, "waits_until": None}

        def write(connection: Connection) -> None:
            connection.execute(_fail_waiting(deliveries.c.endpoint_id.in_(_ENDED), of=endpoint_id))
            connection.execute(update(endpoints).where(endpoints.c.id == endpoint_id).values(again))

        self._writers.write(write)

    def fail_orphaned(self) -> int:
        """Let what waits for endpoints that ended have failed, and return how many it was: who wrote an event, or tried
        a delivery, while one ended did not see that."""
        statement = _fail_waiting(deliveries.c.endpoint_id.in_(_ENDED))
        return self._run(statement)

    # -- deliveries ---------------------------------------------------------------------------------------------

    def due(self, now: datetime, limit: int) -> list[str]:
        """Return endpoints for which something is to be sent by now, those first that were due first."""
        query = (
            select(deliveries.c.endpoint_id)
            .join(endpoints, endpoints.c.id == deliveries.c.endpoint_id)
            .where(
                _is_due(now),
                endpoints.c.ended_at.is_(None),
                or_(endpoints.c.waits_until.is_(None), endpoints.c.waits_until <= now),
            )
            .group_by(deliveries.c.endpoint_id)
            .order_by(func.min(deliveries.c.next_at), deliveries.c.endpoint_id)
            .limit(limit)
        )
        return self._values(query)

    def claim(self, endpoint_id: str, now: datetime, until: datetime, limit: int) -> list[Delivery]:
        """Take deliveries of an endpoint that are due, oldest first: nobody else does before `until`, by when they are
        due again."""
        query = (
            select(deliveries)
            .where(deliveries.c.endpoint_id == endpoint_id, _is_due(now))
            .order_by(deliveries.c.at, deliveries.c.event_id)
            .limit(limit)
            .with_for_update(skip_locked=True)
        )

        def write(connection: Connection) -> list[Delivery]:
            claimed = [_delivery_of(row) for row in connection.execute(query)]
            ids = [delivery.id for delivery in claimed]
            connection.execute(update(deliveries).where(deliveries.c.id.in_(ids)).values(next_at=until))
            return claimed

        return self._writers.write(write)

    def note(self, delivery: Delivery, *, waits_until: datetime | None = None) -> None:
        """Keep what became of the last try of a delivery, and count it for its endpoint; nothing is sent there before
        `waits_until`."""
        kept = delivery.model_dump(mode="json", include={"status", "attempts"})
        kept["attempts"] = kept["attempts"][-_KEPT_ATTEMPTS:]
        moments = {"next_at": delivery.next_at, "delivered_at": delivery.delivered_at}
        counted: dict[str, Any] = {"failures": endpoints.c.failures + 1, "waits_until": waits_until}
        if delivery.status is DeliveryStatus.DELIVERED:
            counted = {"failures": 0, "waits_until": None, "succeeded_at": delivery.delivered_at}

        def write(connection: Connection) -> None:
            connection.execute(update(deliveries).where(deliveries.c.id == delivery.id).values(kept | moments))
            connection.execute(update(endpoints).where(endpoints.c.id == delivery.endpoint_id).values(counted))

        self._writers.write(write)

    def drop(self, delivery_id: str) -> None:
        """Drop a delivery that must not be told."""
        statement = delete(deliveries).where(deliveries.c.id == delivery_id)
        self._run(statement)

    def delivery(self, delivery_id: str, tenant_id: str) -> Delivery | None:
        """Return a delivery by its id, if it is the tenant's."""
        query = select(deliveries).where(deliveries.c.id == delivery_id, deliveries.c.tenant_id == tenant_id)
        row = self._row(query)
        return None if row is None else _delivery_of(row)

    def log(
        self,
        endpoint_id: str,
        *,
        status: DeliveryStatus | None = None,
        before: tuple[datetime, str] | None = None,
        limit: int = 50,
    ) -> list[Delivery]:
        """Return deliveries of an endpoint, latest event first, from behind the moment and id of one that was read."""
        query = select(deliveries).where(deliveries.c.endpoint_id == endpoint_id)
        if status is not None:
            query = query.where(deliveries.c.status == status.value)
        if before is not None:
            at, id_ = before
            query = query.where(or_(deliveries.c.at < at, (deliveries.c.at == at) & (deliveries.c.id < id_)))
        query = query.order_by(deliveries.c.at.desc(), deliveries.c.id.desc()).limit(limit)
        return [_delivery_of(row) for row in self._rows(query)]

    def send_again(self, delivery_id: str, now: datetime) -> None:
        """Let a delivery be tried again from now on, as often as a new one."""
        again = {"status": DeliveryStatus.WAITING.value, "attempts": [], "next_at": now, "delivered_at": None}
        statement = update(deliveries).where(deliveries.c.id == delivery_id).values(again)
        self._run(statement)

    def drop_old(self, before: datetime, limit: int) -> int:
        """Drop deliveries that do not wait, of events from before a moment, and return how many."""
        old = (
            select(deliveries.c.id)
            .where(deliveries.c.status != DeliveryStatus.WAITING.value, deliveries.c.at < before)
            .limit(limit)
        )
        statement = delete(deliveries).where(deliveries.c.id.in_(old.scalar_subquery()))
        return self._run(statement)

    def waiting(self) -> Waiting:
        """Return how much waits to be sent."""
        mine = deliveries.c.status == DeliveryStatus.WAITING.value
        [(count, oldest)] = self._rows(select(func.count(), func.min(deliveries.c.at)).where(mine))
        return Waiting(count, oldest)


def _fail_waiting(whose: Any, *, of: str | None = None) -> Any:
    statement = update(deliveries).where(whose, deliveries.c.status == DeliveryStatus.WAITING.value)
    if of is not None:
        statement = statement.where(deliveries.c.endpoint_id == of)
    return statement.values({"status": DeliveryStatus.FAILED.value, "next_at": None})


def _is_due(now: datetime) -> Any:
    return (deliveries.c.status == DeliveryStatus.WAITING.value) & (deliveries.c.next_at <= now)


def _secrets(connection: Connection, endpoint_id: str, *, to_change: bool = False) -> list[WebhookSecret]:
    query = select(endpoints.c.secrets).where(endpoints.c.id == endpoint_id)
    # Of two who rotate at once the second must see what the first put there.
    kept = connection.execute(query.with_for_update() if to_change else query).scalar_one_or_none()
    return [WebhookSecret.model_validate(fields) for fields in kept or ()]


def _endpoint_of(row: Any) -> WebhookEndpoint:
    return from_row(WebhookEndpoint, row)


def _delivery_of(row: Any) -> Delivery:
    return from_row(Delivery, row)
