"""Turns and documents that came as plain messages and wait in a queue, found by whose they are: for erasures.

A sender may name another queue than that of turns, and any priority: all lists are looked through.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any, cast

from redis import Redis

from stores.celery_messages import LISTS, arguments_of
from stores.queue import INGEST_QUEUE, WORDLESS_TASKS

_PAGE = 500
INGEST_LISTS = (INGEST_QUEUE, *(f"{INGEST_QUEUE}\x06\x16{priority}" for priority in (3, 6, 9)))
"""Where kombu puts messages on Redis, by their priority; a sender may set one."""


IsMeant = Callable[[str, Any], bool]
"""Gets a message's id, and a turn as it came."""


def find_messages(redis: Redis, is_meant: Callable[[Any], bool]) -> dict[str, Any]:
    """Return the turns, in the queue or in the hands of workers, that are meant, by the ids of their messages."""
    return {id_: turn for id_, turn in _all(redis) if is_meant(turn)}


def drop_messages(redis: Redis, is_meant: IsMeant) -> int:
    """Take the turns out of the queue, and out of the hands of workers, that are meant, and answer how many.

    A worker that was killed would hold them until the broker gives them to another. For one that lives nothing changes:
    to take out what it has done, it finds it gone.
    """
    meant = [(name, message) for name, message in _messages(redis) if is_meant(*message_of(message))]
    dropped = sum(redis.lrem(name, 0, cast(Any, message)) for name, message in meant)
    held = [tag for tag, message in _in_hand(redis).items() if is_meant(*message_of(message))]
    if held:
        pipeline = redis.pipeline()
        pipeline.zrem("unacked_index", *held)
        pipeline.hdel("unacked", *held)
        dropped += cast(int, pipeline.execute()[-1])
    return dropped


def count_messages(redis: Redis, is_meant: IsMeant) -> int:
    """Return how many turns in the queue, or in the hands of workers, are meant."""
    return sum(is_meant(*message) for message in _all(redis))


def _all(redis: Redis) -> Iterator[tuple[str, Any]]:
    queued = (message for _, message in _messages(redis))
    yield from (message_of(message) for message in (*queued, *_in_hand(redis).values()))


def _in_hand(redis: Redis) -> dict[bytes, bytes]:
    """Return the messages that workers took and have not done yet, by the tags under which kombu keeps them."""
    held = cast(dict[bytes, bytes], redis.hgetall("unacked"))
    return {tag: json.dumps(json.loads(message)[0]).encode() for tag, message in held.items()}


def _messages(redis: Redis) -> Iterator[tuple[str, bytes]]:
    """Yield the messages, each with the list that it lies in."""
    for name in LISTS:
        start = 0
        while page := cast(list[bytes], redis.lrange(name, start, start + _PAGE - 1)):
            yield from ((name, message) for message in page)
            start += _PAGE


def message_of(message: bytes) -> tuple[str, Any]:
    """Return a message's id, and its turn, its document or, where it cannot be read, its text; what is given to a task
    that nobody here knows, of which a worker makes a dead letter; nothing for a task of ours that bears no words."""
    id_, task, turn = arguments_of(message)
    return id_, None if task in WORDLESS_TASKS else turn
