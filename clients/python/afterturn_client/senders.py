"""The two senders on httpx: one that waits and one that is awaited. All else they share."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import AbstractAsyncContextManager, AbstractContextManager
from typing import TypeVar

import httpx

from afterturn_client.backoff import pause_before
from afterturn_client.configuration import Configuration
from afterturn_client.errors import RequestFailed
from afterturn_client.requests import Request
from afterturn_client.sse import SILENCE_SECONDS
from afterturn_client.transport import Link, answer_of, failure_of, options_of, unreached

T = TypeVar("T")


class Sync:
    """Sends a request and waits for its answer. Threads may share it."""

    def __init__(self, link: Link) -> None:
        self._configuration = link.configuration
        self._http = httpx.Client(**link.options())

    def send(self, request: Request[T]) -> T:
        """Send a request, again where that may help, and return its answer.

        Raises:
            RequestFailed: the service refused it, or could not be reached however often it was tried.
        """
        attempt = 0
        while True:
            try:
                return self.once(request)
            except RequestFailed as error:
                attempt += 1
                pause = pause_before(attempt, request, error, attempts=self._configuration.attempts)
                if pause is None:
                    raise
                time.sleep(pause)

    def once(self, request: Request[T]) -> T:
        """Send a request, and return its answer.

        Raises:
            RequestFailed: the service refused it, or cannot be reached.
        """
        try:
            response = self._http.request(**options_of(request))
        except httpx.HTTPError as error:
            raise unreached(error) from error
        return answer_of(request, response)

    def chunks(self, request: Request[T]) -> Iterator[bytes]:
        """Yield the bytes of an answer as they come.

        Raises:
            RequestFailed: the service refused it, cannot be reached, or is gone before the end.
        """
        try:
            with self._stream(request) as response:
                if not response.is_success:
                    response.read()
                    raise failure_of(response)
                yield b""
                yield from response.iter_bytes()
        except httpx.HTTPError as error:
            raise unreached(error) from error

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def _stream(self, request: Request[T]) -> AbstractContextManager[httpx.Response]:
        return self._http.stream(**options_of(request), timeout=_patience(self._configuration))


class Async:
    """Sends a request and is awaited, in one event loop."""

    def __init__(self, link: Link) -> None:
        self._configuration = link.configuration
        self._http = httpx.AsyncClient(**link.options())

    async def send(self, request: Request[T]) -> T:
        """Send a request, again where that may help, and return its answer.

        Raises:
            RequestFailed: the service refused it, or could not be reached however often it was tried.
        """
        attempt = 0
        while True:
            try:
                return await self.once(request)
            except RequestFailed as error:
                attempt += 1
                pause = pause_before(attempt, request, error, attempts=self._configuration.attempts)
                if pause is None:
                    raise
                await asyncio.sleep(pause)

    async def once(self, request: Request[T]) -> T:
        """Send a request, and return its answer.

        Raises:
            RequestFailed: the service refused it, or cannot be reached.
        """
        try:
            response = await self._http.request(**options_of(request))
        except httpx.HTTPError as error:
            raise unreached(error) from error
        return answer_of(request, response)

    async def chunks(self, request: Request[T]) -> AsyncIterator[bytes]:
        """Yield the bytes of an answer as they come.

        Raises:
            RequestFailed: the service refused it, cannot be reached, or is gone before the end.
        """
        try:
            async with self._stream(request) as response:
                if not response.is_success:
                    await response.aread()
                    raise failure_of(response)
                yield b""
                async for chunk in response.aiter_bytes():
                    yield chunk
        except httpx.HTTPError as error:
            raise unreached(error) from error

    async def close(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    def _stream(self, request: Request[T]) -> AbstractAsyncContextManager[httpx.Response]:
        return self._http.stream(**options_of(request), timeout=_patience(self._configuration))


def _patience(configuration: Configuration) -> httpx.Timeout:
    return httpx.Timeout(configuration.timeout, read=SILENCE_SECONDS)
