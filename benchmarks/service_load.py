"""Requests that come at their moments, whether or not those before are answered, and how long each takes from there."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from interfaces.local.progress import percentile

Ask = Callable[[int], Awaitable[bool]]
"""Makes the request of a number, and answers whether it was answered as it should."""


@dataclass(frozen=True)
class Row:
    """What the requests of one kind took at one rate; milliseconds from the moment at which each was due."""

    who: str
    what: str
    rate: int
    milliseconds: list[float]
    failed: int
    cpu_ms: float | None
    """CPU of the server a request; None where it shares a process with whoever asks."""

    @property
    def cells(self) -> list[str]:
        spread = [f"{percentile(self.milliseconds, share):.1f}" for share in (0.5, 0.95, 0.99)]
        cpu = "" if self.cpu_ms is None else f"{self.cpu_ms:.1f}"
        return [self.what, str(self.rate), self.who, *spread, cpu, str(self.failed)]


async def offered(
    who: str, what: str, rate: int, seconds: float, ask: Ask, *, cpu: Callable[[], float] | None = None
) -> Row:
    """Make `rate` requests a second for some seconds, evenly at random, and measure them."""
    chance = random.Random(rate)
    due = sorted(chance.uniform(0, seconds) for _ in range(round(rate * seconds)))
    milliseconds: list[float] = []
    failed = 0
    cpu_before = cpu() if cpu else 0.0
    started = time.perf_counter()

    async def ask_at(number: int, moment: float) -> None:
        nonlocal failed
        await asyncio.sleep(started + moment - time.perf_counter())
        try:
            is_right = await ask(number)
        except Exception:  # noqa: BLE001 - whatever it is, it is no answer
            is_right = False
        milliseconds.append((time.perf_counter() - started - moment) * 1000)
        failed += not is_right

    await asyncio.gather(*(ask_at(number, moment) for number, moment in enumerate(due)))
    spent = (cpu() - cpu_before) * 1000 / len(due) if cpu else None
    return Row(who, what, rate, sorted(milliseconds), failed, spent)
