"""Windows and facts with vectors, in a fleet: whole after a worker's death, built into another index, and erased."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from schema import Subject
from schema.settings import Settings
from stores.index.base import SELECTORS, Where
from stores.open import open_beside
from tests.fleet.fleet import ORACLE, ROOT, Fleet
from tests.fleet.load import TENANT, fact

ANNA, BERT = (Subject(tenant_id=TENANT, subject_id=user) for user in ("anna", "bert"))
ON: dict[str, Any] = {"episodic_windows": "on", "fact_vectors": "on"}


@pytest.fixture
def fleet(broker_url: str, tmp_path: Path) -> Iterator[Fleet]:
    with closing(Fleet(broker_url, tmp_path, max_deliveries=50, **ON, **ORACLE)) as fleet:
        fleet.start("beat")
        yield fleet


def command(fleet: Fleet, *words: str, **variables: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "interfaces.cli", *words],
        env=fleet.environment | variables,
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout, done.stderr
    return done.stdout


def counted(fleet: Fleet, whose: Subject, beside: Any = None) -> dict[str, int]:
    """How many vectors of each family there are of a subject: as many as the catalog has of it."""
    counts = {}
    for family in SELECTORS:
        index = (beside or fleet.stores.beside)[family]
        anywhere = np.eye(1, fleet.stores.embedder.dimensions, dtype=np.float32)[0]
        counts[family.value] = len(index.query(anywhere, Where(whose, statuses=()), 1_000))
        assert counts[family.value] == fleet.stores.catalog.families.count(family, whose)
    return counts


@pytest.mark.long
def test_they_are_whole_after_a_death_built_into_another_index_and_erased(fleet: Fleet, tmp_path: Path) -> None:
    fleet.start_worker(CRASH_AT="after_commit", CRASH_MARK=str(tmp_path / "crash"), CRASH_PASSAGE="3")
    said = [fact(user, number) for number in range(12) for user in ("anna", "bert")]
    fleet.enqueue(said)
    fleet.start_worker()
    fleet.wait_until_idle()
    of_anna, of_bert = counted(fleet, ANNA), counted(fleet, BERT)
    assert of_anna["windows"] == of_bert["windows"] == 12
    assert of_anna["facts"] > 0

    command(fleet, "reindex", AFTERTURN_INDEX_NAME="next")
    anew = open_beside(Settings(**fleet.settings.model_dump() | {"index_name": "next"}), fleet.stores.embedder)
    assert counted(fleet, ANNA, anew) == of_anna
    for index in anew.values():
        index.close()

    proof = json.loads(command(fleet, "forget-user", "anna", "--tenant", TENANT, "--yes", "--json"))
    # The message that the dead worker had in hand is given to another later, and is dropped by then.
    assert not any(count for where, count in proof["left"].items() if where != "ingest queue")
    for family, count in of_anna.items():
        assert proof["removed"][f"index of {family}"] == count
    assert not any(counted(fleet, ANNA).values())
    assert counted(fleet, BERT) == of_bert
