"""The ways in."""

from memory.mailbox import Appended, ConflictingTurn
from producers.client import InvalidTurn, Producer, enqueue, parse_turn

__all__ = ["Appended", "ConflictingTurn", "InvalidTurn", "Producer", "enqueue", "parse_turn"]
