"""The dead letter queue, read and emptied by hand: it has no consumer."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, cast

from redis import Redis

from stores.celery_messages import arguments_of
from stores.queue import DEAD_LETTER, DEAD_LETTER_QUEUE

_PAGE = 500
_FOREIGN = "no dead letter of this fleet: another sender put it onto the queue"
_LONG_AGO = datetime(1970, 1, 1, tzinfo=UTC)
"""When a message came that does not say so."""


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
            yield letter_of(message)
        end -= _PAGE
        messages = cast(list[bytes], redis.lrange(DEAD_LETTER_QUEUE, end - _PAGE + 1, end))


def read_all_letters(redis: Redis) -> list[bytes]:
    """Return the messages of all of them at one moment, oldest first."""
    return cast(list[bytes], redis.lrange(DEAD_LETTER_QUEUE, 0, -1))[::-1]


def latest_dead_letters(redis: Redis, limit: int) -> list[DeadLetter]:
    """Return the last ones, newest first."""
    return [letter_of(message) for message in cast(list[bytes], redis.lrange(DEAD_LETTER_QUEUE, 0, limit - 1))]


def remove_dead_letter(redis: Redis, letter: DeadLetter) -> bool:
    """Take one out of the queue; False if it was gone already."""
    return bool(redis.lrem(DEAD_LETTER_QUEUE, 1, cast(Any, letter.message)))


def letter_of(message: bytes) -> DeadLetter:
    """Return the dead letter that a message of the queue is."""
    id_, task, letter = arguments_of(message)
    is_ours = task == DEAD_LETTER and isinstance(letter, dict) and letter.keys() >= {"turn_id", "reason", "at", "turn"}
    at = _moment(letter["at"]) if is_ours else None
    if at is None:
        return DeadLetter(id_, None, _FOREIGN, _LONG_AGO, letter, message)
    return DeadLetter(
        id=id_.partition(":")[0],
        turn_id=letter["turn_id"],
        reason=letter["reason"],
        at=at,
        turn=letter["turn"],
        message=message,
    )


def _moment(text: Any) -> datetime | None:
    try:
        moment = datetime.fromisoformat(text)
    except (TypeError, ValueError):
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
