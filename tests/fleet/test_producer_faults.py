"""The producer that cannot hurt the chat: whatever the broker does, `enqueue` is back in time, and nothing it took is
lost, doubled or out of order."""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, closing
from pathlib import Path
from typing import Any

import pytest
from _pytest.mark import ParameterSet

from producers import Accepted, Producer
from producers.spool import Spool
from schema import Turn
from schema.errors import SpoolUnavailable
from schema.settings import Settings
from tests.fleet.bad_broker import BadBroker
from tests.turns import a_turn

pytestmark = pytest.mark.alone

ROOT = Path(__file__).parents[2]
BUDGET = 0.050
MOST = BUDGET + 0.020
"""For nearly all calls; two cores that others use too can keep a thread from running for longer."""
HICCUP = 0.9
"""For each call: the machine may stand still for a moment, but whoever waited for the broker would wait for the second
that its client allows."""
USERS = ["anna", "bert", "carla", "dora"]
FLUSH_SECONDS = 30.0

FAULTS = ["gone", "hanging", "full", "slow", "black_hole", "half_open", "resetting", "speaking_another_protocol"]


def faults(*quick: str, at_length: Sequence[str]) -> list[ParameterSet]:
    """The faults of a test: those that differ most each time, the others in the long tests."""
    rest = [fault for fault in at_length if fault not in quick]
    return [*map(pytest.param, quick), *(pytest.param(fault, marks=pytest.mark.long) for fault in rest)]


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[BadBroker]:
    with closing(BadBroker(tmp_path / "broker")) as broker:
        yield broker


@pytest.fixture
def settings(broker: BadBroker, tmp_path: Path) -> Settings:
    return Settings(broker_url=broker.url, data_dir=tmp_path)


@pytest.fixture
def producer(settings: Settings) -> Iterator[Producer]:
    with Producer(settings) as producer:
        yield producer


class Talk:
    """Turns of some users, numbered as they come."""

    def __init__(self) -> None:
        self._numbers = {user: itertools.count() for user in USERS}
        self.said: dict[str, list[str]] = {user: [] for user in USERS}

    def next_turn(self, user: str) -> dict[str, Any]:
        number = next(self._numbers[user])
        turn = a_turn(user, number % 60, f"I have {number} cats.") | {"turn_id": f"{user}-{number}"}
        self.said[user].append(turn["turn_id"])
        return turn


def timed(work: Callable[[], Accepted]) -> tuple[float, Accepted]:
    started = time.perf_counter()
    outcome = work()
    return time.perf_counter() - started, outcome


def assert_in_time(seconds: list[float]) -> None:
    ordered = sorted(seconds)
    assert ordered[round(0.95 * len(ordered)) - 1] <= MOST, [round(one * 1000) for one in ordered[-20:]]
    assert ordered[-1] <= HICCUP, [round(one * 1000) for one in ordered[-20:]]


def assert_all_are_there_once_and_in_order(broker: BadBroker, talk: Talk) -> None:
    assert {user: broker.order_of(user) for user in USERS} == talk.said


@pytest.mark.parametrize("fault", faults("gone", "hanging", "resetting", at_length=FAULTS))
def test_whatever_the_broker_does_enqueue_is_in_time_and_all_turns_arrive_in_order(
    fault: str, broker: BadBroker, producer: Producer
) -> None:
    talk, unwell = Talk(), getattr(broker, fault)

    def say(count: int) -> list[tuple[float, Accepted]]:
        turns = [talk.next_turn(user) for user in itertools.islice(itertools.cycle(USERS), count)]
        return [timed(lambda turn=turn: producer.enqueue(turn)) for turn in turns]  # type: ignore[misc]

    results = say(20)
    with unwell():
        results += say(200)
    results += say(40)
    assert producer.flush(FLUSH_SECONDS) == 0
    results += say(20)
    assert producer.flush(FLUSH_SECONDS) == 0
    assert_in_time([seconds for seconds, _ in results])
    assert_all_are_there_once_and_in_order(broker, talk)
    counters = producer.counters()
    assert counters.enqueued == 280
    assert counters.flushed == counters.spooled
    assert counters.spooled > 0 or fault == "slow"
    assert counters.spool_depth == 0


@pytest.mark.parametrize("fault", faults("hanging", at_length=["gone", "black_hole"]))
def test_threads_that_enqueue_at_once_are_all_back_in_time(fault: str, broker: BadBroker, producer: Producer) -> None:
    talk, unwell = Talk(), getattr(broker, fault)

    def say(user: str) -> list[float]:
        return [timed(lambda: producer.enqueue(talk.next_turn(user)))[0] for _ in range(50)]

    with unwell(), ThreadPoolExecutor(len(USERS)) as pool:
        seconds = list(itertools.chain(*pool.map(say, USERS)))
    assert producer.flush(FLUSH_SECONDS) == 0
    assert_in_time(seconds)
    assert_all_are_there_once_and_in_order(broker, talk)


@pytest.mark.parametrize("fault", faults("hanging", at_length=["black_hole", "slow"]))
def test_the_event_loop_never_stops_whatever_the_broker_does(fault: str, broker: BadBroker, producer: Producer) -> None:
    talk, unwell = Talk(), getattr(broker, fault)
    seconds: list[float] = []
    gaps: list[float] = []

    async def beat() -> None:
        while True:
            before = time.perf_counter()
            await asyncio.sleep(0)
            gaps.append(time.perf_counter() - before)

    async def say(user: str) -> None:
        for _ in range(25):
            before = time.perf_counter()
            assert await producer.enqueue_async(talk.next_turn(user))
            seconds.append(time.perf_counter() - before)

    async def chat() -> None:
        heart = asyncio.create_task(beat())
        await asyncio.gather(*map(say, USERS))
        heart.cancel()

    with unwell():
        asyncio.run(chat())
    assert producer.flush(FLUSH_SECONDS) == 0
    assert_in_time(seconds)
    gaps.sort()
    assert gaps[round(0.99 * len(gaps)) - 1] < 0.010
    assert gaps[-1] < HICCUP
    assert_all_are_there_once_and_in_order(broker, talk)


def test_turns_of_many_tasks_go_straight_in_while_the_broker_is_well(broker: BadBroker, producer: Producer) -> None:
    async def chat() -> list[Accepted]:
        turns = [a_turn("anna", number, f"I have {number} cats.") for number in range(50)]
        return await asyncio.gather(*map(producer.enqueue_async, turns))

    producer.enqueue(a_turn("anna", 0, "I have 0 cats."))
    said = asyncio.run(chat())
    assert producer.flush(FLUSH_SECONDS) == 0
    assert set(said) <= set(Accepted)
    assert sorted(broker.order_of("anna")) == sorted(f"anna-{number}" for number in range(50))


# -- other processes of the machine ------------------------------------------------------------------------------

SAY = """
import json, sys
from schema.settings import load_settings
from producers import Producer

producer = Producer(load_settings())
for line in sys.stdin:
    turn = json.loads(line)
    print(turn["turn_id"], producer.enqueue(turn), flush=True)
producer.close()
"""


def environment(settings: Settings) -> dict[str, str]:
    return os.environ | {
        "PYTHONPATH": str(ROOT),
        "AFTERTURN_BROKER_URL": settings.broker_url,
        "AFTERTURN_DATA_DIR": str(settings.data_dir),
    }


class Sayer:
    """Another process that enqueues what it is told."""

    def __init__(self, settings: Settings) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", SAY],
            env=environment(settings),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            bufsize=1,
        )

    def say(self, turn: dict[str, Any]) -> Accepted:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps(turn) + "\n")
        turn_id, outcome = self.process.stdout.readline().split()
        assert turn_id == turn["turn_id"]
        return Accepted(outcome)

    def end(self) -> None:
        self.process.communicate()
        assert self.process.returncode == 0


def test_a_process_goes_behind_what_another_one_left_in_the_spool(broker: BadBroker, settings: Settings) -> None:
    talk = Talk()
    with broker.gone():
        other = Sayer(settings)
        assert [other.say(talk.next_turn("anna")) for _ in range(10)] == [Accepted.SPOOLED] * 10
        other.end()
    # On a busy machine a broker that is there may take longer than the budget of a request.
    with Producer(settings.model_copy(update={"enqueue_budget_ms": 5000})) as producer:
        assert producer.enqueue(talk.next_turn("anna")) is Accepted.SPOOLED
        assert producer.flush(FLUSH_SECONDS) == 0
        assert producer.enqueue(talk.next_turn("anna")) is Accepted.ADDED
        assert_all_are_there_once_and_in_order(broker, talk)
        assert producer.counters().flushed == 11


def test_a_user_goes_past_what_others_have_in_the_spool(broker: BadBroker, settings: Settings) -> None:
    patient = settings.model_copy(update={"enqueue_budget_ms": 5000})
    spool = Spool(settings.effective_spool_dir, max_turns=10, max_bytes=2**20)
    with Producer(patient) as producer, closing(spool):
        with spool.locked():
            spool.put(Turn.model_validate(a_turn("anna", 1, "I have 1 cat.")), 5)
            assert producer.enqueue(a_turn("bert", 1, "I have 1 cat.")) is Accepted.ADDED
            assert producer.enqueue(a_turn("anna", 2, "I have 2 cats.")) is Accepted.SPOOLED
        assert producer.flush(FLUSH_SECONDS) == 0
    assert (broker.order_of("anna"), broker.order_of("bert")) == (["anna-1", "anna-2"], ["bert-1"])


def test_processes_that_share_a_spool_keep_each_users_order_over_an_outage(
    broker: BadBroker, settings: Settings
) -> None:
    talk = Talk()
    sayers = [Sayer(settings) for _ in range(2)]

    def say(count: int) -> None:
        """Each user's turns come from one process after the other."""
        for number in range(count):
            for user in USERS:
                sayers[number % 2].say(talk.next_turn(user))

    say(10)
    with broker.gone():
        say(20)
    say(20)
    with broker.black_hole():
        say(10)
    say(10)
    for sayer in sayers:
        sayer.end()
    with Producer(settings) as producer:
        assert producer.flush(FLUSH_SECONDS) == 0
    assert_all_are_there_once_and_in_order(broker, talk)


@pytest.mark.parametrize("fault", faults("half_open", at_length=["gone", "hanging"]))
def test_what_a_killed_process_was_promised_is_in_a_mailbox_or_in_the_spool(
    fault: str, broker: BadBroker, settings: Settings
) -> None:
    talk = Talk()
    unwell: Callable[[], AbstractContextManager[None]] = getattr(broker, fault)
    sayer = Sayer(settings)
    for _ in range(10):
        sayer.say(talk.next_turn("anna"))
    with unwell():
        for _ in range(50):
            sayer.say(talk.next_turn("anna"))
        sayer.process.send_signal(signal.SIGKILL)
        sayer.process.communicate()
    with Producer(settings) as producer:
        assert producer.flush(FLUSH_SECONDS) == 0
    assert_all_are_there_once_and_in_order(broker, talk)


def test_a_process_killed_while_it_flushes_loses_and_doubles_nothing(broker: BadBroker, settings: Settings) -> None:
    talk = Talk()
    with broker.gone():
        sayer = Sayer(settings)
        for _ in range(500):
            sayer.say(talk.next_turn("anna"))
    while not broker.order_of("anna"):
        assert sayer.process.poll() is None
    sayer.process.send_signal(signal.SIGKILL)
    sayer.process.communicate()
    with Producer(settings) as producer:
        assert producer.flush(FLUSH_SECONDS) == 0
    assert_all_are_there_once_and_in_order(broker, talk)


def test_a_forked_child_enqueues_with_connections_of_its_own(broker: BadBroker, producer: Producer) -> None:
    assert producer.enqueue(a_turn("anna", 1, "I live in Lisbon.")) in (Accepted.ADDED, Accepted.SPOOLED)
    child = os.fork()
    if child == 0:
        accepted = False
        try:
            producer.enqueue(a_turn("bert", 1, "I live in Berlin."))
            accepted = producer.flush(FLUSH_SECONDS) == 0 and producer.counters().enqueued == 1
        finally:
            os._exit(0 if accepted else 1)
    assert os.waitpid(child, 0)[1] == 0
    producer.enqueue(a_turn("carla", 1, "I live in Rome."))
    assert producer.flush(FLUSH_SECONDS) == 0
    assert {user: broker.order_of(user) for user in USERS[:3]} == {user: [f"{user}-1"] for user in USERS[:3]}


@pytest.mark.parametrize("fault", faults("hanging", at_length=["gone", "black_hole"]))
def test_a_process_ends_soon_whatever_the_broker_does(fault: str, broker: BadBroker, settings: Settings) -> None:
    unwell: Callable[[], AbstractContextManager[None]] = getattr(broker, fault)
    sayer = Sayer(settings)
    sayer.say(a_turn("anna", 1, "I live in Lisbon."))
    with unwell():
        sayer.say(a_turn("anna", 2, "I live in Berlin."))
        started = time.monotonic()
        sayer.end()
        assert time.monotonic() - started < 6
    with Producer(settings) as producer:
        assert producer.flush(FLUSH_SECONDS) == 0
    assert broker.order_of("anna") == ["anna-1", "anna-2"]


# -- the disk ----------------------------------------------------------------------------------------------------


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=6m", "none", str(disk)], check=False, capture_output=True
    )
    if mounted.returncode:
        pytest.skip("only root may mount a small disk")
    yield disk
    subprocess.run(["umount", "--lazy", str(disk)], check=True)


def test_a_full_disk_is_told_to_the_caller_and_costs_no_turn_that_was_accepted(
    broker: BadBroker, settings: Settings, small_disk: Path
) -> None:
    talk = Talk()
    with Producer(settings.model_copy(update={"spool_dir": small_disk / "spool"})) as producer:
        seconds = []
        with broker.gone():
            with pytest.raises(SpoolUnavailable, match=r"AFTERTURN_SPOOL_DIR.* full"):
                for _ in range(2000):
                    turn = talk.next_turn("anna")
                    turn["messages"][0]["content"] += "x" * 2000
                    seconds.append(timed(lambda turn=turn: producer.enqueue(turn))[0])  # type: ignore[misc]
            talk.said["anna"].pop()
            assert producer.counters().refused_unavailable == 1
        assert producer.flush(FLUSH_SECONDS) == 0
        assert producer.flush(FLUSH_SECONDS) == 0
    assert len(seconds) > 20
    assert_in_time(seconds)
    assert_all_are_there_once_and_in_order(broker, talk)


def test_a_spool_that_another_process_locks_keeps_no_caller_longer_than_the_budget(
    broker: BadBroker, settings: Settings, producer: Producer
) -> None:
    spool = Spool(settings.effective_spool_dir, max_turns=10, max_bytes=2**20)
    with closing(spool), broker.gone():
        assert producer.enqueue(a_turn("anna", 1, "I live in Lisbon.")) is Accepted.SPOOLED
        with spool._change(5):
            started = time.perf_counter()
            with pytest.raises(SpoolUnavailable, match="locked"):
                producer.enqueue(a_turn("anna", 2, "I live in Berlin."))
            assert time.perf_counter() - started < HICCUP
    assert producer.flush(FLUSH_SECONDS) == 0
    assert broker.order_of("anna") == ["anna-1"]
