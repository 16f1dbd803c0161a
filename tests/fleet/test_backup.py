"""A backup is made while the fleet works, everything is killed, and another fleet goes on from it elsewhere."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import create_engine, text

from memory.embedding import counted
from producers.client import parse_turn
from stores.catalog.engine import create_catalog_engine
from stores.catalog.revisions import migrate
from stores.open import open_stores
from stores.queue import send_turn
from tests.fleet.broker import Broker
from tests.fleet.fleet import ORACLE, ROOT, Fleet, stop, wait_until
from tests.fleet.load import Said, names, talk
from tests.fleet.oracle import Faults
from tests.fleet.state import assert_all_as_said
from tests.postgres import NoServer, PostgresServer, programs

BEFORE, MEANWHILE = 8, 5


@dataclass(frozen=True)
class Catalogs:
    """Settings of where the fleet is and of where its backup is restored to: with a database there, or in its files."""

    here: dict[str, Any]
    there: dict[str, Any]
    database: str | None

    def empty_there(self) -> None:
        """Leave not even tables: a backup is restored to where nothing is."""
        if self.database:
            engine = create_engine(self.database, isolation_level="AUTOCOMMIT")
            with engine.connect() as connection:
                connection.execute(text("DROP SCHEMA public CASCADE"))
                connection.execute(text("CREATE SCHEMA public"))
            engine.dispose()


def run(fleet: Fleet, *arguments: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "interfaces.cli", *arguments],
        env=fleet.environment,
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def in_ledger(fleet: Fleet, said: Said) -> bool:
    return said.turn_id in fleet.stores.catalog.processed(said.subject, [said.turn_id])


@pytest.fixture(params=[pytest.param("sqlite", marks=pytest.mark.embedded), "postgres"])
def catalogs(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Catalogs]:
    if request.param == "sqlite":
        yield Catalogs({}, {}, None)
        return
    server: PostgresServer = request.getfixturevalue("postgres")
    # Where the server is one of the tester's own, so is pg_dump.
    with suppress(NoServer):
        monkeypatch.setenv("PATH", f"{programs()}{os.pathsep}{os.environ['PATH']}")
    if shutil.which("pg_dump") is None:
        pytest.skip("pg_dump is not here: install PostgreSQL's client programs")
    urls = [server.database(), server.database()]
    for url in urls:
        engine = create_catalog_engine(url)
        migrate(engine)
        engine.dispose()
    here, there = ({"catalog_url": url, "index": "pgvector"} for url in urls)
    yield Catalogs(here, there, urls[1])
    for url in urls:
        server.drop(url)


@pytest.mark.long
def test_nothing_accepted_before_a_backup_under_load_is_lost_or_doubled_elsewhere(
    tmp_path: Path, catalogs: Catalogs
) -> None:
    users = names(24)
    load = talk(users, BEFORE + MEANWHILE)
    before = [said for said in load if said.number < BEFORE]
    meanwhile = [said for said in load if said.number >= BEFORE]
    # Another backend sends plain messages: they wait in the queue, in a worker's hands or in a mailbox.
    plain = talk(names(60, "plain"), 1)
    backup = tmp_path / "backup"
    with (
        closing(Broker(tmp_path / "first")) as broker,
        closing(Fleet(broker.url, tmp_path / "here", **catalogs.here, **ORACLE)) as here,
    ):
        here.oracle.ask_for(Faults(fastest=0.1, slowest=0.4))
        here.start("beat")
        here.start_workers(2, AFTERTURN_WORKER_SLOTS="4")
        here.enqueue(before)
        here.wait_for_more(len(before) // 8)
        for said in plain:
            send_turn(here.celery, parse_turn(said.turn()))
        waiting, processed = here.mailbox.pending_turns(), here.processed()
        with here.feeding(meanwhile, a_second=100):
            run(here, "backup", str(backup))
            written_meanwhile = here.processed() - processed
        for process in (*here.workers, *here.beats):
            stop(process, signal.SIGKILL)
    assert min(waiting, written_meanwhile) > 0, "it was idle"
    with (
        closing(Broker(tmp_path / "other")) as broker,
        closing(Fleet(broker.url, tmp_path / "there", **catalogs.there, **ORACLE)) as there,
    ):
        there.stores.close()
        shutil.rmtree(there.settings.data_dir)
        catalogs.empty_there()
        run(there, "restore-backup", str(backup))
        there.stores = open_stores(there.settings, counted)
        there.expect([*before, *plain])
        there.start("beat")
        there.start_workers(2)
        wait_until(lambda: all(in_ledger(there, said) for said in there.said), "all that was accepted is there")
        there.wait_until_idle()
        # What came while the backup was made is in it or not, and as a whole.
        there.expect(said for said in meanwhile if in_ledger(there, said))
        assert_all_as_said(there)
