"""Webhooks of a tenant: `webhooks add`, `list`, `log`, `resend`, `rotate`, `resume`, `remove`."""

from __future__ import annotations

from contextlib import closing
from datetime import UTC, datetime, timedelta
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from interfaces.cli.arguments import ByOption, JsonOption, TenantOption, identifier
from interfaces.cli.output import console, print_json, print_result
from memory.webhooks import NewSecret, add_endpoint, endpoint_of, resume_endpoint, rotate_secret, send_again
from schema.event import EventName
from schema.settings import load_settings
from schema.webhook import Delivery, DeliveryStatus, WebhookEndpoint
from stores.catalog import open_catalog

IdArgument = Annotated[str, typer.Argument(help="The webhook's id, from `afterturn webhooks list`.")]

app = typer.Typer(
    name="webhooks",
    help="""URLs that are told of what happens in a tenant, signed as the Standard Webhooks specification says.

    What is not taken is tried ten times in three days. A receiver that answers 410 is told nothing more.
    """,
    no_args_is_help=True,
)


@app.command()
def add(
    url: Annotated[str, typer.Argument(help="Where to send, such as https://example.com/memory.")],
    by: ByOption,
    event: Annotated[
        list[EventName] | None, typer.Option("--event", "-e", help="Only this one; give it once for each.")
    ] = None,
    tenant: TenantOption = "default",
    description: Annotated[str, typer.Option(help="What it is for.")] = "",
    summaries: Annotated[
        bool, typer.Option("--summaries", help="Send what a memory says, too, beside its id.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Tell a URL of what happens from now on, and show the secret of its messages, this once."""
    settings = load_settings()
    with closing(open_catalog(settings)) as catalog:
        try:
            added = add_endpoint(
                tenant,
                url,
                catalog,
                by=by,
                now=datetime.now(UTC),
                networks=settings.webhook_networks,
                events=event or (),
                description=description,
                with_summaries=summaries,
            )
        except ValueError as error:
            raise typer.BadParameter(str(error), param_hint="URL") from error
    _show(added, as_json=as_json)


@app.command("list")
def list_webhooks(
    tenant: Annotated[
        str | None, typer.Option("--tenant", "-t", help="Only of this tenant.", callback=identifier)
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """List the URLs that are told, and how each fares."""
    with closing(open_catalog(load_settings(), makes_catalog=False)) as catalog:
        endpoints = catalog.webhooks.all(tenant)
    print_result(
        [endpoint.model_dump(mode="json") for endpoint in endpoints],
        _table(endpoints) if endpoints else "no webhooks: make one with `afterturn webhooks add URL`",
        as_json=as_json,
    )


@app.command()
def log(
    webhook: IdArgument,
    status: Annotated[DeliveryStatus | None, typer.Option(help="Only those.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=1000, help="How many, latest event first.")] = 20,
    as_json: JsonOption = False,
) -> None:
    """Show what was delivered, what was not, and what was answered."""
    with closing(open_catalog(load_settings(), makes_catalog=False)) as catalog:
        endpoint = endpoint_of(webhook, None, catalog)
        deliveries = catalog.webhooks.log(endpoint.id, status=status, limit=limit)
    if as_json:
        print_json([delivery.model_dump(mode="json") for delivery in deliveries])
        return
    table = Table(title=f"Deliveries of {webhook}", title_justify="left")
    for column in ("id", "event", "at", "status", "tries", "last answer", "next try"):
        table.add_column(column, no_wrap=column == "id")
    for delivery in deliveries:
        next_at = f"{delivery.next_at:%Y-%m-%d %H:%M:%S}" if delivery.next_at else ""
        table.add_row(
            delivery.id,
            delivery.name.value,
            f"{delivery.at:%Y-%m-%d %H:%M:%S}",
            delivery.status.value,
            str(len(delivery.attempts)),
            _answer(delivery),
            next_at,
        )
    console.print(table)


@app.command()
def resend(webhook: IdArgument, delivery: Annotated[str, typer.Argument(help="Its id, from the log.")]) -> None:
    """Send a delivery again, as often as a new one."""
    with closing(open_catalog(load_settings(), makes_catalog=False)) as catalog:
        again = send_again(endpoint_of(webhook, None, catalog), delivery, catalog, now=datetime.now(UTC))
    console.print(Text(f"{again.id} is sent again"))


@app.command()
def rotate(
    webhook: IdArgument,
    overlap: Annotated[
        float, typer.Option(min=0, max=720, help="Hours for which messages are signed with the old one too.")
    ] = 24.0,
    as_json: JsonOption = False,
) -> None:
    """Sign with a new secret, and show it, this once."""
    with closing(open_catalog(load_settings(), makes_catalog=False)) as catalog:
        endpoint = endpoint_of(webhook, None, catalog)
        rotated = rotate_secret(endpoint, timedelta(hours=overlap), catalog, now=datetime.now(UTC))
    _show(rotated, as_json=as_json)


@app.command()
def resume(webhook: IdArgument) -> None:
    """Send to a URL again from now on, after it answered 410 or took nothing for three days."""
    with closing(open_catalog(load_settings(), makes_catalog=False)) as catalog:
        resume_endpoint(endpoint_of(webhook, None, catalog), catalog)
    console.print(Text(f"{webhook} is told of what happens from now on"))


@app.command()
def remove(webhook: IdArgument) -> None:
    """Tell a URL nothing more, and drop its log."""
    with closing(open_catalog(load_settings(), makes_catalog=False)) as catalog:
        catalog.webhooks.remove(endpoint_of(webhook, None, catalog).id)
    console.print(Text(f"{webhook} is told nothing more"))


def _show(made: NewSecret, *, as_json: bool) -> None:
    if as_json:
        print_json({**made.endpoint.model_dump(mode="json"), "secret": made.secret})
        return
    console.print(Text(made.secret, style="bold"), soft_wrap=True)
    console.print(
        Text(f"{made.endpoint.id} of tenant {made.endpoint.tenant_id}; keep the secret now, it is not shown again")
    )


def _answer(delivery: Delivery) -> str:
    if not delivery.attempts:
        return ""
    last = delivery.attempts[-1]
    return str(last.status) if last.status is not None else str(last.error)


def _table(endpoints: list[WebhookEndpoint]) -> Table:
    table = Table(title="Webhooks", title_justify="left")
    for column in ("id", "url", "tenant", "told of", "taken last", "failures since", "ended"):
        table.add_column(column, no_wrap=column == "id", overflow="fold")
    for endpoint in endpoints:
        table.add_row(
            endpoint.id,
            Text(endpoint.url),
            Text(endpoint.tenant_id),
            ", ".join(endpoint.events) or "everything",
            f"{endpoint.succeeded_at:%Y-%m-%d %H:%M}" if endpoint.succeeded_at else "",
            str(endpoint.failures),
            Text(endpoint.ended_because or ""),
            style="dim" if endpoint.ended_at else "",
        )
    return table
