"""The service: `serve`."""

from __future__ import annotations

import ipaddress
from typing import Annotated

import typer

from interfaces.cli.output import errors
from schema.errors import SettingsError
from schema.settings import load_settings


def add_to(app: typer.Typer) -> None:
    app.command()(serve)


def serve(
    host: Annotated[str | None, typer.Option(help="Address to listen on; AFTERTURN_HTTP_HOST if left out.")] = None,
    port: Annotated[int | None, typer.Option(help="Port to listen on; AFTERTURN_HTTP_PORT if left out.")] = None,
) -> None:
    """Start the HTTP service: turns in, memories out, events as they happen; its pages and `/docs` in a browser.

    Where no key was made yet (`afterturn keys create`) it listens on this machine alone, and lets everybody there do
    everything.
    """
    try:
        import uvicorn

        from interfaces.http.app import create_app
    except ImportError as error:
        raise SettingsError(f"the service needs more ({error.name}): pip install 'afterturn[service]'") from error
    from stores.catalog import open_catalog

    settings = load_settings()
    address, number = host or settings.http_host, settings.http_port if port is None else port
    catalog = open_catalog(settings)
    anonymous = not catalog.keys.any()
    catalog.close()
    if anonymous and not _is_this_machine(address):
        raise SettingsError(
            f"AFTERTURN_HTTP_HOST: {address} can be reached from other machines, and there is no key yet: make one "
            "with `afterturn keys create`, or listen on 127.0.0.1"
        )
    if anonymous:
        errors.print(f"no keys yet: everybody on this machine may do everything at http://{address}:{number}")
    uvicorn.run(
        create_app(settings, anonymous=anonymous),
        host=address,
        port=number,
        log_level=settings.log_level,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=10,
    )


def _is_this_machine(address: str) -> bool:
    if address == "localhost":
        return True
    try:
        return ipaddress.ip_address(address).is_loopback
    except ValueError:
        return False
