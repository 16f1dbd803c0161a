"""Workers and beat that cannot begin, or go on, for a reason that passes: a supervisor tries again."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from stores.queue import BEAT_LOCK
from tests.conftest import free_port
from tests.fleet.broker import Broker
from tests.fleet.fleet import ORACLE, Fleet, locked, wait_until


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    with closing(Broker(tmp_path_factory.mktemp("broker"))) as broker:
        yield broker


@pytest.fixture(scope="module")
def fleet(broker: Broker, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fleet]:
    with closing(Fleet(broker.url, tmp_path_factory.mktemp("fleet"), **ORACLE)) as fleet:
        yield fleet


def test_a_worker_that_is_started_while_postgres_is_down_ends_with_1(fleet: Fleet) -> None:
    away = f"postgresql+psycopg://nobody@127.0.0.1:{free_port()}/memories"
    assert fleet.launch_worker(AFTERTURN_CATALOG_URL=away).wait(60) == 1


@pytest.mark.embedded
@pytest.mark.long
def test_a_worker_that_is_started_while_a_file_of_the_index_is_locked_ends_with_1(fleet: Fleet) -> None:
    [file, *_] = sorted(Path(fleet.settings.index_dir).glob("*.sqlite3"))
    with locked([file]):
        assert fleet.launch_worker().wait(120) == 1


@pytest.mark.parametrize("command", ["worker", "beat"])
def test_whoever_the_broker_does_not_let_in_ends_with_2_and_one_line_that_says_what_to_mend(
    fleet: Fleet, broker: Broker, command: str
) -> None:
    stranger = broker.url.replace("redis://", "redis://stranger:password@")
    assert fleet.start(command, AFTERTURN_BROKER_URL=stranger).wait(60) == 2
    [last] = fleet.log().splitlines()[-1:]
    assert last.startswith("afterturn")
    assert "AFTERTURN_BROKER_URL" in last
    assert "password" not in last.replace("username-password", "")


def test_a_beat_that_leads_and_cannot_connect_to_send_ends_with_1(fleet: Fleet) -> None:
    before = int(fleet.redis.config_get("maxclients")["maxclients"] or 0)
    # One more gets in, by which it takes the lead; nobody is left to send by.
    fleet.redis.config_set("maxclients", fleet.redis.info("clients")["connected_clients"] + 1)
    try:
        assert fleet.start("beat").wait(60) == 1
    finally:
        fleet.redis.config_set("maxclients", before)
    assert "no broker answers" in fleet.log().splitlines()[-1]


def test_beat_ends_with_1_when_its_broker_is_killed(fleet: Fleet, broker: Broker) -> None:
    beat = fleet.start("beat")
    wait_until(lambda: bool(fleet.redis.exists(BEAT_LOCK)), "beat leads")
    broker.kill()
    code = beat.wait(100)
    broker.start()
    assert code == 1
