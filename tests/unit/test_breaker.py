"""The circuit breaker: closed, open, half open, and back."""

from __future__ import annotations

import threading

import pytest
from fakeredis import FakeRedis, FakeServer
from pydantic import BaseModel

from schema.errors import CircuitOpen, LLMUnavailable
from stores.breaker import CircuitBreaker, State
from stores.llm import LLM
from stores.llm.call_limiter import CallLimiter
from tests.scripted import Scripted


class Word(BaseModel):
    word: str


class Down(Exception):
    pass


class Part:
    """A part that is up or down, and counts how often it was asked."""

    def __init__(self) -> None:
        self.up = True
        self.asked = 0

    def __call__(self) -> str:
        self.asked += 1
        if not self.up:
            raise Down
        return "done"


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def part() -> Part:
    return Part()


@pytest.fixture
def states() -> list[State]:
    return []


@pytest.fixture
def breaker(clock: Clock, states: list[State]) -> CircuitBreaker:
    return CircuitBreaker(
        "index",
        (Down,),
        threshold=3,
        open_seconds=10,
        on_change=lambda _part, state: states.append(state),
        clock=clock,
    )


def fail(breaker: CircuitBreaker, part: Part, times: int) -> None:
    part.up = False
    for _ in range(times):
        with pytest.raises(Down):
            breaker.call(part)


def test_a_part_that_keeps_failing_is_no_longer_asked(breaker: CircuitBreaker, part: Part) -> None:
    fail(breaker, part, 3)
    with pytest.raises(CircuitOpen, match=r"index.*10\.0 s"):
        breaker.call(part)
    assert part.asked == 3


def test_a_success_in_between_starts_the_count_anew(breaker: CircuitBreaker, part: Part) -> None:
    fail(breaker, part, 2)
    part.up = True
    assert breaker.call(part) == "done"
    fail(breaker, part, 2)
    assert breaker.state is State.CLOSED


def test_other_exceptions_say_nothing_of_the_parts_health(breaker: CircuitBreaker) -> None:
    for _ in range(5):
        with pytest.raises(ValueError, match="invalid"):
            breaker.call(int, "no number")
    assert breaker.state is State.CLOSED


def test_one_call_goes_through_after_the_pause_and_its_success_closes_the_circuit(
    breaker: CircuitBreaker, part: Part, clock: Clock, states: list[State]
) -> None:
    fail(breaker, part, 3)
    clock.now, part.up = 10.0, True
    assert breaker.call(part) == "done"
    assert states == [State.OPEN, State.HALF_OPEN, State.CLOSED]


def test_a_failure_of_that_call_opens_it_anew(breaker: CircuitBreaker, part: Part, clock: Clock) -> None:
    fail(breaker, part, 3)
    clock.now = 10.0
    fail(breaker, part, 1)
    clock.now = 19.0
    with pytest.raises(CircuitOpen):
        breaker.call(part)


def test_others_wait_while_one_call_probes(breaker: CircuitBreaker, part: Part, clock: Clock) -> None:
    fail(breaker, part, 3)
    clock.now = 10.0
    probing, go_on = threading.Event(), threading.Event()

    def slow() -> None:
        probing.set()
        go_on.wait(10)

    probe = threading.Thread(target=breaker.call, args=(slow,))
    probe.start()
    assert probing.wait(10)
    with pytest.raises(CircuitOpen):
        breaker.call(part)
    go_on.set()
    probe.join()
    assert breaker.state is State.CLOSED


def test_a_call_that_an_open_circuit_refuses_takes_no_place_of_those_that_the_fleet_has_a_minute(clock: Clock) -> None:
    provider = Scripted(LLMUnavailable("down"), {"word": "yes"})
    limiter = CallLimiter(FakeRedis(server=FakeServer(), version=(7,)), concurrency=0, per_minute=2, call_seconds=1)
    llm = LLM(provider, limiter, CircuitBreaker("llm", (LLMUnavailable,), threshold=1, open_seconds=10, clock=clock))
    with pytest.raises(LLMUnavailable):
        llm.complete("?", Word)
    for _ in range(3):
        with pytest.raises(CircuitOpen):
            llm.complete("?", Word)
    clock.now = 10
    assert llm.complete("?", Word).answer == Word(word="yes")
