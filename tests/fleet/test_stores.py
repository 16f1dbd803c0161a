"""Stores that are locked, and a language model that is down, slow, throttling, hanging or talking nonsense."""

from __future__ import annotations

import time

import pytest

from tests.fleet.fleet import Fleet, locked
from tests.fleet.load import names, talk
from tests.fleet.oracle import Faults
from tests.fleet.state import assert_all_as_said


@pytest.mark.embedded
@pytest.mark.long
@pytest.mark.parametrize("seconds", [11, 35])
def test_a_catalog_that_is_locked_for_longer_than_a_writer_waits_loses_nothing(pair: Fleet, seconds: float) -> None:
    with pair.feeding(talk(names(80, f"catalog{seconds}x"), 6), a_second=100):
        pair.wait_for_more(50)
        with locked([pair.settings.data_dir / "catalog.sqlite3"]):
            time.sleep(seconds)
    pair.wait_until_idle()
    assert_all_as_said(pair)


@pytest.mark.embedded
@pytest.mark.long
@pytest.mark.parametrize("seconds", [5, 35])
def test_an_index_that_is_locked_is_behind_and_catches_up(pair: Fleet, seconds: float) -> None:
    files = sorted(pair.settings.data_dir.glob("index/*.sqlite3"))
    assert len(files) == 16
    with pair.feeding(talk(names(80, f"index{seconds}x"), 6), a_second=100):
        pair.wait_for_more(50)
        with locked(files):
            time.sleep(seconds)
    pair.wait_until_idle()
    assert_all_as_said(pair)


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "faults"),
    [
        ("down", Faults(throttled=1.0)),
        ("hanging", Faults(hangs=True)),
        # Both at once, and harder: tests/fleet/test_retries.py.
        ("throttling", Faults(throttled=0.2)),
        ("garbage", Faults(garbage=0.1)),
        ("slow", Faults(fastest=3.5, slowest=4.5)),
    ],
)
def test_a_language_model_in_trouble_costs_time_and_no_turn_when_it_is(pair: Fleet, name: str, faults: Faults) -> None:
    try:
        with pair.feeding(talk(names(60, name), 6), a_second=100):
            pair.wait_for_more(50)
            pair.oracle.ask_for(faults)
            time.sleep(4)
    finally:
        pair.oracle.ask_for(Faults())
    pair.wait_until_idle()
    assert_all_as_said(pair)
