"""Gauges of a worker itself. Nothing of another program imports them: by these, workers are counted and missed."""

from __future__ import annotations

from prometheus_client import Gauge

SLOTS = Gauge("afterturn_worker_slots", "Tasks that this worker can have in hand.")
SLOTS_BUSY = Gauge("afterturn_worker_slots_busy", "Tasks that this worker has in hand.")
OLDEST_IN_HAND = Gauge(
    "afterturn_oldest_turn_in_hand_seconds", "For how long this worker has had its oldest batch in hand; 0 without one."
)
