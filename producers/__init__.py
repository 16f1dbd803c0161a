"""The ways in."""

from producers.client import Producer, default_producer, enqueue, enqueue_async, parse_turn
from producers.counting import Accepted, Counters
from schema.errors import ConflictingTurn, InvalidTurn, QuotaExceeded, SpoolFull, SpoolUnavailable

__all__ = [
    "Accepted",
    "ConflictingTurn",
    "Counters",
    "InvalidTurn",
    "Producer",
    "QuotaExceeded",
    "SpoolFull",
    "SpoolUnavailable",
    "default_producer",
    "enqueue",
    "enqueue_async",
    "parse_turn",
]
