"""Many listeners of a service's events, and how long an event takes to all of them."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from urllib.parse import urlsplit

from memory.context import MemoryContext
from memory.events import announce
from schema import Event, EventName, Subject

_EVENTS = 20
_APART_SECONDS = 1.0
_GIVE_UP_SECONDS = 60.0


@dataclass(frozen=True)
class Fan:
    """What became of some events to all listeners of each; milliseconds from before the event was announced."""

    listeners: int
    subjects: int
    connect_seconds: float
    milliseconds: list[float]
    lost: int
    doubled: int


async def fanned_out(url: str, key: str, listeners: int, subjects: Sequence[Subject], context: MemoryContext) -> Fan:
    """Let so many listen, evenly shared among subjects, announce an event a second of each, and measure."""
    place = urlsplit(url)
    heard: list[list[tuple[int, float]]] = [[] for _ in range(listeners)]

    async def listen(number: int, reader: asyncio.StreamReader) -> None:
        while line := await reader.readline():
            if line.startswith(b"data: "):
                heard[number].append((int(line.partition(b'"turn_id": "')[2].split(b'"')[0]), time.perf_counter()))

    async with AsyncExitStack() as stack:
        started = time.perf_counter()
        readers = []
        for number in range(listeners):
            subject = subjects[number % len(subjects)].subject_id
            reader, writer = await asyncio.open_connection(place.hostname, place.port)
            stack.callback(writer.close)
            path = f"/api/v1/events?subject_id={subject}"
            writer.write(f"GET {path} HTTP/1.1\r\nHost: {place.netloc}\r\nX-API-Key: {key}\r\n\r\n".encode())
            readers.append(reader)
        await asyncio.gather(*(reader.readuntil(b"listening") for reader in readers))
        connected = time.perf_counter() - started
        tasks = [asyncio.create_task(listen(*one)) for one in enumerate(readers)]
        # The answer has begun before its stream is asked for the first time.
        await asyncio.sleep(2 * _APART_SECONDS)
        moments = []
        for event in range(_EVENTS):
            moments.append(time.perf_counter())
            await asyncio.to_thread(_announce, event, subjects, context)
            await asyncio.sleep(_APART_SECONDS)
        deadline = time.perf_counter() + _GIVE_UP_SECONDS
        while any(len(told) < _EVENTS for told in heard) and time.perf_counter() < deadline:
            await asyncio.sleep(0.1)
        for task in tasks:
            task.cancel()
    lags = sorted((at - moments[event]) * 1000 for told in heard for event, at in told)
    numbers = [[event for event, _ in told] for told in heard]
    lost = sum(_EVENTS - len(set(told)) for told in numbers)
    return Fan(listeners, len(subjects), connected, lags, lost, sum(len(told) - len(set(told)) for told in numbers))


def _announce(number: int, subjects: Sequence[Subject], context: MemoryContext) -> None:
    payload, now = {"turn_id": str(number)}, datetime.now(UTC)
    events = [Event(name=EventName.ERROR, **subject.model_dump(), at=now, payload=payload) for subject in subjects]
    announce([*enumerate(events, number * len(subjects) + 1)], context)
