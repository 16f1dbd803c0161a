"""The address that the service listens on, tried before anything starts there, and who may come in at it."""

from __future__ import annotations

import socket
from contextlib import closing
from ipaddress import ip_address
from typing import Final

from schema.errors import SettingsError
from schema.settings import Settings
from stores.catalog import open_catalog

FIRST_KEY: Final = "afterturn keys create backend --can read --can write --can turns --can act_as"
"""The command that makes the first key."""


def require_free_address(settings: Settings) -> None:
    """Check that the service can listen where the settings say.

    Raises:
        SettingsError: another program has the port, or this machine has no such address.
    """
    host, port = settings.http_host, settings.http_port
    with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as probe:
        # As servers set it: what an earlier one of ours has just closed is free.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            raise SettingsError(
                f"{host}:{port} cannot be had ({error.strerror or error}): choose another with AFTERTURN_HTTP_PORT "
                "or AFTERTURN_HTTP_HOST"
            ) from error


def require_somebody(settings: Settings) -> None:
    """Check that the service listens on this machine alone where nobody can show who they are.

    Raises:
        SettingsError: others can reach it, and no key was made yet.
        CatalogUnavailable: nobody knows.
    """
    if not is_this_machine(settings.http_host) and nobody_can_be_told(settings):
        raise SettingsError(
            f"no key was made yet, and others can reach {settings.http_host}: make one first ({FIRST_KEY}), or listen "
            "on 127.0.0.1"
        )


def nobody_can_be_told(settings: Settings) -> bool:
    """Return whether nobody can show who they are: there is no key yet, and no provider who says who somebody is.

    Raises:
        CatalogUnavailable: nobody knows.
    """
    if settings.oidc_issuer is not None:
        return False
    with closing(open_catalog(settings)) as catalog:
        return not catalog.keys.any()


def is_open_to_all(settings: Settings) -> bool:
    """Return whether who sends no key may do everything: nobody can show who they are, and no other machine reaches the
    address.

    Raises:
        CatalogUnavailable: nobody knows.
    """
    return is_this_machine(settings.http_host) and nobody_can_be_told(settings)


def is_this_machine(address: str) -> bool:
    """Return whether an address to listen on can be reached from this machine alone."""
    if address == "localhost":
        return True
    try:
        return ip_address(address).is_loopback
    except ValueError:
        return False
