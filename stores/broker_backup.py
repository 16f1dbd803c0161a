"""Read what the broker holds and the catalog does not yet, so that no turn slips through, and put it back.

A turn goes from a queue over a worker's hands into a mailbox, and from there into the catalog or to the dead letters.
Each place is read at one moment, in that direction, and what may move backwards is read twice, so that a turn which
moves meanwhile is found in one place or in several, and never in none. What is found twice does no harm: a turn takes
effect once (docs/decisions/0023-a-backup-copies-the-broker-first.md).
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from typing import Any, cast

from redis import Redis

from schema import Subject
from schema.backup import WaitingMessage, WaitingTurn
from stores.dead_letters import letter_of, read_all_letters
from stores.mailbox import Mailbox
from stores.queue import DEAD_LETTER_QUEUE, INGEST_QUEUE
from stores.queued_turns import INGEST_LISTS, message_of

QUEUES_OF_TURNS = (*INGEST_LISTS, DEAD_LETTER_QUEUE)
"""The lists in which messages wait that a backup holds."""
_BETWEEN_LOOKS = 0.5
"""Seconds between two looks into the queue. A message is nowhere in Redis from when a worker has popped it until it is
noted as in that worker's hands: about a millisecond. One that is so at the first look is found at the second."""


def read_waiting(redis: Redis, mailbox: Mailbox) -> Iterator[WaitingTurn | WaitingMessage]:
    """Yield all turns that wait when this is called, mailbox by mailbox in order; messages first, dead letters last.

    The catalog must be copied after the last one: what left a mailbox before it was read is there.
    """
    messages = _messages(redis)
    letters = dict.fromkeys(read_all_letters(redis))
    time.sleep(_BETWEEN_LOOKS)
    messages |= _messages(redis)
    yield from messages.values()
    for subject in mailbox.subjects():
        for parked in mailbox.in_order(subject):
            yield WaitingTurn(
                **subject.model_dump(), turn_id=parked.turn_id, body=parked.body, arrived_at=parked.enqueued_at
            )
    # Replayed meanwhile, a letter is a turn of a mailbox that may have been read before: the first look has it.
    letters |= dict.fromkeys(read_all_letters(redis))
    yield from (WaitingMessage(queue=DEAD_LETTER_QUEUE, message=letter.decode()) for letter in letters)


def put_back(redis: Redis, message: WaitingMessage) -> None:
    """Put a message behind the others of its queue."""
    redis.lpush(message.queue, message.message)


def turn_in(message: WaitingMessage) -> Any:
    """Return the turn of a message or of a dead letter as it came, a JSON value or a text; None where it has none."""
    text = message.message.encode()
    return letter_of(text).turn if message.queue == DEAD_LETTER_QUEUE else message_of(text)[1]


def count_waiting_messages(redis: Redis) -> int:
    """Return how many messages lie in the queues of turns and of dead letters, or in the hands of workers."""
    lists = sum(redis.llen(name) for name in QUEUES_OF_TURNS)
    return lists + redis.hlen("unacked")


def subject_of(waiting: WaitingTurn) -> Subject:
    """Return whose turn it is."""
    return Subject(tenant_id=waiting.tenant_id, subject_id=waiting.subject_id)


def _messages(redis: Redis) -> dict[str, WaitingMessage]:
    """Return the messages with turns, by their ids: of the queue and of workers' hands at one moment."""
    pipeline = redis.pipeline(transaction=True)
    for name in INGEST_LISTS:
        pipeline.lrange(name, 0, -1)
    pipeline.hvals("unacked")
    *lists, in_hand = cast(list[list[bytes]], pipeline.execute())
    messages: dict[str, WaitingMessage] = {}
    for entry in in_hand:
        envelope: Any = json.loads(entry)[0]
        id_, turn = message_of(json.dumps(envelope).encode())
        if turn is not None:
            messages[id_] = WaitingMessage(queue=INGEST_QUEUE, message=json.dumps(envelope))
    for name, texts in zip(INGEST_LISTS, lists, strict=True):
        for text in reversed(texts):
            id_, turn = message_of(text)
            # What is no message of a task is kept too: a worker makes a dead letter of it.
            if turn is not None or not id_:
                messages.setdefault(
                    id_ or text.decode(errors="replace"), WaitingMessage(queue=name, message=text.decode())
                )
    return messages
