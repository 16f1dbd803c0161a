"""Webhooks of a tenant: who is told of its events, and what became of telling them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from http import HTTPStatus
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query
from fastapi.exceptions import RequestValidationError
from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, StrictBool

from interfaces.http.credentials import Admin
from interfaces.http.idempotency import OnceOnly
from interfaces.http.query_parameters import Cursor
from interfaces.http.service import Opened, Service
from memory.webhooks import add_endpoint, endpoint_of, resume_endpoint, rotate_secret, send_again
from recall.cursors import page_of, place_of
from schema import Principal
from schema.event import EventName
from schema.turn import Identifier
from schema.webhook import Attempt, Delivery, DeliveryStatus, Description, WebhookEndpoint

router = APIRouter(prefix="/api/v1/webhooks", tags=["webhooks"])


class WebhookIn(BaseModel):
    """Where to send what happens."""

    model_config = ConfigDict(extra="forbid")

    url: Annotated[str, Field(min_length=1, max_length=2_000)]
    events: Annotated[list[EventName], Field(max_length=50)] = Field([], description="none named: all")
    description: Description = ""
    with_summaries: StrictBool = Field(
        False, description="whether messages hold what a memory says when they are sent, beside its id"
    )


class WebhookOut(BaseModel):
    """An endpoint. Once `ended_at` is set nothing is sent there."""

    id: str
    url: str
    description: str
    events: list[EventName]
    with_summaries: bool
    created_at: AwareDatetime
    ended_at: AwareDatetime | None
    ended_because: str | None
    failures: int
    succeeded_at: AwareDatetime | None


class WebhooksOut(BaseModel):
    """A page of endpoints, oldest first; `cursor` asks for the next one, and is null on the last."""

    items: list[WebhookOut]
    cursor: str | None


class NewWebhookOut(WebhookOut):
    """An endpoint, and the secret that its messages are signed with from now on, shown to this request alone."""

    secret: str


class RotationIn(BaseModel):
    """For how long messages are signed with the earlier secrets too."""

    model_config = ConfigDict(extra="forbid")

    overlap_hours: Annotated[float, Field(ge=0, le=720, strict=False)] = 24.0


class DeliveryOut(BaseModel):
    """One event for one endpoint, and every try to deliver it."""

    id: str
    subject_id: str
    event: EventName
    at: AwareDatetime
    status: DeliveryStatus
    attempts: list[Attempt]
    next_at: AwareDatetime | None
    delivered_at: AwareDatetime | None


class DeliveriesOut(BaseModel):
    """A page of deliveries, latest event first; `cursor` asks for the next one, and is null on the last."""

    items: list[DeliveryOut]
    cursor: str | None


def _endpoint(webhook_id: Identifier, principal: Admin, service: Opened) -> WebhookEndpoint:
    return endpoint_of(webhook_id, principal.tenant_id, service.context.catalog)


Endpoint = Annotated[WebhookEndpoint, Depends(_endpoint)]


@router.post("", status_code=HTTPStatus.CREATED, summary="Have a URL told of what happens")
def add(given: WebhookIn, principal: Admin, service: Opened, once: OnceOnly) -> NewWebhookOut:
    """Tell a URL of what happens in the tenant from now on, signed as Standard Webhooks says. The secret is shown this
    once, and to the same request sent again by its `Idempotency-Key`."""

    def adding() -> dict[str, Any]:
        try:
            added = add_endpoint(
                principal.tenant_id,
                given.url,
                service.context.catalog,
                by=principal.key_id,
                now=datetime.now(UTC),
                networks=service.settings.webhook_networks,
                events=given.events,
                description=given.description,
                with_summaries=given.with_summaries,
            )
        except ValueError as error:
            wrong = [{"loc": ("body", "url"), "msg": str(error), "type": "value_error"}]
            raise RequestValidationError(wrong) from error
        return {"id": added.endpoint.id}

    return _with_secret(once(adding)["id"], principal, service)


@router.get("", summary="List the URLs that are told")
def list_(
    principal: Admin,
    service: Opened,
    cursor: Cursor = "",
    limit: Annotated[int, Query(ge=1, le=100)] = 50,
) -> WebhooksOut:
    """List the tenant's endpoints, oldest first."""
    after = place_of(cursor, datetime.fromisoformat, str) if cursor else None
    rows = service.context.catalog.webhooks.all(principal.tenant_id, after=after, limit=limit + 1)
    page, following = page_of(rows, limit, lambda endpoint: [endpoint.created_at, endpoint.id])
    return WebhooksOut(items=[WebhookOut(**_shown(endpoint)) for endpoint in page], cursor=following or None)


@router.get("/{webhook_id}", summary="Read one endpoint")
def read(endpoint: Endpoint) -> WebhookOut:
    """Read an endpoint: whether it is sent to, and how it fares."""
    return WebhookOut(**_shown(endpoint))


@router.delete("/{webhook_id}", status_code=HTTPStatus.NO_CONTENT, summary="Tell a URL nothing more")
def remove(endpoint: Endpoint, service: Opened) -> None:
    """Drop an endpoint, with what waits for it and its log."""
    service.context.catalog.webhooks.remove(endpoint.id)


@router.post("/{webhook_id}/rotate", summary="Sign with a new secret")
def rotate(given: RotationIn, endpoint: Endpoint, principal: Admin, service: Opened, once: OnceOnly) -> NewWebhookOut:
    """Sign with a new secret, and for a while with the earlier ones too. The new one is shown this once, and to the
    same request sent again by its `Idempotency-Key`."""

    def rotating() -> dict[str, Any]:
        overlap = timedelta(hours=given.overlap_hours)
        rotated = rotate_secret(endpoint, overlap, service.context.catalog, now=datetime.now(UTC))
        return {"id": rotated.endpoint.id}

    return _with_secret(once(rotating)["id"], principal, service)


@router.post("/{webhook_id}/resume", summary="Send to an endpoint again that ended")
def resume(endpoint: Endpoint, service: Opened) -> WebhookOut:
    """Send to an endpoint again from now on, after it answered 410 or took nothing for three days."""
    return WebhookOut(**_shown(resume_endpoint(endpoint, service.context.catalog)))


@router.get("/{webhook_id}/deliveries", summary="What was delivered, and what was not")
def deliveries(
    endpoint: Endpoint,
    service: Opened,
    status: Annotated[DeliveryStatus | None, Query()] = None,
    cursor: Annotated[str | None, Query(max_length=300)] = None,
    limit: Annotated[int, Query(ge=1, le=100)] = 50,
) -> DeliveriesOut:
    """List deliveries with every try of each, latest event first."""
    before = place_of(cursor, datetime.fromisoformat, str) if cursor else None
    rows = service.context.catalog.webhooks.log(endpoint.id, status=status, before=before, limit=limit + 1)
    page, following = page_of(rows, limit, lambda delivery: [delivery.at, delivery.id])
    return DeliveriesOut(items=[_delivery_out(delivery) for delivery in page], cursor=following or None)


@router.post("/{webhook_id}/deliveries/{delivery_id}/resend", summary="Send a delivery again")
def resend(delivery_id: Identifier, endpoint: Endpoint, service: Opened) -> DeliveryOut:
    """Send a delivery again under its own id, as often as a new one."""
    return _delivery_out(send_again(endpoint, delivery_id, service.context.catalog, now=datetime.now(UTC)))


def _with_secret(webhook_id: str, principal: Principal, service: Service) -> NewWebhookOut:
    """Return an endpoint with its newest secret: a receipt of ids holds none."""
    catalog = service.context.catalog
    endpoint = endpoint_of(webhook_id, principal.tenant_id, catalog)
    return NewWebhookOut(**_shown(endpoint), secret=catalog.webhooks.secrets(webhook_id)[0].secret)


def _shown(endpoint: WebhookEndpoint) -> dict[str, Any]:
    return endpoint.model_dump(include=set(WebhookOut.model_fields))


def _delivery_out(delivery: Delivery) -> DeliveryOut:
    kept = delivery.model_dump(include=set(DeliveryOut.model_fields))
    return DeliveryOut(**kept, event=delivery.name)
