"""The address that the service listens on, tried before anything starts there."""

from __future__ import annotations

import socket

from schema.errors import SettingsError
from schema.settings import Settings


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
