"""A stream that is told to end while it waits."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from interfaces.http.ending import until


@pytest.mark.parametrize("lost", [0, 1, 3])
def test_a_stream_ends_when_it_is_told_to_however_often_what_it_waits_with_loses_its_cancellation(lost: int) -> None:
    waiting = asyncio.Event()

    async def stream() -> AsyncIterator[int]:
        yield 1
        for _ in range(lost):
            try:
                waiting.set()
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                continue
        waiting.set()
        await asyncio.Event().wait()

    async def heard() -> list[int]:
        ending = asyncio.Event()

        async def end() -> None:
            await waiting.wait()
            ending.set()

        told = asyncio.create_task(end())
        items = [item async for item in until(ending, stream())]
        await told
        return items

    assert asyncio.run(asyncio.wait_for(heard(), 60)) == [1]
