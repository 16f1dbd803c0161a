"""The ways in."""

from producers.client import InvalidTurn, Producer, default_producer, enqueue, enqueue_async, parse_turn
from producers.counting import Accepted, Counters
from producers.spool import SpoolFull, SpoolUnavailable
from stores.mailbox import ConflictingTurn

__all__ = [
    "Accepted",
    "ConflictingTurn",
    "Counters",
    "InvalidTurn",
    "Producer",
    "SpoolFull",
    "SpoolUnavailable",
    "default_producer",
    "enqueue",
    "enqueue_async",
    "parse_turn",
]
