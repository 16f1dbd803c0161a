"""The service: `serve`."""

from __future__ import annotations

from contextlib import closing
from typing import Annotated

import structlog
import typer

from interfaces.cli.arguments import ByOption, JsonOption, TenantOption, UserArgument
from interfaces.cli.fleet import EndWithParent, ask_kernel_to_end_with_parent
from interfaces.cli.output import errors, print_json
from interfaces.http.listening import (
    FIRST_KEY,
    is_this_machine,
    nobody_can_be_told,
    require_free_address,
    require_somebody,
)
from interfaces.http.pages.sessions import LINK_SECONDS, link_for_staff, link_to_pages
from schema.errors import SettingsError
from schema.settings import load_settings
from schema.settings_service import MOST_PROCESSES
from stores.redis import open_redis
from worker.logs import configure_logging

_log = structlog.get_logger()


def serve(
    host: Annotated[str | None, typer.Option(help="Address to listen on; AFTERTURN_HTTP_HOST if left out.")] = None,
    port: Annotated[
        int | None, typer.Option(min=0, max=65_535, help="Port to listen on; AFTERTURN_HTTP_PORT if left out.")
    ] = None,
    processes: Annotated[
        int | None,
        typer.Option(min=1, max=MOST_PROCESSES, help="Processes that answer; AFTERTURN_HTTP_PROCESSES if left out."),
    ] = None,
    wait_for_key: Annotated[
        bool,
        typer.Option(
            "--wait-for-key",
            help="Where others can reach it: start before any key was made, and answer 401 until one is.",
        ),
    ] = False,
    end_with_parent: EndWithParent = False,
) -> None:
    """Start the HTTP service: turns in, memories out, events as they happen; its pages and `/docs` in a browser.

    Where no key was made yet (`afterturn keys create`) everybody on this machine may do everything, and it starts at no
    address that others can reach.
    """
    if end_with_parent:
        ask_kernel_to_end_with_parent()
    try:
        from interfaces.http.processes import serve as serve_http
    except ImportError as error:
        raise SettingsError(f"the service needs more ({error.name}): pip install 'afterturn[service]'") from error
    given = {"http_host": host, "http_port": port, "http_processes": processes}
    settings = load_settings().model_copy(update={name: value for name, value in given.items() if value is not None})
    require_free_address(settings)
    configure_logging(settings.log_level)
    if not wait_for_key:
        require_somebody(settings)
    if nobody_can_be_told(settings):
        where = f"http://{settings.http_host}:{settings.http_port}"
        if is_this_machine(settings.http_host):
            errors.print(f"no keys yet: everybody on this machine may do everything at {where}")
        else:
            _log.warning("no_keys_yet", address=where, reason="what needs a key is answered 401", make_one=FIRST_KEY)
    serve_http(settings)


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
