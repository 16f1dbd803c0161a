"""Writers of one SQLite catalog: they wait for each other, share a flush, and each is answered for its own."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from sqlalchemy import Connection, Engine, event, text

from schema.errors import CatalogOutage
from stores.catalog.engine import create_catalog_engine
from stores.catalog.writers import Writers


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    engine = create_catalog_engine(f"sqlite:///{tmp_path / 'catalog.sqlite3'}")
    with engine.begin() as connection:
        connection.execute(text("CREATE TABLE said (word TEXT PRIMARY KEY)"))
    yield engine
    engine.dispose()


@pytest.fixture
def writers(engine: Engine) -> Writers:
    return Writers(engine)


def saying(word: str) -> Callable[[Connection], str]:
    def say(connection: Connection) -> str:
        connection.execute(text("INSERT INTO said VALUES (:word)"), {"word": word})
        return word

    return say


def said(engine: Engine) -> set[str]:
    with engine.connect() as connection:
        return set(connection.execute(text("SELECT word FROM said")).scalars())


class Crowd:
    """Writers that all come while another one is writing, so that they go together after it."""

    def __init__(self, writers: Writers, works: list[Callable[[Connection], str]]) -> None:
        begun, go_on = threading.Event(), threading.Event()

        def hold(connection: Connection) -> str:
            begun.set()
            assert go_on.wait(10)
            return saying("first")(connection)

        with ThreadPoolExecutor(len(works) + 1) as pool:
            first = pool.submit(writers.write, hold)
            assert begun.wait(10)
            self.outcomes = [pool.submit(writers.write, work) for work in works]
            deadline = time.monotonic() + 10
            while len(writers._batcher._waiting) < len(works):
                assert time.monotonic() < deadline
                time.sleep(0.001)
            go_on.set()
            assert first.result(10) == "first"


def test_those_who_come_while_another_writes_share_one_transaction_and_get_their_own_answers(
    engine: Engine, writers: Writers
) -> None:
    commits: list[Connection] = []
    event.listen(engine, "commit", commits.append)
    words = [f"word{number}" for number in range(20)]
    crowd = Crowd(writers, [saying(word) for word in words])
    assert [outcome.result() for outcome in crowd.outcomes] == words
    assert said(engine) == {"first", *words}
    assert len(commits) == 2


def test_one_that_fails_writes_nothing_and_the_others_are_written(engine: Engine, writers: Writers) -> None:
    def fails(connection: Connection) -> str:
        saying("half")(connection)
        raise ValueError("not this one")

    crowd = Crowd(writers, [saying("one"), fails, saying("two"), saying("one")])
    one, failed, two, again = crowd.outcomes
    assert (one.result(), two.result()) == ("one", "two")
    with pytest.raises(ValueError, match="not this one"):
        failed.result()
    assert "UNIQUE" in str(again.exception())
    assert said(engine) == {"first", "one", "two"}


def test_when_the_database_fails_nobody_is_told_that_it_was_written(engine: Engine, writers: Writers) -> None:
    def breaks(connection: Connection) -> str:
        raise CatalogOutage("the disk is full")

    crowd = Crowd(writers, [saying("one"), breaks, saying("two")])
    errors = [outcome.exception() for outcome in crowd.outcomes]
    assert all(isinstance(error, CatalogOutage) for error in errors)
    assert len(set(map(id, errors))) == 3, "one error that all raise would gather the tracebacks of all"
    assert said(engine) == {"first"}
    assert writers.write(saying("later")) == "later"


def test_who_waits_too_long_for_another_process_gives_up_and_writes_nothing(
    engine: Engine, writers: Writers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("stores.catalog.writers.BUSY_SECONDS", 0.2)
    another = Writers(engine)
    with another.transaction(), ThreadPoolExecutor(3) as pool:
        outcomes = [pool.submit(writers.write, saying(f"late{number}")) for number in range(3)]
        assert all(isinstance(outcome.exception(10), CatalogOutage) for outcome in outcomes)
    assert writers.write(saying("later")) == "later"
    assert said(engine) == {"later"}


def test_a_lock_file_that_cannot_be_opened_keeps_nobody_waiting(
    engine: Engine, writers: Writers, tmp_path: Path
) -> None:
    lock, writers._lock_file = writers._lock_file, tmp_path / "gone" / "lock"
    for _ in range(2):
        with pytest.raises(FileNotFoundError):
            writers.write(saying("lost"))
    writers._lock_file = lock
    assert writers.write(saying("later")) == "later"
    assert said(engine) == {"later"}


def test_a_reader_that_goes_on_and_on_stops_no_writer_after_a_deletion(engine: Engine, writers: Writers) -> None:
    """As a backup does."""
    writers.write(saying("first"))
    with engine.connect() as reader:
        reader.exec_driver_sql("BEGIN")
        assert reader.execute(text("SELECT word FROM said")).scalars().all() == ["first"]
        writers.write(lambda connection: connection.execute(text("DELETE FROM said")))
        with ThreadPoolExecutor(1) as pool:
            cleared = pool.submit(writers.leave_no_trace)
            assert writers.write(saying("second")) == "second"
            assert cleared.result() is False
    assert said(engine) == {"second"}
    assert writers.leave_no_trace() is True
