"""The mailbox: the pending turns of one subject, in order, held by one worker at a time."""

from stores.mailbox.mailbox import (
    ANY_NUMBER,
    Appended,
    Batch,
    Depths,
    Lease,
    Mailbox,
    ParkedTurn,
    Receipt,
    TurnQuota,
    key_of,
)

__all__ = [
    "ANY_NUMBER",
    "Appended",
    "Batch",
    "Depths",
    "Lease",
    "Mailbox",
    "ParkedTurn",
    "Receipt",
    "TurnQuota",
    "key_of",
]
