"""The dead letter queue, read and emptied by hand: it has no consumer.

Only here is it known how a Celery message lies in a Redis list.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any, cast

from redis import Redis

from stores.queue import DEAD_LETTER_QUEUE

_PAGE = 500


@dataclass(frozen=True)
class DeadLetter:
    """A turn that could not be processed, whole, with the reason.

    `turn` is a JSON value as it came, or its text where it was none; `turn_id` is None where it named none.
    """

    id: str
    turn_id: str | None
    reason: str
    at: datetime
    turn: Any
    message: bytes


def count_dead_letters(redis: Redis) -> int:
    """Return how many there are."""
    return redis.llen(DEAD_LETTER_QUEUE)


def read_dead_letters(redis: Redis) -> Iterator[DeadLetter]:
    """Yield all of them, oldest first. One that comes or goes meanwhile may be missed or seen."""
    messages = cast(list[bytes], redis.lrange(DEAD_LETTER_QUEUE, -_PAGE, -1))
    end = -1
    while messages:
        for message in reversed(messages):
            yield _dead_letter(message)
        end -= _PAGE
        messages = cast(list[bytes], redis.lrange(DEAD_LETTER_QUEUE, end - _PAGE + 1, end))


def read_all_letters(redis: Redis) -> list[bytes]:
    """Return the messages of all of them at one moment, oldest first."""
    return cast(list[bytes], redis.lrange(DEAD_LETTER_QUEUE, 0, -1))[::-1]


def latest_dead_letters(redis: Redis, limit: int) -> list[DeadLetter]:
    """Return the last ones, newest first."""
    return [_dead_letter(message) for message in cast(list[bytes], redis.lrange(DEAD_LETTER_QUEUE, 0, limit - 1))]


def remove_dead_letter(redis: Redis, letter: DeadLetter) -> bool:
    """Take one out of the queue; False if it was gone already."""
    return bool(redis.lrem(DEAD_LETTER_QUEUE, 1, letter.message.decode()))


def _dead_letter(message: bytes) -> DeadLetter:
    envelope = json.loads(message)
    [letter], _, _ = json.loads(base64.b64decode(envelope["body"]))
    return DeadLetter(
        id=envelope["headers"]["id"],
        turn_id=letter["turn_id"],
        reason=letter["reason"],
        at=datetime.fromisoformat(letter["at"]),
        turn=letter["turn"],
        message=message,
    )
