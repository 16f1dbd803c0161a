"""What one user with a long life costs those who talk beside them: the others' p95 with them, over that without them.

    python -m benchmarks.costly_user

One worker, no language model. 200 others take turns at a steady rate, below what the worker can do; in every other
round the costly user talks beside them and is condensed, as often as they are asked for. Lag is from the turn's arrival
in its mailbox to its commit. The rounds alternate in one run, so that a noisy machine is in both.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import Annotated

import typer
from redis import Redis
from rich.console import Console

from benchmarks.processes import running, wait_for
from interfaces.local.broker import embedded_broker
from interfaces.local.progress import percentile
from producers import Producer
from schema.settings import Settings, load_settings
from stores.catalog import Catalog, open_catalog
from stores.queue import create_celery, open_mailbox, request_condensing
from tests.conftest import free_port
from tests.fleet.costly import COSTLY, fill, lags_of_others, turn

console = Console()
_OTHERS = 200
_TURNS = 150
"""Of the others, a round."""


def main(
    episodes: Annotated[int, typer.Option(help="What the costly user has told.", min=1)] = 20_000,
    a_second: Annotated[float, typer.Option(help="Turns of the others a second.", min=0.1)] = 5.0,
    costly: Annotated[float, typer.Option(help="Turns of the costly user a second.", min=0.0)] = 1.0,
    rounds: Annotated[int, typer.Option(help="Rounds with them, and as many without.", min=1)] = 4,
) -> None:
    """Measure what a costly user costs the others. Takes some minutes."""
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        url = f"redis://127.0.0.1:{free_port()}/0"
        os.environ |= {"AFTERTURN_BROKER_URL": url, "AFTERTURN_DATA_DIR": folder, "AFTERTURN_LOG_LEVEL": "error"}
        # How fast a turn is taken is measured elsewhere: a machine that is busy must not refuse one here.
        os.environ["AFTERTURN_ENQUEUE_BUDGET_MS"] = "5000"
        settings = load_settings()
        stack.enter_context(embedded_broker(url, Path(folder) / "broker"))
        catalog = stack.enter_context(closing(open_catalog(settings)))
        fill(settings, episodes)
        stack.enter_context(running(["-m", "interfaces.cli", "worker"], dict(os.environ)))
        producer = stack.enter_context(Producer(settings))
        celery = create_celery(settings)
        wait_for(lambda: bool(celery.control.ping(timeout=0.5)))
        numbers = count()
        _round(settings, catalog, producer, numbers, a_second, 0.0)
        alone, beside = list[float](), list[float]()
        for _ in range(rounds):
            alone += _round(settings, catalog, producer, numbers, a_second, 0.0)
            beside += _round(settings, catalog, producer, numbers, a_second, costly)
    for name, lags in (("alone", alone), ("beside the costly user", beside)):
        lags.sort()
        console.print(
            f"{name}: {len(lags)} turns, p50 {percentile(lags, 0.5):.3f} s, p95 {percentile(lags, 0.95):.3f} s"
        )
    ratio = percentile(beside, 0.95) / percentile(alone, 0.95)
    console.print(f"p95 beside over alone: {ratio:.2f} (load {os.getloadavg()[0]:.1f})")


def _round(
    settings: Settings, catalog: Catalog, producer: Producer, numbers: Iterator[int], a_second: float, costly: float
) -> list[float]:
    """Let the others talk, the costly user beside them where `costly` is their rate; return the others' lags."""
    with closing(Redis.from_url(settings.broker_url)) as redis:
        celery = create_celery(settings)
        mailbox = open_mailbox(settings, redis, celery)
        due = [(number / a_second, f"other{next(numbers) % _OTHERS}") for number in range(_TURNS)]
        due += [(number / costly, COSTLY.subject_id) for number in range(int(_TURNS / a_second * costly))]
        before = sum(catalog.count_turns().values())
        since, begun = datetime.now(UTC), time.monotonic()
        for at, user in sorted(due):
            time.sleep(max(0.0, begun + at - time.monotonic()))
            if user == COSTLY.subject_id:
                request_condensing(celery, COSTLY)
            producer.enqueue(turn(user, next(numbers)))
        wait_for(lambda: mailbox.pending_subjects() == 0 and sum(catalog.count_turns().values()) - before >= len(due))
    return lags_of_others(settings, since)


if __name__ == "__main__":
    typer.run(main)
