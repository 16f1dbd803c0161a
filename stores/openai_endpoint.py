"""Calls of an endpoint that speaks OpenAI's protocol: OpenAI, vLLM, Ollama, llama.cpp, Gemini, and many more.

httpx and not OpenAI's own client: that takes a second to import, asks for vectors in a form that many of the other
servers do not know, and lets a server that sends a byte now and then hold a call for ever.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

import httpx
from pydantic import SecretStr

from schema.errors import OperatorError, Transient

OPENAI = "https://api.openai.com/v1"
_PASSING = frozenset({408, 409, 421, 425, 429})
_CONNECT_SECONDS = 5.0
_MAX_ANSWER_BYTES = 32 * 1024 * 1024
_CODE = re.compile(r"[A-Za-z][\w.\-]{0,63}")


class EndpointUnavailable(Transient):
    """Raised where an endpoint cannot be reached, is overloaded, takes too long, or answers no JSON: it may work later.

    `retry_after` is how many seconds it asked us to wait, if it did; `status` its HTTP status, if it gave one.
    """

    def __init__(self, message: str, *, retry_after: float | None = None, status: int | None = None) -> None:
        super().__init__(message, retry_after=retry_after)
        self.status = status


class EndpointRefused(OperatorError):
    """Raised where an endpoint does not take a request. `parameter` is the one that it names as the cause, if it
    does."""

    def __init__(self, message: str, *, status: int, parameter: str | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.parameter = parameter


class Endpoint:
    """One endpoint. Safe to call from many threads; no call is repeated and none takes longer than it may.

    What it says of a failure is kept out of the exceptions, all but its code: it may quote the request.
    """

    def __init__(self, url: str | None, api_key: SecretStr | None, *, timeout: float, connections: int) -> None:
        self._timeout = timeout
        headers = {"Authorization": f"Bearer {api_key.get_secret_value()}"} if api_key else {}
        self._client = httpx.Client(
            base_url=url or OPENAI,
            headers=headers,
            limits=httpx.Limits(max_connections=connections, max_keepalive_connections=connections),
        )

    def post(self, path: str, body: Mapping[str, Any], deadline: float | None = None) -> dict[str, Any]:
        """Return the JSON object that it answers, before a moment of `time.monotonic()` or after the timeout at most.

        Raises:
            EndpointUnavailable, EndpointRefused
        """
        deadline = deadline or time.monotonic() + self._timeout
        remaining = deadline - time.monotonic()
        if remaining <= 0:
            raise EndpointUnavailable("no time is left to ask the endpoint")
        timeout = httpx.Timeout(remaining, connect=min(remaining, _CONNECT_SECONDS))
        try:
            with self._client.stream("POST", path, json=body, timeout=timeout) as response:
                content = _read(response, deadline)
        except httpx.RequestError as error:
            # Its cause may hold the request, and nobody needs it: the class says what happened.
            raise EndpointUnavailable(f"the endpoint cannot be reached: {type(error).__name__}") from None
        if not response.is_success:
            raise _failure(response, content)
        answer = _object(content)
        if answer is None:
            raise EndpointUnavailable("the endpoint answered no JSON object", status=response.status_code)
        return answer

    def close(self) -> None:
        self._client.close()


def _read(response: httpx.Response, deadline: float) -> bytes:
    pieces, size = [], 0
    for part in response.iter_bytes():
        pieces.append(part)
        size += len(part)
        if size > _MAX_ANSWER_BYTES:
            raise EndpointUnavailable(f"the endpoint's answer is longer than {_MAX_ANSWER_BYTES:,} bytes")
        if time.monotonic() > deadline:
            raise EndpointUnavailable("the endpoint did not finish its answer in time")
    return b"".join(pieces)


def _failure(response: httpx.Response, content: bytes) -> EndpointUnavailable | EndpointRefused:
    status = response.status_code
    error = (_object(content) or {}).get("error")
    problem = error if isinstance(error, dict) else {}
    codes = [
        code for code in (problem.get("code"), problem.get("type")) if isinstance(code, str) and _CODE.fullmatch(code)
    ]
    message = f"the endpoint answered {status}" + (f" ({codes[0]})" if codes else "")
    if status in _PASSING or status >= 500:
        return EndpointUnavailable(message, retry_after=_retry_after(response), status=status)
    parameter = problem.get("param")
    return EndpointRefused(message, status=status, parameter=parameter if isinstance(parameter, str) else None)


def _object(content: bytes) -> dict[str, Any] | None:
    try:
        answer = json.loads(content)
    except (ValueError, RecursionError):
        return None
    return answer if isinstance(answer, dict) else None


def _retry_after(response: httpx.Response) -> float | None:
    """Return seconds, from a header that holds seconds or a date (RFC 9110, section 10.2.3)."""
    value = response.headers.get("retry-after", "")
    try:
        return max(0.0, float(value))
    except ValueError:
        pass
    try:
        return max(0.0, (parsedate_to_datetime(value) - datetime.now(UTC)).total_seconds())
    except (ValueError, TypeError):
        return None
