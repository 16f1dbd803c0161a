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

_ROUNDS = 10
_APART_SECONDS = 5.0
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
    """Let so many listen, evenly shared among subjects, announce events, and measure how long they take to each.

    There are ten rounds, five seconds apart. One subject has an event in each; of many, each has one in one of them.
    """
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
            asked = f"GET /api/v1/events?subject_id={subject} HTTP/1.1\r\nHost: {place.netloc}"
            writer.write(f"{asked}\r\nX-API-Key: {key}\r\nLast-Event-ID: 0\r\n\r\n".encode())
            readers.append(reader)
        await asyncio.gather(*(reader.readuntil(b"listening") for reader in readers))
        connected = time.perf_counter() - started
        tasks = [asyncio.create_task(listen(*one)) for one in enumerate(readers)]
        moments = []
        for number in range(_ROUNDS):
            await asyncio.sleep(_APART_SECONDS)
            moments.append(time.perf_counter())
            whose = subjects if len(subjects) == 1 else subjects[number::_ROUNDS]
            await asyncio.to_thread(_announce, number, whose, context)
        wanted = listeners * (_ROUNDS if len(subjects) == 1 else 1)
        deadline = time.perf_counter() + _GIVE_UP_SECONDS
        while sum(map(len, heard)) < wanted and time.perf_counter() < deadline:
            await asyncio.sleep(0.1)
        for task in tasks:
            task.cancel()
    lags = sorted((at - moments[event]) * 1000 for told in heard for event, at in told)
    once = sum(len({event for event, _ in told}) for told in heard)
    return Fan(listeners, len(subjects), connected, lags, wanted - once, len(lags) - once)


def _announce(number: int, subjects: Sequence[Subject], context: MemoryContext) -> None:
    payload, now = {"turn_id": str(number)}, datetime.now(UTC)
    events = [Event(name=EventName.ERROR, **subject.model_dump(), at=now, payload=payload) for subject in subjects]
    announce([*enumerate(events, number * len(subjects) + 1)], context)
