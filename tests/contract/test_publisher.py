"""What a producer sends without Celery is what Celery would send."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, cast

from redis import Redis

from producers import Producer
from schema import Turn
from schema.settings import Settings
from stores.queue import INGEST_QUEUE, create_celery, send_turn
from tests.fleet.fleet import wait_until
from tests.turns import a_turn


def message_on(redis: Redis) -> dict[str, Any]:
    """Return the message on the queue. It is sent after `enqueue` returned."""
    wait_until(lambda: bool(redis.llen(INGEST_QUEUE)), "the message is sent")
    sent: dict[str, Any] = json.loads(cast(bytes, redis.lindex(INGEST_QUEUE, 0)))
    return sent


def test_a_producer_without_celery_sends_the_message_that_celery_would_send(broker_url: str, tmp_path: Path) -> None:
    settings = Settings(broker_url=broker_url, data_dir=tmp_path, enqueue_budget_ms=10_000)
    redis = Redis.from_url(broker_url)
    redis.flushdb()
    turn = a_turn("anna", 1, "I live in Lisbon.")
    with Producer(settings) as producer:
        producer.enqueue(turn)
        ours = message_on(redis)
    redis.delete(INGEST_QUEUE)
    send_turn(create_celery(settings), Turn.model_validate(turn))
    celerys = message_on(redis)
    for sent in (ours, celerys):
        # Of each message its own.
        del sent["headers"]["id"], sent["headers"]["root_id"]
        del sent["properties"]["correlation_id"], sent["properties"]["delivery_tag"]
    # Celery's own bookkeeping for groups and stamps, where replies would go, and what it has twice.
    for name in celerys["headers"].keys() - ours["headers"].keys():
        assert not celerys["headers"].pop(name), name
    del celerys["properties"]["reply_to"]
    for name in ("argsrepr", "kwargsrepr"):
        assert celerys["properties"].pop(name) == ours["headers"][name]
    assert ours == celerys
