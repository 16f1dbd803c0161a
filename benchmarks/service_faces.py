"""What `benchmarks.service` asks: the same of our service, of our functions in process, and of mem0's server."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from datetime import UTC, datetime
from typing import Final

import httpx

from benchmarks.service_load import Ask, Row, offered
from memory.context import MemoryContext
from producers import Producer
from recall.context_block import context_block
from recall.retrieve import retrieve
from schema import Capability, Memory, Principal, Subject

TENANT: Final = "bench"
THREADS: Final = 40
"""As many as the service has for what asks the stores."""
_WARM_ROUNDS: Final = 5
_BACKEND: Final = Principal(tenant_id=TENANT, capabilities=frozenset(Capability), key_id="bench")
_SAID: Final = "I moved to Lisbon last week, and I am looking for a flat near the river."
Known = dict[str, list[Memory]]
"""The memories of each user."""
Ways = Callable[[], dict[str, Ask]]
"""Returns what can be asked, by name; called in the loop that asks."""


def _question(number: int, known: Known) -> tuple[str, str]:
    """Return who asks and what: some words of what is known of them, another question each time."""
    user = list(known)[number % len(known)]
    memory = known[user][(number * 7) % len(known[user])]
    return user, f"{number} {' '.join(memory.summary.split()[1:7])}"


async def measured(
    who: str, ways: Ways, rates: Sequence[int], seconds: float, cpu: Callable[[], float] | None = None
) -> list[Row]:
    rows = []
    for what, ask in ways().items():
        for _ in range(_WARM_ROUNDS):
            # Threads, connections and caches of every process are there before the clock runs.
            await asyncio.gather(*(ask(-1 - number) for number in range(THREADS)))
        rows += [await offered(who, what, rate, seconds, ask, cpu=cpu) for rate in rates]
    return rows


def asked_over_http(url: str, key: str, known: Known) -> Ways:
    def ways() -> dict[str, Ask]:
        client = _client(url, key)

        async def turn(number: int) -> bool:
            user, _ = _question(number, known)
            body = {"user_id": user, "turn_id": uuid.uuid4().hex, "messages": [{"role": "user", "content": _SAID}]}
            return (await client.post("/api/v1/turns", json=body)).status_code == 202

        async def search(number: int) -> bool:
            user, question = _question(number, known)
            about = {"query": question, "user_id": user}
            return (await client.get("/api/v1/memories/search", params=about)).is_success

        async def context(number: int) -> bool:
            user, question = _question(number, known)
            about = {"question": question, "user_id": user}
            return (await client.get(f"/api/v1/subjects/{user}/context", params=about)).is_success

        return {"turn": turn, "search": search, "context": context}

    return ways


def asked_in_process(memory: MemoryContext, known: Known, stack: ExitStack) -> Ways:
    def ways() -> dict[str, Ask]:
        threads = stack.enter_context(ThreadPoolExecutor(THREADS))
        producer = stack.enter_context(Producer(memory.settings))

        def on_thread(work: Callable[[Subject, str], object]) -> Ask:
            async def ask(number: int) -> bool:
                user, question = _question(number, known)
                subject = Subject(tenant_id=TENANT, subject_id=user)
                await asyncio.get_running_loop().run_in_executor(threads, work, subject, question)
                return True

            return ask

        async def turn(number: int) -> bool:
            user, _ = _question(number, known)
            said = [{"role": "user", "content": _SAID}]
            return bool(await producer.enqueue_async(tenant_id=TENANT, user_id=user, messages=said))

        def search(subject: Subject, question: str) -> object:
            return retrieve(_BACKEND, [subject], question, memory, now=datetime.now(UTC))

        def context(subject: Subject, question: str) -> object:
            return context_block(_BACKEND, [subject], question, memory, now=datetime.now(UTC))

        return {"turn": turn, "search": on_thread(search), "context": on_thread(context)}

    return ways


def asked_of_mem0(url: str, key: str, known: Known) -> Ways:
    def ways() -> dict[str, Ask]:
        client = _client(url, key)

        async def turn(number: int) -> bool:
            user, _ = _question(number, known)
            body = {"user_id": user, "messages": [{"role": "user", "content": _SAID}]}
            return (await client.post("/memories", json=body)).is_success

        async def search(number: int) -> bool:
            user, question = _question(number, known)
            about = {"query": question, "filters": {"user_id": user}}
            return (await client.post("/search", json=about)).is_success

        return {"turn": turn, "search": search}

    return ways


def _client(url: str, key: str) -> httpx.AsyncClient:
    limits = httpx.Limits(max_connections=None, max_keepalive_connections=THREADS)
    return httpx.AsyncClient(base_url=url, headers={"X-API-Key": key}, timeout=300, limits=limits)
