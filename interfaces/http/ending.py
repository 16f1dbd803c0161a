"""The end of a process of the service: what never ends by itself is ended when it is told to."""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Final, TypeVar

_T = TypeVar("_T")
_OVER: Final = object()
_TOLD_AGAIN_SECONDS: Final = 0.1
_SIGNALS: Final = (signal.SIGTERM, signal.SIGINT)


@contextmanager
def told_to_end(end: Callable[[], None]) -> Iterator[None]:
    """Call `end` in the running loop when this process is told to end, before the server waits for answers that are
    not whole yet."""
    if threading.current_thread() is not threading.main_thread():
        # Signals reach the main thread alone. Who serves in another ends by other means.
        yield
        return
    loop = asyncio.get_running_loop()
    servers = {number: handler for number in _SIGNALS if callable(handler := signal.getsignal(number))}

    def tell(number: int, frame: FrameType | None) -> None:
        loop.call_soon_threadsafe(end)
        servers[signal.Signals(number)](number, frame)

    for number in servers:
        signal.signal(number, tell)
    try:
        yield
    finally:
        for number, handler in servers.items():
            signal.signal(number, handler)


async def until(ending: asyncio.Event, stream: AsyncIterator[_T]) -> AsyncIterator[_T]:
    """Yield what a stream does, until that is set."""
    over = asyncio.create_task(ending.wait())
    try:
        while not over.done():
            following = asyncio.create_task(_following(stream))
            try:
                await asyncio.wait((following, over), return_when=asyncio.FIRST_COMPLETED)
            finally:
                # What it waits with, a connection, is given back. Told once it may go on: redis-py loses a cancellation
                # that comes while it connects, and would then wait for as long as nothing happens.
                while not following.done():
                    following.cancel()
                    await asyncio.wait((following,), timeout=_TOLD_AGAIN_SECONDS)
            if following.cancelled() or (found := following.result()) is _OVER:
                return
            yield found  # type: ignore[misc]
    finally:
        over.cancel()


async def _following(stream: AsyncIterator[_T]) -> _T | object:
    return await anext(stream, _OVER)
