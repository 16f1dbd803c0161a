"""The client that is awaited."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable
from pathlib import Path
from types import TracebackType
from typing import Any, Concatenate, ParamSpec, Self, TypeVar

from afterturn_client import preferences as wishes
from afterturn_client import requests
from afterturn_client.calls import as_method, awaited, heard_async, paged_async
from afterturn_client.configuration import configured
from afterturn_client.enqueuer import CLOSE_SECONDS, Bounds, Enqueued, Enqueuer
from afterturn_client.errors import RequestFailed
from afterturn_client.model import Event, Memory, Page, Proof
from afterturn_client.processes import OfProcess
from afterturn_client.requests import Request
from afterturn_client.spool import Depth, Rejected
from afterturn_client.sse import Listening, listening
from afterturn_client.turns import Written, turn_of

P = ParamSpec("P")
T = TypeVar("T")


def _enqueued(build: Callable[P, Written]) -> Callable[Concatenate[AsyncClient, P], Coroutine[Any, Any, Enqueued]]:
    async def enqueue(self: AsyncClient, /, *args: P.args, **kwargs: P.kwargs) -> Enqueued:
        return await self._enqueuer.put_async(build(*args, **kwargs))

    return as_method(build, enqueue, name="enqueue")


class AsyncClient:
    """An Afterturn service, for one event loop: as `Client`, and no call ever blocks the loop.

    Raises:
        ValueError: the URL or the key cannot be one.
        SpoolUnavailable: the spool's folder cannot be written.
    """

    def __init__(
        self,
        url: str | None = None,
        key: str | None = None,
        *,
        spool_dir: Path | str | None = None,
        spool_max_turns: int = 100_000,
        spool_max_bytes: int = 256 * 1024 * 1024,
        budget_ms: float = 50.0,
        timeout: float = 10.0,
        attempts: int = 3,
    ) -> None:
        from afterturn_client.senders import Async
        from afterturn_client.transport import link_to

        configuration = configured(url, key, timeout=timeout, attempts=attempts)
        link = link_to(configuration)
        self._enqueuer = Enqueuer(link, Bounds(spool_dir, spool_max_turns, spool_max_bytes, budget_ms / 1000))
        self._http = OfProcess(lambda: Async(link))

    enqueue = _enqueued(turn_of)
    search = awaited(requests.search)
    context = awaited(requests.context)
    remember = awaited(requests.remember)
    memories = paged_async(requests.memories)
    get = awaited(requests.get)
    edit = awaited(requests.edit)
    forget = awaited(requests.forget)
    pin = awaited(requests.pin)
    unpin = awaited(requests.unpin)
    archive = awaited(requests.archive)
    restore = awaited(requests.restore)
    suppress = awaited(requests.suppress)
    unsuppress = awaited(requests.unsuppress)
    preferences = awaited(wishes.preferences)
    want = awaited(wishes.want)
    block_topic = awaited(wishes.block_topic)
    unblock_topic = awaited(wishes.unblock_topic)
    check = awaited(wishes.check)
    events = heard_async(listening)

    async def flush(self, timeout: float) -> int:
        """Wait at most `timeout` seconds for all turns to be sent, and return how many are left."""
        return await asyncio.to_thread(self._enqueuer.flush, timeout)

    async def spooled(self) -> Depth:
        """Return how many turns wait on this machine's disk, and how many the service will never take."""
        return await asyncio.to_thread(self._enqueuer.depth)

    async def rejected(self, limit: int = 100) -> list[Rejected]:
        """Return turns that the service will never take, oldest first, each with the reason."""
        return await asyncio.to_thread(self._enqueuer.rejected, limit)

    async def drop_rejected(self, turns: Iterable[Rejected]) -> int:
        """Drop turns that the service will never take from this machine's disk, where they fill the spool; return how
        many were still there."""
        return await asyncio.to_thread(self._enqueuer.drop_rejected, turns)

    async def forget_user(self, user_id: str) -> Proof:
        """Erase all that the service knows of a user, and what they said that lies in this machine's spool.

        The answer is the proof, of what the service knew. What waits in another machine's spool was said before, and is
        dropped by the service when it comes; what was rejected there stays, as does here what was rejected without a
        `user_id`: see `drop_rejected`.

        Raises:
            RequestFailed: the service did not do it; the class says why. Nothing was dropped here.
            SpoolUnavailable: the spool cannot be used; ask again.
        """
        last = await asyncio.to_thread(self._enqueuer.last)
        proof = await self.send(requests.forget_user(user_id))
        await asyncio.to_thread(self._enqueuer.drop_user, user_id, last)
        return proof

    async def close(self, timeout: float = CLOSE_SECONDS) -> int:
        """Send what can be sent in `timeout` seconds and close; return how many turns are left for the next client."""
        waiting = await asyncio.to_thread(self._enqueuer.close, timeout)
        if (http := self._http.take()) is not None:
            await http.close()
        return waiting

    async def send(self, request: Request[T]) -> T:
        """Send a request that is not among the methods."""
        return await self._http.get().send(request)

    async def pages(self, first: Request[Page]) -> AsyncIterator[Memory]:
        """Yield what is on a page and on those behind it."""
        request = first
        while True:
            page = await self.send(request)
            for memory in page.items:
                yield memory
            if page.cursor is None:
                return
            request = requests.page_behind(first, page.cursor)

    async def listen(self, listening: Listening) -> AsyncIterator[Event]:
        """Yield events over as many connections as it takes."""
        while True:
            failure: RequestFailed | None = None
            try:
                async for chunk in self._http.get().chunks(listening.request()):
                    for event in listening.heard(chunk):
                        yield event
            except RequestFailed as error:
                failure = error
            await asyncio.sleep(listening.pause(failure))

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.close()
