"""A broker that is killed, emptied or frozen under a fleet at work, and a network that is no better."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing

import pytest
from redis import Redis

from stores.queue import QUEUES
from tests.fleet.bad_broker import BadBroker
from tests.fleet.broker import Broker
from tests.fleet.fleet import ORACLE, Fleet
from tests.fleet.load import names, talk
from tests.fleet.state import assert_all_as_said

Broken = Callable[[BadBroker], AbstractContextManager[None]]


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    with closing(Broker(tmp_path_factory.mktemp("broker"))) as broker:
        yield broker


@pytest.fixture(scope="module")
def fleet(broker: Broker, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fleet]:
    """Two workers and beat for all tests of a broker that dies."""
    with closing(Fleet(broker.url, tmp_path_factory.mktemp("fleet"), **ORACLE)) as fleet:
        fleet.start("beat")
        fleet.start_workers(2)
        yield fleet


def test_a_broker_that_is_killed_and_started_again_loses_nothing(fleet: Fleet, broker: Broker) -> None:
    with fleet.feeding(talk(names(120, "killed"), 6), a_second=150):
        for _ in range(2):
            fleet.wait_for_more(100)
            broker.kill()
            broker.start()
    fleet.wait_until_idle()
    assert_all_as_said(fleet)


@pytest.mark.long
def test_a_broker_that_comes_back_without_its_queue_loses_nothing(fleet: Fleet, broker: Broker) -> None:
    fleet.enqueue(talk(names(100, "emptied"), 6))
    fleet.wait_for_more(50)
    broker.kill()
    broker.start()
    with Redis.from_url(broker.url) as redis:
        redis.delete(*QUEUES, "unacked", "unacked_index")
    fleet.wait_until_idle()
    assert_all_as_said(fleet)


@pytest.mark.long
def test_a_broker_that_answers_nothing_for_10_seconds_loses_nothing(fleet: Fleet, broker: Broker) -> None:
    with fleet.feeding(talk(names(100, "frozen"), 6), a_second=60):
        fleet.wait_for_more(100)
        with broker.frozen():
            time.sleep(10)
    fleet.wait_until_idle()
    assert_all_as_said(fleet)


@pytest.mark.long
def test_a_broker_that_refuses_to_write_loses_nothing_and_no_worker(fleet: Fleet, broker: Broker) -> None:
    workers = [worker.pid for worker in fleet.workers]
    with fleet.feeding(talk(names(80, "refused"), 6), a_second=100), Redis.from_url(broker.url) as redis:
        fleet.wait_for_more(50)
        redis.config_set("maxmemory", 1)
        time.sleep(2)
        redis.config_set("maxmemory", 0)
        fleet.wait_for_more(50)
        # What becomes of a server that another one takes over from, until clients look the address up again.
        redis.execute_command("REPLICAOF", "127.0.0.1", "1")
        time.sleep(3)
        redis.execute_command("REPLICAOF", "NO", "ONE")
    fleet.wait_until_idle()
    assert_all_as_said(fleet)
    assert [worker.pid for worker in fleet.workers if worker.poll() is None] == workers


@pytest.fixture(scope="module")
def network(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BadBroker]:
    with closing(BadBroker(tmp_path_factory.mktemp("network"))) as network:
        yield network


@pytest.fixture(scope="module")
def remote(network: BadBroker, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fleet]:
    """A fleet with one worker behind a proxy, and one beside the broker."""
    with closing(
        Fleet(network.direct_url, tmp_path_factory.mktemp("remote"), workers_url=network.url, **ORACLE)
    ) as fleet:
        fleet.start("beat")
        fleet.launch_worker(AFTERTURN_BROKER_URL=network.direct_url)
        fleet.start_worker()
        yield fleet


@pytest.mark.parametrize(
    ("name", "broken", "seconds"),
    [
        pytest.param("slow", BadBroker.slow, 5, marks=pytest.mark.long),
        pytest.param("halfopen", BadBroker.half_open, 8, marks=pytest.mark.long),
        pytest.param("reset", BadBroker.resetting, 4, marks=pytest.mark.long),
        pytest.param("blackhole", BadBroker.black_hole, 8, marks=pytest.mark.long),
    ],
)
def test_a_worker_behind_a_network_that_is(
    remote: Fleet, network: BadBroker, name: str, broken: Broken, seconds: int
) -> None:
    with remote.feeding(talk(names(80, name), 6), a_second=100):
        remote.wait_for_more(50)
        with broken(network):
            time.sleep(seconds)
    remote.wait_until_idle()
    assert_all_as_said(remote)
