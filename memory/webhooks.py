"""Make and end endpoints of webhooks, rotate what they are signed with, and send again what was not taken."""

from __future__ import annotations

import base64
import secrets
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from schema.errors import NotFound
from schema.event import EventName
from schema.urls import webhook_url
from schema.webhook import Delivery, WebhookEndpoint, WebhookSecret
from stores.catalog import Catalog
from stores.outgoing import require_destination

_RANDOM_BYTES: Final = 32
"""Within the 24 to 64 bytes of the Standard Webhooks specification."""


@dataclass(frozen=True)
class NewSecret:
    """An endpoint, and the secret that is shown this once."""

    endpoint: WebhookEndpoint
    secret: str


def add_endpoint(
    tenant_id: str,
    url: str,
    catalog: Catalog,
    *,
    by: str,
    now: datetime,
    networks: Sequence[str],
    events: Iterable[EventName] = (),
    description: str = "",
    with_summaries: bool = False,
) -> NewSecret:
    """Tell a URL of what happens in a tenant from now on: of these events, or of all. `networks` are those beside the
    public ones to which something may be sent.

    Raises:
        ValueError: nothing can be sent to such a URL.
        pydantic.ValidationError: the tenant or the description cannot be one.
    """
    require_destination(webhook_url(url), networks)
    endpoint = WebhookEndpoint(
        id=f"we_{secrets.token_hex(8)}",
        tenant_id=tenant_id,
        url=url,
        description=description,
        events=tuple(dict.fromkeys(events)),
        with_summaries=with_summaries,
        created_at=now,
        by=by,
    )
    secret = _new_secret()
    catalog.webhooks.add(endpoint, WebhookSecret(secret=secret))
    return NewSecret(endpoint, secret)


def endpoint_of(endpoint_id: str, tenant_id: str | None, catalog: Catalog) -> WebhookEndpoint:
    """Return an endpoint of a tenant, or of any where none is named.

    Raises:
        NotFound: there is none.
    """
    endpoint = catalog.webhooks.get(endpoint_id, tenant_id)
    if endpoint is None:
        raise NotFound("there is no such webhook; `afterturn webhooks list` shows them")
    return endpoint


def rotate_secret(endpoint: WebhookEndpoint, overlap: timedelta, catalog: Catalog, *, now: datetime) -> NewSecret:
    """Sign with a new secret from now on, and for `overlap` with the others too, so that no message is refused while
    the receiver changes."""
    secret = _new_secret()
    catalog.webhooks.rotate(endpoint.id, WebhookSecret(secret=secret), now + overlap, now)
    return NewSecret(endpoint, secret)


def resume_endpoint(endpoint: WebhookEndpoint, catalog: Catalog) -> WebhookEndpoint:
    """Send to an endpoint again that ended, from now on, and return it as it is then."""
    catalog.webhooks.resume(endpoint.id)
    return endpoint_of(endpoint.id, endpoint.tenant_id, catalog)


def send_again(endpoint: WebhookEndpoint, delivery_id: str, catalog: Catalog, *, now: datetime) -> Delivery:
    """Send a delivery again, as often as a new one, under the id that it had.

    Raises:
        NotFound: the endpoint has no such delivery.
    """
    delivery = catalog.webhooks.delivery(delivery_id, endpoint.tenant_id)
    if delivery is None or delivery.endpoint_id != endpoint.id:
        raise NotFound("there is no such delivery; the webhook's log shows them")
    catalog.webhooks.send_again(delivery_id, now)
    return catalog.webhooks.delivery(delivery_id, endpoint.tenant_id) or delivery


def _new_secret() -> str:
    return "whsec_" + base64.b64encode(secrets.token_bytes(_RANDOM_BYTES)).decode()
