"""Buckets of tokens on a real Redis."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from itertools import count

import pytest
from redis import Redis

from schema.errors import BrokerOutage
from schema.settings import Settings
from stores.rates import TokenBuckets
from stores.rates.buckets import PREFIX
from stores.redis import open_redis

_names = (f"key_{number}:read" for number in count())


@pytest.fixture
def redis(broker_url: str) -> Iterator[Redis]:
    redis = open_redis(Settings(broker_url=broker_url))
    yield redis
    redis.close()


def set_back(name: str, seconds: float, redis: Redis) -> None:
    """Let a bucket believe that it was used last so many seconds earlier."""
    at = int(redis.hget(PREFIX + name, "at") or 0)
    redis.hset(PREFIX + name, "at", f"{at - seconds * 1e6:.0f}")


def test_a_bucket_gives_what_it_holds_and_then_says_when_there_is_more(redis: Redis) -> None:
    buckets, name = TokenBuckets(redis), next(_names)
    assert [buckets.take(name, 3).tokens_left for _ in range(3)] == [2, 1, 0]
    refused = buckets.take(name, 3)
    assert not refused.is_allowed
    assert 0 < refused.next_in <= 20


def test_a_bucket_fills_steadily_and_never_over(redis: Redis) -> None:
    buckets, name = TokenBuckets(redis), next(_names)
    while buckets.take(name, 6).is_allowed:
        pass
    set_back(name, 20.5, redis)
    assert [buckets.take(name, 6).is_allowed for _ in range(3)] == [True, True, False]
    set_back(name, 3600, redis)
    assert buckets.take(name, 6).tokens_left == 5


def test_one_name_takes_nothing_from_another(redis: Redis) -> None:
    buckets = TokenBuckets(redis)
    mine, yours = next(_names), next(_names)
    assert buckets.take(mine, 1).is_allowed
    assert not buckets.take(mine, 1).is_allowed
    assert buckets.take(yours, 1).is_allowed


def test_many_who_ask_at_once_get_no_more_than_there_is(redis: Redis) -> None:
    buckets, name = TokenBuckets(redis), next(_names)
    given: list[bool] = []
    # One token a second comes meanwhile: what the ten ask for at once is far more.
    askers = [
        threading.Thread(target=lambda: given.extend(buckets.take(name, 60).is_allowed for _ in range(20)))
        for _ in range(10)
    ]
    for asker in askers:
        asker.start()
    for asker in askers:
        asker.join()
    assert len(given) == 200
    assert 60 <= sum(given) <= 90


def test_a_limit_that_was_lowered_counts_at_once(redis: Redis) -> None:
    buckets, name = TokenBuckets(redis), next(_names)
    assert buckets.take(name, 600).tokens_left == 599
    assert buckets.take(name, 10).tokens_left == 9


def test_a_bucket_that_nobody_uses_leaves_nothing_behind(redis: Redis) -> None:
    name = next(_names)
    TokenBuckets(redis).take(name, 60)
    assert 0 < redis.ttl(PREFIX + name) <= 60


def test_a_redis_that_is_away_is_an_outage() -> None:
    redis = open_redis(Settings(broker_url="redis://127.0.0.1:1/0"), timeout=0.2, retries=0)
    with pytest.raises(BrokerOutage):
        TokenBuckets(redis).take("key_1:read", 60)
