"""What a listener is told while more happens than it can follow."""

from __future__ import annotations

import asyncio

import pytest

from memory.events import stream_key
from recall.events import GAP, Heard, listen, listener_of
from schema import Capability, Principal, Subject
from stores.redis import open_async_redis
from tests.contract.pipeline import Worker

_KEPT = 300


def _announce(worker: Worker, whose: Subject, first: int, count: int) -> list[str]:
    """Put events into a subject's stream, bounded as `memory.events` bounds it; returns their ids there."""
    pipeline = worker.context.redis.pipeline(transaction=False)
    for event_id in range(first, first + count):
        fields = {"event_id": event_id, "event": "memory.error", "at": "2026-11-02T08:00:00+00:00", "payload": "{}"}
        pipeline.xadd(stream_key(whose), fields, maxlen=_KEPT, approximate=True)  # type: ignore[arg-type]
    return [entry.decode() for entry in pipeline.execute()]


async def _heard(worker: Worker, whose: Subject, after: str, meanwhile: int) -> tuple[Heard, list[Heard]]:
    """Return the first event behind an entry, and all that comes behind it when so many more happen meanwhile."""
    asker = Principal(tenant_id=whose.tenant_id, capabilities=frozenset(Capability), key_id="test")
    redis = open_async_redis(worker.context.settings)
    listening = listen(listener_of(asker, whose, None), after, worker.context, redis, block_seconds=0.2)
    try:
        first = await anext(listening)
        assert first is not None
        await asyncio.to_thread(_announce, worker, whose, 1_000, meanwhile)
        rest: list[Heard] = []
        while (event := await anext(listening)) is not None:
            rest.append(event)
    finally:
        await listening.aclose()  # type: ignore[attr-defined]
        await redis.aclose()
    return first, rest


def test_who_listens_and_falls_behind_what_the_stream_keeps_is_told_of_the_gap(worker: Worker) -> None:
    whose = Subject(tenant_id="acme", subject_id="slow")
    before, *_ = _announce(worker, whose, 1, 2)
    first, rest = asyncio.run(_heard(worker, whose, before, 10 * _KEPT))
    assert rest[0].name == GAP
    assert (rest[0].id, rest[0].payload) == (first.id, {"after": first.id})
    assert rest[-1].payload["event_id"] == 1_000 + 10 * _KEPT - 1
    assert [event.name for event in rest].count(GAP) == 1


@pytest.mark.parametrize("meanwhile", [1, 250])
def test_who_listens_and_keeps_up_is_told_of_no_gap(worker: Worker, meanwhile: int) -> None:
    whose = Subject(tenant_id="acme", subject_id=f"quick{meanwhile}")
    before, *_ = _announce(worker, whose, 1, 2)
    _, rest = asyncio.run(_heard(worker, whose, before, meanwhile))
    assert [event.payload["event_id"] for event in rest] == list(range(1_000, 1_000 + meanwhile))
