"""More than one machine: processes that share a Redis and a Postgres and no disk, and tables migrated under them.

All processes run here. What makes them machines is that each has a data folder of its own; the oracle's notes
alone, which are the test's and not the product's, lie in one.
"""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from threading import Event

import pytest
from redis import Redis
from sqlalchemy import create_engine, text

from interfaces.contracting import contract
from producers import Producer
from schema.errors import ContractionRefused
from schema.settings import PREFIX, Settings, variable_of
from stores.catalog.contractions import Unused
from stores.catalog.head import HEAD
from tests.fleet.fleet import ORACLE, ROOT, Fleet, stop, wait_until
from tests.fleet.load import Said, names, talk
from tests.fleet.state import assert_all_as_said
from tests.postgres import PostgresServer

_A_SECOND = 40.0
LEFT = Unused("ledger", "made_up", HEAD)
"""As if the version before needed it, and this one did not."""
_MIGRATIONS = "stores/catalog/migrations/versions"


@pytest.mark.long
def test_two_machines_without_a_shared_disk_lose_double_and_misorder_nothing_though_one_dies(
    broker_url: str, postgres_catalog: str, tmp_path: Path
) -> None:
    shared = {"catalog_url": postgres_catalog, "index": "pgvector", **ORACLE}
    load, others = talk(names(80), 8), talk(names(80, "other"), 8, seed=1)
    with closing(Fleet(broker_url, tmp_path / "one", **shared)) as fleet:
        other = tmp_path / "other"
        other.mkdir()
        # A link to what is not there yet would be no folder to whoever writes first.
        (fleet.settings.data_dir / "oracle").mkdir(parents=True, exist_ok=True)
        (other / "oracle").symlink_to(fleet.settings.data_dir / "oracle")
        there = {"AFTERTURN_DATA_DIR": str(other)}
        fleet.start("beat")
        beat = fleet.start("beat", **there)
        fleet.start_workers(2)
        of_other = fleet.start_workers(2, **there)
        with (
            Producer(fleet.settings.model_copy(update={"data_dir": other})) as backend,
            ThreadPoolExecutor(1) as pool,
            fleet.feeding(load, _A_SECOND),
        ):
            fed = pool.submit(_feed, backend, others, Event())
            fleet.expect(others)
            fleet.wait_for_more(len(load) // 3)
            # The other machine loses its power, its beat included, and comes back.
            for process in (*of_other, beat):
                assert stop(process, signal.SIGKILL) == -signal.SIGKILL
            fleet.wait_for_more(len(load) // 3)
            fleet.start("beat", **there)
            again = fleet.start_workers(2, **there)
            fed.result()
        fleet.enqueue(talk(names(40, "late"), 3))
        fleet.wait_until_idle()
        assert_all_as_said(fleet)
        assert {call.process for call in fleet.oracle.calls()} >= {worker.pid for worker in (*of_other, *again)}
        for folder in (fleet.settings.data_dir, other):
            assert not list(folder.rglob("catalog*")), "what is known lies on a disk that the others do not have"


@pytest.mark.long
def test_tables_are_migrated_while_the_version_before_writes_and_contracted_once_it_does_no_more(
    broker_url: str, postgres: PostgresServer, tmp_path: Path
) -> None:
    before = tmp_path / "before"
    _unpack_version_before(before)
    url = postgres.database()
    given = {"catalog_url": url, "index": "pgvector", "lease_seconds": 3, "sweep_seconds": 1, **ORACLE}
    settings = Settings.model_validate({"broker_url": broker_url, "data_dir": tmp_path / "fleet" / "data", **given})
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith(PREFIX)},
        **{variable_of(name): str(value) for name, value in given.items()},
        "AFTERTURN_BROKER_URL": broker_url,
        "AFTERTURN_DATA_DIR": str(settings.data_dir),
    }
    with closing(Redis.from_url(broker_url)) as redis:
        redis.flushdb()
    _command(before, environment, "migrate")
    tables = create_engine(url, pool_size=1)

    def count() -> int:
        with tables.connect() as connection:
            return int(connection.execute(text("SELECT count(*) FROM ledger")).scalar_one())

    def revision() -> str:
        with tables.connect() as connection:
            return str(connection.execute(text("SELECT version_num FROM alembic_version")).scalar_one())

    load = talk(names(60), 60)
    before_it = revision()
    assert before_it < HEAD
    enough = Event()
    with (
        Producer(settings) as backend,
        _old(before, environment, tmp_path / "beat.log", "beat"),
        _old(before, environment, tmp_path / "old.log", "worker") as old,
        ThreadPoolExecutor(1) as pool,
    ):
        fed = pool.submit(_feed, backend, load, enough)
        try:
            wait_until(lambda: count() >= 60, "the version before works")
            _command(ROOT, environment, "migrate")
            assert revision() == HEAD
            with tables.begin() as connection:
                connection.execute(text("ALTER TABLE ledger ADD COLUMN made_up VARCHAR(9)"))
            migrated = count()
            wait_until(
                lambda: count() >= migrated + 60 or (fed.done() and fed.exception() is not None),
                "the version before goes on with the new tables",
            )
        finally:
            enough.set()
        sent = fed.result()
        with closing(Fleet(broker_url, tmp_path / "fleet", joins=True, **given)) as fleet:
            fleet.expect(load[:sent])
            fleet.start("beat")
            fleet.start_worker()
            with fleet.feeding(load[sent : sent + 240], _A_SECOND):
                fleet.wait_for_more(80)
                with pytest.raises(ContractionRefused, match=rf"worker celery@.* \({before_it}\)"):
                    contract(settings, tables, datetime.now(UTC), [LEFT])
                assert stop(old, signal.SIGTERM) == 0
                fleet.wait_for_more(20)
                assert contract(settings, tables, datetime.now(UTC), [LEFT]) == [LEFT.name]
            fleet.wait_until_idle()
            assert_all_as_said(fleet)
            assert {call.process for call in fleet.oracle.calls()} == {old.pid, *(one.pid for one in fleet.workers)}
    tables.dispose()
    postgres.drop(url)


def _feed(backend: Producer, load: list[Said], enough: Event) -> int:
    """Enqueue turns at a steady rate until there are enough, and answer how many."""
    for sent, said in enumerate(load):
        if enough.wait(1 / _A_SECOND):
            return sent
        backend.enqueue(said.turn())
    return len(load)


def _unpack_version_before(folder: Path) -> None:
    """Write the tree in which the newest migration was not yet there."""
    git = ["git", "-C", str(ROOT)]
    log = [*git, "log", "--diff-filter=A", "--format=%H", "-1", "--", _MIGRATIONS]
    added = subprocess.run(log, capture_output=True, text=True, check=False).stdout.strip()
    packed = subprocess.run([*git, "archive", f"{added}^"], capture_output=True, check=False)
    if not added or packed.returncode:
        pytest.skip("the history with the version before is not here")
    with tarfile.open(fileobj=io.BytesIO(packed.stdout)) as tree:
        # Python before 3.11.4 has no filters.
        tree.extraction_filter = getattr(tarfile, "data_filter", lambda member, _: member)
        tree.extractall(folder)


def _command(root: Path, environment: dict[str, str], *arguments: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "interfaces.cli", *arguments],
        env=environment | {"PYTHONPATH": str(root)},
        cwd=root,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


@contextmanager
def _old(root: Path, environment: dict[str, str], log: Path, command: str) -> Iterator[subprocess.Popen[bytes]]:
    with log.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", "interfaces.cli", command],
            env=environment | {"PYTHONPATH": str(root)},
            cwd=root,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
    try:
        yield process
    finally:
        if process.poll() is None:
            process.terminate()
            process.wait(60)
