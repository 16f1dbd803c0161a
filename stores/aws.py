"""Clients of Amazon's services, and what their failures mean."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import boto3
from botocore.config import Config
from botocore.exceptions import (
    BotoCoreError,
    ClientError,
    CredentialRetrievalError,
    HTTPClientError,
    IncompleteReadError,
    InvalidRegionError,
    MetadataRetrievalError,
    NoRegionError,
)
from botocore.exceptions import ConnectionError as UnreachableError
from botocore.parsers import ResponseParserError

from schema.errors import SettingsError
from schema.settings import Settings, variable_of

if TYPE_CHECKING:
    from types_boto3_bedrock_runtime import BedrockRuntimeClient
    from types_boto3_s3vectors import S3VectorsClient

AwsFailure = BotoCoreError | ClientError | ResponseParserError
AWS_FAILURES = (BotoCoreError, ClientError, ResponseParserError)
"""All that a call of a client raises."""

_CONNECT_SECONDS = 5.0
_STORE_SECONDS = 10.0
_STORE_ATTEMPTS = 4
_PASSING_STATUSES = frozenset({408, 409, 424, 429})
_PASSING_CODES = frozenset({"ThrottlingException", "Throttling", "TooManyRequestsException", "RequestTimeout"})
_PASSING_ERRORS = (
    UnreachableError,
    HTTPClientError,
    IncompleteReadError,
    ResponseParserError,
    CredentialRetrievalError,
    MetadataRetrievalError,
)


def open_bedrock(settings: Settings, *, timeout: float, connections: int) -> BedrockRuntimeClient:
    """Return a client of Bedrock's models that asks once: a call that fails is repeated by those who made it.

    It waits `timeout` seconds for each piece of an answer. Credentials are found as boto3 finds them.

    Raises:
        SettingsError: no region is known, or it is none.
    """
    try:
        return session().client(
            "bedrock-runtime", region_name=settings.aws_region, config=_config(timeout, connections)
        )
    except (NoRegionError, InvalidRegionError) as error:
        raise no_region(error) from error


def open_s3vectors(settings: Settings, *, connections: int) -> S3VectorsClient:
    """Return a client of S3 Vectors. Throttled calls are repeated by boto3, which slows down by itself.

    Raises:
        SettingsError: no region is known, or it is none.
    """
    config = _config(_STORE_SECONDS, connections).merge(
        Config(retries={"total_max_attempts": _STORE_ATTEMPTS, "mode": "adaptive"})
    )
    try:
        return session().client("s3vectors", region_name=settings.aws_region, config=config)
    except (NoRegionError, InvalidRegionError) as error:
        raise no_region(error) from error


@cache
def session() -> boto3.session.Session:
    """Return what clients are made from: one a process, because it reads a library of descriptions. Clients may be used
    from many threads, but not made by them."""
    return boto3.session.Session()


def no_region(error: Exception) -> SettingsError:
    """Return what to do about a region that is unknown or none."""
    return SettingsError(f"{variable_of('aws_region')}: {error} Set it to one such as eu-central-1.")


def _config(timeout: float, connections: int) -> Config:
    return Config(
        connect_timeout=min(_CONNECT_SECONDS, timeout),
        read_timeout=timeout,
        max_pool_connections=connections,
        retries={"total_max_attempts": 1, "mode": "standard"},
        tcp_keepalive=True,
    )


def is_passing(error: AwsFailure) -> bool:
    """Return whether the same call may succeed later: throttling, timeouts, connections, the service's own failures."""
    if isinstance(error, ClientError):
        status = error.response["ResponseMetadata"].get("HTTPStatusCode", 0)
        return status >= 500 or status in _PASSING_STATUSES or code_of(error) in _PASSING_CODES
    return isinstance(error, _PASSING_ERRORS)


def code_of(error: AwsFailure) -> str:
    """Return the service's code of a failure, or the client's name for it. Messages are left out: they may quote the
    request."""
    if isinstance(error, ClientError):
        return str(error.response["Error"].get("Code", "unknown error"))
    return type(error).__name__


def retry_after(error: AwsFailure) -> float | None:
    """Return how many seconds the service asked us to wait, if it did."""
    if not isinstance(error, ClientError):
        return None
    headers = error.response["ResponseMetadata"].get("HTTPHeaders", {})
    try:
        return max(0.0, float(headers.get("retry-after", "")))
    except ValueError:
        return None
