"""Stores that are locked, and a language model that is down, slow, throttling, hanging or talking nonsense."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from tests.fleet.fleet import ORACLE, Fleet, locked, wait_until
from tests.fleet.load import names, talk
from tests.fleet.oracle import Faults
from tests.fleet.state import assert_all_as_said


@pytest.fixture(scope="module")
def fleet(broker_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fleet]:
    """Two workers and beat for all tests of this module. A call of the model may take 2 s."""
    fleet = Fleet(broker_url, tmp_path_factory.mktemp("fleet"), llm_timeout_seconds=2, **ORACLE)
    fleet.start("beat")
    fleet.start_workers(2)
    yield fleet
    fleet.close()


def some_more_are_processed(fleet: Fleet, turns: int) -> None:
    enough = fleet.processed() + turns
    wait_until(lambda: fleet.processed() >= enough, f"{turns} more turns are processed")


@pytest.mark.parametrize("seconds", [11, pytest.param(35, marks=pytest.mark.soak)])
def test_a_catalog_that_is_locked_for_longer_than_a_writer_waits_loses_nothing(fleet: Fleet, seconds: float) -> None:
    with fleet.feeding(talk(names(80, f"catalog{seconds}x"), 6), a_second=100):
        some_more_are_processed(fleet, 50)
        with locked([fleet.settings.data_dir / "catalog.sqlite3"]):
            time.sleep(seconds)
    fleet.wait_until_idle()
    assert_all_as_said(fleet)


@pytest.mark.parametrize("seconds", [5, pytest.param(35, marks=pytest.mark.soak)])
def test_an_index_that_is_locked_is_behind_and_catches_up(fleet: Fleet, seconds: float) -> None:
    files = sorted(fleet.settings.data_dir.glob("index/*.sqlite3"))
    assert len(files) == 16
    with fleet.feeding(talk(names(80, f"index{seconds}x"), 6), a_second=100):
        some_more_are_processed(fleet, 50)
        with locked(files):
            time.sleep(seconds)
    fleet.wait_until_idle()
    assert_all_as_said(fleet)


@pytest.mark.parametrize(
    ("name", "faults"),
    [
        ("down", Faults(throttled=1.0)),
        ("hanging", Faults(hangs=True)),
        ("throttling", Faults(throttled=0.2)),
        ("garbage", Faults(garbage=0.1)),
        ("slow", Faults(fastest=3.5, slowest=4.5)),
    ],
)
def test_a_language_model_in_trouble_costs_time_and_no_turn_when_it_is(fleet: Fleet, name: str, faults: Faults) -> None:
    try:
        with fleet.feeding(talk(names(60, name), 6), a_second=100):
            some_more_are_processed(fleet, 50)
            fleet.oracle.ask_for(faults)
            time.sleep(4)
    finally:
        fleet.oracle.ask_for(Faults())
    fleet.wait_until_idle()
    assert_all_as_said(fleet)
