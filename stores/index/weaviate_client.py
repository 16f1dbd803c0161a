"""The client of Weaviate, and what its failures mean."""

from __future__ import annotations

import json
import logging
from urllib.parse import urlsplit

import httpx
from weaviate import WeaviateClient
from weaviate.auth import Auth
from weaviate.classes.init import AdditionalConfig, Timeout
from weaviate.config import ConnectionConfig, GrpcConfig
from weaviate.connect import ConnectionParams
from weaviate.exceptions import (
    InsufficientPermissionsError,
    UnexpectedStatusCodeError,
    WeaviateBaseError,
    WeaviateConnectionError,
    WeaviateStartUpError,
    WeaviateTimeoutError,
)

from schema.errors import IndexRefused, IndexUnavailable, SettingsError
from schema.settings import Settings, variable_of

FAILURES = (WeaviateBaseError, httpx.HTTPError)
"""All that a call of the client raises."""

_NO_ANSWER = (WeaviateConnectionError, WeaviateStartUpError, WeaviateTimeoutError, httpx.HTTPError)
_GRPC_PORT = 50051

# It would log whole objects that the server did not take.
logging.getLogger("weaviate-client").setLevel(logging.CRITICAL)


def connected(settings: Settings) -> WeaviateClient:
    """Return a client of the server that the settings name, connected to it.

    Raises:
        SettingsError: they name no server, or one under a path.
        IndexUnavailable: the server cannot be asked.
    """
    url = urlsplit(settings.index_url or "")
    if not url.hostname or url.path not in {"", "/"}:
        raise SettingsError(
            f"{variable_of('index_url')}: {variable_of('index')}=weaviate needs a server at the top of its host, such "
            "as http://127.0.0.1:8080"
        )
    grpc = urlsplit(settings.index_grpc_url or f"{url.scheme}://{url.hostname}:{_GRPC_PORT}")
    key, slots, seconds = settings.index_api_key, settings.worker_slots, settings.index_timeout_seconds
    client = WeaviateClient(
        connection_params=ConnectionParams.from_params(
            http_host=url.hostname,
            http_port=url.port or (443 if url.scheme == "https" else 80),
            http_secure=url.scheme == "https",
            grpc_host=grpc.hostname or url.hostname,
            grpc_port=grpc.port or (443 if grpc.scheme == "https" else _GRPC_PORT),
            grpc_secure=grpc.scheme == "https",
        ),
        auth_client_secret=Auth.api_key(key.get_secret_value()) if key else None,
        additional_config=AdditionalConfig(
            timeout=Timeout(init=seconds, query=seconds, insert=seconds),
            connection=ConnectionConfig(session_pool_connections=slots, session_pool_maxsize=slots),
            grpc_config=GrpcConfig(channel_options=[("grpc.service_config", _service_config())]),
        ),
        # They ask the package index on the Internet for a newer client at each start.
        skip_init_checks=True,
    )
    try:
        client.connect()
    except FAILURES as error:
        client.close()
        raise unavailable(error, "it") from None
    return client


def unavailable(error: BaseException, where: str) -> IndexUnavailable:
    """Return what a failure of the client means, without what the server said."""
    name = type(error).__name__
    status = error.status_code if isinstance(error, UnexpectedStatusCodeError) else None
    if isinstance(error, _NO_ANSWER):
        return IndexUnavailable(
            f"Weaviate does not answer ({name}); does it run where {variable_of('index_url')} says?"
        )
    if isinstance(error, InsufficientPermissionsError) or status in {401, 403}:
        return IndexRefused(
            f"Weaviate refuses the key ({status or name}); {variable_of('index_api_key')} must be one that may read "
            f"and write {where} and its tenants, and make it at the first start"
        )
    return IndexUnavailable(
        f"Weaviate refuses or fails ({status or name}) on {where}; its log says why. Is it gone, start again and run "
        f"`afterturn reindex`; does nothing answer in time, look at {variable_of('index_grpc_url')}"
    )


def is_passing(error: BaseException) -> bool:
    if isinstance(error, UnexpectedStatusCodeError):
        return error.status_code in {408, 429} or error.status_code >= 500
    return isinstance(error, _NO_ANSWER)


def _service_config() -> str:
    """Return how calls over gRPC fail: within their time.

    The client itself waits 1, 2, 4 ... 32 seconds between calls that find nobody, whatever their timeout is. So calls
    wait for a connection until their time is up, which it does not repeat; and what the server cannot take for a
    moment is asked again here, within the same time.
    """
    again = {
        "maxAttempts": 4,
        "initialBackoff": "0.1s",
        "maxBackoff": "2s",
        "backoffMultiplier": 2,
        "retryableStatusCodes": ["UNAVAILABLE"],
    }
    return json.dumps({"methodConfig": [{"name": [{}], "waitForReady": True, "retryPolicy": again}]})
