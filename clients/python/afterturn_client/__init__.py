"""The client of an Afterturn service: turns in, within 50 ms whatever the service does; memories out."""

from afterturn_client.aio import AsyncClient
from afterturn_client.client import Client
from afterturn_client.enqueuer import Enqueued
from afterturn_client.errors import (
    AfterturnError,
    Conflict,
    ConflictingTurn,
    Forbidden,
    Invalid,
    InvalidTurn,
    NotConnected,
    NotFound,
    PreconditionFailed,
    Problem,
    RequestFailed,
    SpoolFull,
    SpoolUnavailable,
    Unauthorized,
    Unavailable,
)
from afterturn_client.model import Checked, Context, Event, Hit, Memory, Preferences, Proof, Remembered
from afterturn_client.spool import Accepted, Depth, Rejected

__all__ = [
    "Accepted",
    "AfterturnError",
    "AsyncClient",
    "Checked",
    "Client",
    "Conflict",
    "ConflictingTurn",
    "Context",
    "Depth",
    "Enqueued",
    "Event",
    "Forbidden",
    "Hit",
    "Invalid",
    "InvalidTurn",
    "Memory",
    "NotConnected",
    "NotFound",
    "PreconditionFailed",
    "Preferences",
    "Problem",
    "Proof",
    "Rejected",
    "Remembered",
    "RequestFailed",
    "SpoolFull",
    "SpoolUnavailable",
    "Unauthorized",
    "Unavailable",
]
