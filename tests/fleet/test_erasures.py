"""A user who goes on talking while everything about them is erased."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest

from schema import Subject
from tests.fleet.fleet import ORACLE, ROOT, Fleet, wait_until
from tests.fleet.load import TENANT, fact

ANNA = Subject(tenant_id=TENANT, subject_id="anna")
_BEFORE, _AFTER = 40, 40


@pytest.fixture
def fleet(broker_url: str, tmp_path: Path) -> Iterator[Fleet]:
    with closing(Fleet(broker_url, tmp_path, **ORACLE)) as fleet:
        fleet.start("beat")
        fleet.start_workers(2)
        yield fleet


def forget(fleet: Fleet) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "interfaces.cli", "forget-user", "anna", "--tenant", TENANT, "--yes", "--json"],
        env=fleet.environment,
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.long
def test_of_a_flood_during_an_erasure_no_turn_said_after_it_is_lost(fleet: Fleet) -> None:
    said: dict[str, datetime] = {}
    may_end, enough = threading.Event(), threading.Event()

    def talk() -> None:
        last = sys.maxsize
        for number in range(100_000):
            if may_end.is_set():
                last = min(last, number + _AFTER)
            if number == last:
                return
            turn = fact("anna", number).turn() | {"occurred_at": datetime.now(UTC).isoformat()}
            said[turn["turn_id"]] = datetime.now(UTC)
            fleet.producer.enqueue(turn)
            if number == _BEFORE:
                enough.set()
            may_end.wait(0.02)

    talking = threading.Thread(target=talk)
    talking.start()
    assert enough.wait(60)
    erased = forget(fleet)
    may_end.set()
    talking.join()
    assert erased.returncode == 0, erased.stdout + erased.stderr
    assert json.loads(erased.stdout)["clean"]

    wait_until(lambda: fleet.producer.flush(1) == 0 and fleet.mailbox.pending_turns() == 0, "all is processed")
    [tombstone] = fleet.stores.catalog.tombstones.of(ANNA)
    after = {turn_id for turn_id, at in said.items() if at > tombstone.at}
    assert len(after) > _AFTER
    assert after - fleet.stores.catalog.processed(ANNA, sorted(said)).keys() == set()
    assert (
        min(int(turn_id.split("-")[1]) for turn_id in fleet.stores.catalog.processed(ANNA, sorted(said))) > _BEFORE / 2
    )
