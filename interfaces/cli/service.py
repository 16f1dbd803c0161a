"""The service: `serve`."""

from __future__ import annotations

import ipaddress
from contextlib import closing
from typing import Annotated

import typer

from interfaces.cli.arguments import ByOption, JsonOption, TenantOption, UserArgument
from interfaces.cli.fleet import EndWithParent, ask_kernel_to_end_with_parent
from interfaces.cli.output import errors, print_json
from interfaces.http.pages.sessions import LINK_SECONDS, link_for_staff, link_to_pages
from schema.errors import SettingsError
from schema.settings import Settings, load_settings
from stores.redis import open_redis
from worker.logs import configure_logging


def serve(
    host: Annotated[str | None, typer.Option(help="Address to listen on; AFTERTURN_HTTP_HOST if left out.")] = None,
    port: Annotated[int | None, typer.Option(help="Port to listen on; AFTERTURN_HTTP_PORT if left out.")] = None,
    end_with_parent: EndWithParent = False,
) -> None:
    """Start the HTTP service: turns in, memories out, events as they happen; its pages and `/docs` in a browser.

    Where no key was made yet (`afterturn keys create`) it listens on this machine alone, and lets everybody there do
    everything.
    """
    if end_with_parent:
        ask_kernel_to_end_with_parent()
    try:
        import uvicorn

        from interfaces.http.app import create_app
    except ImportError as error:
        raise SettingsError(f"the service needs more ({error.name}): pip install 'afterturn[service]'") from error
    from stores.catalog import open_catalog

    settings = load_settings()
    address, number = host or settings.http_host, settings.http_port if port is None else port
    catalog = open_catalog(settings)
    anonymous = settings.oidc_issuer is None and not catalog.keys.any()
    catalog.close()
    if anonymous and not _is_this_machine(address):
        raise SettingsError(
            f"AFTERTURN_HTTP_HOST: {address} can be reached from other machines, and there is no key yet: make one "
            "with `afterturn keys create`, or listen on 127.0.0.1"
        )
    if anonymous:
        errors.print(f"no keys yet: everybody on this machine may do everything at http://{address}:{number}")
    if settings.http_metrics_port:
        _show_metrics(settings)
    configure_logging(settings.log_level)
    uvicorn.run(
        create_app(settings.model_copy(update={"http_host": address, "http_port": number}), anonymous=anonymous),
        host=address,
        port=number,
        # Its own lines go where ours go, in the same form: a traceback of its logger would show what was said.
        log_config=None,
        log_level=settings.log_level,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=10,
    )


def _show_metrics(settings: Settings) -> None:
    from prometheus_client import start_http_server

    try:
        start_http_server(settings.http_metrics_port, settings.metrics_address)
    except OSError as error:
        raise SettingsError(
            f"AFTERTURN_HTTP_METRICS_PORT: cannot listen on {settings.metrics_address} port "
            f"{settings.http_metrics_port}: {error.strerror or error}"
        ) from error


def page_link(user: UserArgument, tenant: TenantOption = "default", as_json: JsonOption = False) -> None:
    """Print a link to the pages of a user: what is known about them. Whoever follows it first is signed in as them.

    It works once, for five minutes. A product's backend asks for one over HTTP: `POST
    /api/v1/subjects/USER/page-link`.
    """
    settings = load_settings()
    with closing(open_redis(settings)) as redis:
        _print_link(link_to_pages(settings, tenant, user, redis), as_json=as_json)


def staff_link(by: ByOption, tenant: TenantOption = "default", as_json: JsonOption = False) -> None:
    """Print a link to the pages for staff: subjects, audit, reviews, holds, erasures, keys and the fleet of a tenant.

    It works once, for five minutes. The audit names `--by` for all that is done and looked at there. A product's own
    tools ask for one with a key that has `admin`: `POST /api/v1/staff-link`.
    """
    settings = load_settings()
    with closing(open_redis(settings)) as redis:
        _print_link(link_for_staff(settings, tenant, by, redis), as_json=as_json)


def _print_link(url: str, *, as_json: bool) -> None:
    if as_json:
        print_json({"url": url, "expires_in": LINK_SECONDS})
    else:
        typer.echo(url)


def _is_this_machine(address: str) -> bool:
    if address == "localhost":
        return True
    try:
        return ipaddress.ip_address(address).is_loopback
    except ValueError:
        return False
