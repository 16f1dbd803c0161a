"""The language model within the fleet's caps: what comes back, what is asked again, who waits."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import pytest
from pydantic import BaseModel
from redis import Redis

from schema.errors import (
    BrokerFailed,
    CircuitOpen,
    LLMAnswerCut,
    LLMAnswerInvalid,
    LLMBusy,
    LLMThrottled,
    LLMUnavailable,
)
from schema.settings import Settings
from stores.breaker import CircuitBreaker
from stores.llm import LLM, Call, Reply
from stores.llm.call_limiter import CallLimiter
from stores.redis import open_redis
from tests.conftest import free_port


class City(BaseModel):
    city: str


class Scripted:
    """A provider that answers what it was given, in turn, and remembers what it was asked."""

    name = "scripted"

    def __init__(self, *answers: str | Exception | Reply) -> None:
        self._answers = list(answers)
        self.prompts: list[str] = []

    def reply(self, prompt: str, schema: dict[str, Any]) -> Reply:
        self.prompts.append(prompt)
        answer = self._answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        if isinstance(answer, Reply):
            return answer
        return Reply(answer, prompt_tokens=10, completion_tokens=2)


@pytest.fixture
def redis(broker_url: str) -> Iterator[Redis]:
    client = Redis.from_url(broker_url)
    client.flushdb()
    yield client
    client.close()


def open_limiter(redis: Redis) -> CallLimiter:
    return CallLimiter(redis, concurrency=0, per_minute=0, call_seconds=10)


def llm(redis: Redis, provider: Scripted, calls: list[Call] | None = None) -> LLM:
    breaker = CircuitBreaker("llm", (LLMUnavailable,), threshold=2)
    return LLM(provider, open_limiter(redis), breaker, (calls if calls is not None else []).append)


def test_a_valid_answer_comes_back_as_a_value_with_its_tokens(redis: Redis) -> None:
    completion = llm(redis, Scripted('{"city": "Berlin", "unknown": 1}')).complete("where?", City)
    assert completion.answer == City(city="Berlin")
    assert (completion.prompt_tokens, completion.completion_tokens) == (10, 2)


@pytest.mark.parametrize("nonsense", ['{"city": "Ber', "I think it is Berlin.", '{"city": 7}', "", "[]"])
def test_nonsense_is_asked_once_more_with_the_error(redis: Redis, nonsense: str) -> None:
    provider = Scripted(nonsense, '{"city": "Berlin"}')
    completion = llm(redis, provider).complete("where?", City)
    assert completion.answer.city == "Berlin"
    assert completion.prompt_tokens == 20
    assert provider.prompts[1].startswith("where?\n")
    assert "not valid" in provider.prompts[1]


@pytest.mark.parametrize(
    "said",
    [
        '```json\n{"city": "Berlin"}\n```',
        'Here is what I found:\n\n```\n{"city": "Berlin"}\n```\nAnything else?',
        '{"city": "Berlin"} I hope this helps {you}!',
        '<think>\nA {city}? {"city": "Rome"} would be wrong.\n</think>\n\n{"city": "Berlin"}',
        'It may be Rome.</think>{"city": "Berlin"}',
    ],
)
def test_what_models_put_around_an_answer_costs_no_second_call(redis: Redis, said: str) -> None:
    assert llm(redis, Scripted(said)).complete("where?", City).answer.city == "Berlin"


@pytest.mark.parametrize("said", ['<think>{"city": "Rome"}', 'Not {this}: {"city": "Berlin"}', "{" * 100_000])
def test_what_may_be_a_thought_or_a_part_of_an_answer_is_none(redis: Redis, said: str) -> None:
    with pytest.raises(LLMAnswerInvalid):
        llm(redis, Scripted(said, said)).complete("where?", City)


def test_nonsense_twice_is_a_failed_call(redis: Redis) -> None:
    provider = Scripted("no", "still no", '{"city": "never asked for"}')
    with pytest.raises(LLMAnswerInvalid):
        llm(redis, provider).complete("where?", City)
    assert len(provider.prompts) == 2


def test_every_call_is_told_of(redis: Redis) -> None:
    calls: list[Call] = []
    guarded = llm(redis, Scripted(LLMUnavailable("throttled"), '{"city": "Berlin"}'), calls)
    with pytest.raises(LLMUnavailable):
        guarded.complete("where?", City)
    guarded.complete("where?", City)
    assert [call.outcome for call in calls] == ["LLMUnavailable", "answered"]


def test_a_provider_that_keeps_failing_is_left_alone(redis: Redis) -> None:
    provider = Scripted(LLMUnavailable("down"), LLMUnavailable("down"), '{"city": "never asked for"}')
    guarded = llm(redis, provider)
    for _ in range(2):
        with pytest.raises(LLMUnavailable):
            guarded.complete("where?", City)
    with pytest.raises(CircuitOpen):
        guarded.complete("where?", City)
    assert len(provider.prompts) == 2


def test_the_fleet_has_no_more_calls_under_way_than_it_may(redis: Redis) -> None:
    limiters = [CallLimiter(redis, concurrency=3, per_minute=0, call_seconds=10) for _ in range(8)]
    lock, at_once, most, over = threading.Lock(), 0, 0, threading.Barrier(3)

    def call(limiter: CallLimiter, waits: bool) -> None:
        nonlocal at_once, most
        with limiter.slot(patience=30):
            with lock:
                at_once += 1
                most = max(most, at_once)
            if waits:
                over.wait(10)
            with lock:
                at_once -= 1

    threads = [threading.Thread(target=call, args=(limiter, number < 3)) for number, limiter in enumerate(limiters)]
    for thread in threads[:3]:
        thread.start()
    for thread in threads[:3]:
        thread.join()
    for thread in threads[3:]:
        thread.start()
    for thread in threads[3:]:
        thread.join()
    assert most == 3


def test_who_finds_no_place_in_time_is_told_that_the_fleet_is_busy(redis: Redis) -> None:
    limiter = CallLimiter(redis, concurrency=1, per_minute=0, call_seconds=10)
    with limiter.slot(patience=0), pytest.raises(LLMBusy), limiter.slot(patience=0.1):
        pytest.fail("two are in a limiter for one")
    with limiter.slot(patience=0):
        pass


def test_the_fleet_starts_no_more_calls_a_minute_than_it_may(redis: Redis) -> None:
    limiter = CallLimiter(redis, concurrency=0, per_minute=2, call_seconds=10)
    for _ in range(2):
        with limiter.slot(patience=0):
            pass
    with pytest.raises(LLMBusy), limiter.slot(patience=0):
        pytest.fail("a third call in the same minute")


def test_a_call_whose_worker_died_gives_its_place_back(redis: Redis) -> None:
    dead = CallLimiter(redis, concurrency=1, per_minute=0, call_seconds=0.2)
    entered = dead.slot(patience=0)
    entered.__enter__()
    with CallLimiter(redis, concurrency=1, per_minute=0, call_seconds=10).slot(patience=5):
        pass


def test_the_caps_leave_no_key_without_expiry(redis: Redis) -> None:
    with CallLimiter(redis, concurrency=1, per_minute=5, call_seconds=10).slot(patience=0):
        assert [key for key in redis.scan_iter() if redis.ttl(key) == -1] == []


def test_a_throttled_call_is_tried_again_on_the_spot(redis: Redis) -> None:
    calls: list[Call] = []
    provider = Scripted(LLMThrottled("429"), LLMThrottled("429"), '{"city": "Berlin"}')
    assert llm(redis, provider, calls).complete("where?", City).answer.city == "Berlin"
    assert [call.outcome for call in calls] == ["LLMThrottled", "LLMThrottled", "answered"]


def test_a_provider_that_asks_for_a_long_pause_is_not_tried_on_the_spot(redis: Redis) -> None:
    provider = Scripted(LLMThrottled("429", retry_after=20), '{"city": "never asked for"}')
    with pytest.raises(LLMThrottled):
        llm(redis, provider).complete("where?", City)
    assert len(provider.prompts) == 1


def test_throttling_opens_no_circuit(redis: Redis) -> None:
    asked = llm(redis, Scripted(*[LLMThrottled("429", retry_after=20)] * 5, '{"city": "Berlin"}'))
    for _ in range(5):
        with pytest.raises(LLMThrottled):
            asked.complete("where?", City)
    assert asked.complete("where?", City).answer.city == "Berlin"


def test_an_answer_that_is_cut_off_is_not_asked_for_again_as_it_is(redis: Redis) -> None:
    provider = Scripted(Reply('{"city": "Ber', is_cut=True), '{"city": "never asked for"}')
    with pytest.raises(LLMAnswerCut):
        llm(redis, provider).complete("where?", City)
    assert len(provider.prompts) == 1


def end(limiter: CallLimiter, calls: int, *, throttled: bool) -> None:
    """Have so many calls under way at once, and end them all alike."""
    entered = [limiter.slot(patience=0) for _ in range(calls)]
    for slot in entered:
        slot.__enter__()
    for slot in entered:
        slot.__exit__(*((LLMThrottled, LLMThrottled("429"), None) if throttled else (None, None, None)))


def places(limiter: CallLimiter, most: int = 64) -> int:
    """How many calls the fleet may have under way now."""
    entered = []
    try:
        for _ in range(most):
            slot = limiter.slot(patience=-1)
            slot.__enter__()
            entered.append(slot)
    except LLMBusy:
        pass
    for slot in entered:
        # Neither answered nor throttled: it says nothing.
        slot.__exit__(LLMUnavailable, LLMUnavailable("away"), None)
    return len(entered)


def windows_later(redis: Redis) -> None:
    """Let the time pass after which the cap is looked at."""
    if redis.hexists("afterturn:llm:pace", "since"):
        redis.hset("afterturn:llm:pace", "since", 0)


def test_the_fleets_cap_goes_down_by_a_factor_while_most_calls_are_throttled_and_up_by_one_when_not(
    redis: Redis,
) -> None:
    ours, theirs = open_limiter(redis), open_limiter(redis)
    assert places(ours) == 64
    end(ours, 19, throttled=True)
    windows_later(redis)
    end(ours, 1, throttled=True)
    assert places(theirs) == 13
    end(theirs, 12, throttled=False)
    windows_later(redis)
    end(theirs, 1, throttled=False)
    assert places(ours) == 14


def test_a_cap_that_binds_nobody_is_gone(redis: Redis) -> None:
    limiter = open_limiter(redis)
    redis.hset("afterturn:llm:pace", "cap", 12)
    end(limiter, 5, throttled=False)
    windows_later(redis)
    end(limiter, 1, throttled=False)
    assert places(limiter) == 64


def test_one_call_in_five_throttled_holds_nobody_back(redis: Redis) -> None:
    limiter = open_limiter(redis)
    for _ in range(4):
        end(limiter, 8, throttled=False)
        end(limiter, 2, throttled=True)
        windows_later(redis)
    assert places(limiter) == 64


def test_one_call_is_always_tried(redis: Redis) -> None:
    limiter = open_limiter(redis)
    for _ in range(30):
        end(limiter, 1, throttled=True)
        windows_later(redis)
    assert places(limiter) == 1


def test_a_broker_that_is_away_stops_no_call_that_the_settings_do_not_bound() -> None:
    dead_port = free_port()
    away = open_redis(Settings(broker_url=f"redis://127.0.0.1:{dead_port}/0"), timeout=0.2, retries=0)
    with CallLimiter(away, concurrency=0, per_minute=0, call_seconds=10).slot(patience=0):
        pass
    with pytest.raises(BrokerFailed), CallLimiter(away, concurrency=1, per_minute=0, call_seconds=10).slot(patience=0):
        pytest.fail("a call that nobody counts")
