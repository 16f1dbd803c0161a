"""Answer of a worker that is asked how it is: a remote control command of Celery's, for `afterturn status`.

It is answered beside the slots, so also by a worker whose slots are all busy.
"""

from __future__ import annotations

from typing import Any

from celery.worker import state
from celery.worker.control import inspect_command
from prometheus_client import Gauge

from memory.metrics import breaker_states
from stores.catalog.head import HEAD
from stores.queue import IN_HAND
from worker.gauges import OLDEST_IN_HAND, SLOTS


def busy() -> int:
    """Return how many tasks this worker has in hand."""
    return len(state.active_requests)


@inspect_command(name=IN_HAND)
def in_hand(_state: Any) -> dict[str, Any]:
    """Return how many tasks this worker has in hand, of how many it could, since when, which revision of
    the tables it knows, and which circuits are not closed."""
    return {
        "busy": busy(),
        "slots": round(_value(SLOTS)),
        "oldest_seconds": round(_value(OLDEST_IN_HAND), 3),
        "revision": HEAD,
        "breakers": {part: state.name.lower() for part, state in breaker_states().items()},
    }


def _value(gauge: Gauge) -> float:
    [metric] = gauge.collect()
    return metric.samples[0].value
