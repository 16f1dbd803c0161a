"""The spool: what it took is there, in order, once, and never more than it may hold."""

from __future__ import annotations

import hashlib
import os
import shutil
import sqlite3
import stat
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from producers.spool import Spool, SpooledTurn
from schema import Turn
from schema.errors import ConflictingTurn, SpoolFull, SpoolUnavailable
from tests.turns import a_turn

WAIT = 5.0
MEBIBYTE = 1024 * 1024


def turn_of(user: str, number: int, said: str = "I live in Lisbon.") -> Turn:
    return Turn.model_validate(a_turn(user, number, said))


@pytest.fixture
def spool(tmp_path: Path) -> Iterator[Spool]:
    with closing(Spool(tmp_path / "spool", max_turns=100, max_bytes=MEBIBYTE)) as spool:
        yield spool


def test_a_spool_that_may_hold_nothing_takes_nothing_and_gives_back_what_lay_there(
    tmp_path: Path, spool: Spool
) -> None:
    spool.put(turn_of("anna", 1), WAIT)
    with closing(Spool(tmp_path / "spool", max_turns=0, max_bytes=MEBIBYTE)) as shut:
        with pytest.raises(SpoolFull, match="AFTERTURN_SPOOL_MAX_TURNS"):
            shut.put(turn_of("anna", 2), WAIT)
        assert ids(shut) == ["anna-1"]
        assert shut.put(turn_of("anna", 1), WAIT) == 1
        with shut.locked():
            shut.remove(shut.oldest(1))
        assert shut.is_empty()


def ids(spool: Spool) -> list[str]:
    return [spooled.turn_id for spooled in spool.oldest(1000)]


def test_a_turn_that_an_earlier_revision_spooled_is_the_same_and_another_one_is_not(spool: Spool) -> None:
    said = turn_of("anna", 1)
    spool.put(said, WAIT)
    with closing(sqlite3.connect(spool.folder / "spool.sqlite3")) as db, db:
        db.execute("UPDATE turns SET digest = ?", (hashlib.sha256(said.canonical_json().encode()).hexdigest(),))
    assert spool.put(said, WAIT) == 1
    with pytest.raises(ConflictingTurn):
        spool.put(turn_of("anna", 1, "I live in Berlin."), WAIT)


_MADE_BEFORE = """
CREATE TABLE turns (
    place INTEGER PRIMARY KEY, subject TEXT NOT NULL, turn_id TEXT NOT NULL, digest TEXT NOT NULL, body TEXT NOT NULL,
    UNIQUE (subject, turn_id)
);
CREATE TABLE rejected (
    place INTEGER PRIMARY KEY, subject TEXT NOT NULL, turn_id TEXT NOT NULL, body TEXT NOT NULL, reason TEXT NOT NULL,
    rejected_at TEXT NOT NULL
);
CREATE TABLE totals (
    only_row INTEGER PRIMARY KEY CHECK (only_row = 1), turns INTEGER NOT NULL, bytes INTEGER NOT NULL,
    rejected INTEGER NOT NULL, rejected_bytes INTEGER NOT NULL
);
INSERT INTO totals VALUES (1, 0, 0, 0, 0);
"""


def test_a_spool_is_shared_with_an_earlier_revision_which_says_of_no_turn_how_long_it_waited(tmp_path: Path) -> None:
    folder = tmp_path / "spool"
    folder.mkdir()
    with closing(sqlite3.connect(folder / "spool.sqlite3", isolation_level=None)) as before:
        before.executescript(_MADE_BEFORE)
        with closing(Spool(folder, max_turns=9, max_bytes=MEBIBYTE)) as spool:
            spool.put(turn_of("anna", 1), WAIT, waited=60.0)
            before.execute(
                "INSERT INTO turns (subject, turn_id, digest, body) VALUES ('acme:anna', 'anna-2', '', '{}')"
            )
            ours, theirs = spool.oldest(9)
            assert 60.0 <= ours.waited() < 60.0 + WAIT
            assert theirs.waited() == 0.0
        with closing(Spool(folder, max_turns=9, max_bytes=MEBIBYTE)) as again:
            assert ids(again) == ["anna-1", "anna-2"]


class SpoolAgainstModel(RuleBasedStateMachine):
    """Producers put, a flusher takes out or puts aside, processes come and go, in any order."""

    MAX_TURNS, MAX_BYTES = 6, 3000

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(dir="/dev/shm" if Path("/dev/shm").is_dir() else None))
        self.spool = self.open()
        self.waiting: list[Turn] = []
        self.aside: list[Turn] = []

    def open(self) -> Spool:
        return Spool(self.folder, max_turns=self.MAX_TURNS, max_bytes=self.MAX_BYTES)

    def bytes_held(self) -> int:
        return sum(len(turn.canonical_json().encode()) for turn in self.waiting + self.aside)

    @rule(
        turns=st.lists(
            st.builds(
                turn_of,
                st.sampled_from(["anna", "bert"]),
                st.integers(0, 4),
                st.sampled_from(["hi", "hé 🏔", "x" * 900]),
            ),
            min_size=1,
            max_size=5,
        )
    )
    def put(self, turns: list[Turn]) -> None:
        for turn in turns:
            self.put_one(turn)

    def put_one(self, turn: Turn) -> None:
        known = next((other for other in self.waiting if other.turn_id == turn.turn_id), None)
        full = len(self.waiting + self.aside) >= self.MAX_TURNS
        full = full or self.bytes_held() + len(turn.canonical_json().encode()) > self.MAX_BYTES
        if known is not None and known != turn:
            with pytest.raises(ConflictingTurn):
                self.spool.put(turn, WAIT)
        elif known is None and full:
            with pytest.raises(SpoolFull):
                self.spool.put(turn, WAIT)
        else:
            if known is None:
                self.waiting.append(turn)
            assert self.spool.put(turn, WAIT) == len(self.waiting)

    @rule(count=st.integers(1, 4))
    def take_out(self, count: int) -> None:
        self.spool.remove(self.spool.oldest(count))
        self.waiting = self.waiting[count:]

    @precondition(lambda self: self.waiting)
    @rule()
    def put_aside(self) -> None:
        [oldest] = self.spool.oldest(1)
        self.spool.reject(oldest, "because")
        self.aside.append(self.waiting.pop(0))

    @rule()
    def take_out_again_what_is_gone(self) -> None:
        self.spool.remove([SpooledTurn(10_000, "gone", "{}")])

    @rule()
    def write_through(self) -> None:
        self.spool.write_through()

    @rule()
    def shrink(self) -> None:
        self.spool.shrink()

    @rule()
    def come_and_go(self) -> None:
        self.spool.close()
        self.spool = self.open()

    @invariant()
    def holds_what_it_took_in_order(self) -> None:
        assert [Turn.model_validate_json(spooled.body) for spooled in self.spool.oldest(100)] == self.waiting
        assert [Turn.model_validate_json(spooled.body) for spooled, _ in self.spool.rejected(100)] == self.aside
        assert self.spool.depth() == len(self.waiting)
        assert self.spool.is_empty() == (not self.waiting)

    def teardown(self) -> None:
        self.spool.close()
        shutil.rmtree(self.folder)


TestSpoolAgainstModel = SpoolAgainstModel.TestCase
TestSpoolAgainstModel.settings = settings(max_examples=40, stateful_step_count=20)


def test_a_turn_comes_out_as_the_same_turn(spool: Spool) -> None:
    turn = Turn.model_validate(
        a_turn("anna", 1, "Zürich 🏔 \u2028 \\ \"'") | {"occurred_at": "2026-11-02T09:30:00.123456+05:30"}
    )
    spool.put(turn, WAIT)
    [spooled] = spool.oldest(1)
    assert Turn.model_validate_json(spooled.body).digest() == turn.digest()


def test_the_same_turn_id_of_two_users_is_two_turns(spool: Spool) -> None:
    for user in ("anna", "bert"):
        spool.put(Turn.model_validate(a_turn(user, 1, "hi") | {"turn_id": "t"}), WAIT)
    assert spool.depth() == 2


def test_two_openings_of_one_spool_see_one_line_of_turns(spool: Spool) -> None:
    with closing(Spool(spool.folder, max_turns=100, max_bytes=MEBIBYTE)) as other:
        for number in range(10):
            (spool, other)[number % 2].put(turn_of("anna", number), WAIT)
        assert ids(spool) == ids(other) == [f"anna-{number}" for number in range(10)]


def test_turns_of_many_threads_are_all_there_and_each_threads_in_order(spool: Spool) -> None:
    def put_ten(user: str) -> None:
        for number in range(10):
            spool.put(turn_of(user, number), WAIT)

    users = [f"user{number}" for number in range(8)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(put_ten, users))
    for user in users:
        assert [name for name in ids(spool) if name.startswith(f"{user}-")] == [f"{user}-{n}" for n in range(10)]


def test_only_one_opening_takes_turns_out_at_a_time(spool: Spool) -> None:
    with closing(Spool(spool.folder, max_turns=100, max_bytes=MEBIBYTE)) as other:
        with spool.locked() as first, other.locked() as second:
            assert (first, second) == (True, False)
        with other.locked() as again:
            assert again


def test_a_forked_child_does_not_keep_its_parents_lock(spool: Spool) -> None:
    reader, writer = os.pipe()
    with spool.locked():
        child = os.fork()
        if child == 0:
            os.close(writer)
            os.read(reader, 1)
            os._exit(0)
    with closing(Spool(spool.folder, max_turns=100, max_bytes=MEBIBYTE)) as other, other.locked() as alone:
        assert alone
    os.close(writer)
    os.close(reader)
    os.waitpid(child, 0)


def test_writing_waits_for_others_no_longer_than_told(spool: Spool) -> None:
    with closing(sqlite3.connect(spool.folder / "spool.sqlite3", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(SpoolUnavailable, match="locked"):
            spool.put(turn_of("anna", 1), 0.01)
        other.execute("ROLLBACK")
    assert spool.put(turn_of("anna", 1), WAIT) == 1


def test_a_process_that_joins_waits_for_nobody_who_writes(spool: Spool) -> None:
    spool.put(turn_of("anna", 1), WAIT)
    with closing(sqlite3.connect(spool.folder / "spool.sqlite3", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with closing(Spool(spool.folder, max_turns=100, max_bytes=MEBIBYTE)) as joining:
            assert ids(joining) == ["anna-1"]


def test_what_was_taken_out_leaves_the_disk(spool: Spool) -> None:
    secret = "heliotrope" * 2000
    for number in range(20):
        spool.put(turn_of("anna", number, secret), WAIT)
    spool.write_through()
    big = (spool.folder / "spool.sqlite3").stat().st_size
    spool.remove(spool.oldest(20))
    spool.shrink()
    kept = [path.read_bytes() for path in spool.folder.glob("spool.sqlite3*")]
    assert not any(b"heliotrope" in content for content in kept)
    assert sum(map(len, kept)) < big / 4


def test_nobody_else_may_read_what_lies_in_it(spool: Spool) -> None:
    spool.put(turn_of("anna", 1), WAIT)
    assert stat.S_IMODE(spool.folder.stat().st_mode) == 0o700
    assert {path.name: stat.S_IMODE(path.stat().st_mode) & 0o077 for path in spool.folder.glob("spool.sqlite3*")} == {
        path.name: 0 for path in spool.folder.glob("spool.sqlite3*")
    }


@pytest.mark.parametrize("lies_there", ["a file in place of the folder", "a file that is no spool"])
def test_a_folder_that_cannot_hold_a_spool_is_told_with_its_variable(tmp_path: Path, lies_there: str) -> None:
    folder = tmp_path / "spool"
    if lies_there == "a file in place of the folder":
        folder.write_text("")
    else:
        folder.mkdir()
        (folder / "spool.sqlite3").write_text("this is no database, and long enough to be looked at " * 100)
    with pytest.raises(SpoolUnavailable, match="AFTERTURN_SPOOL_DIR"):
        Spool(folder, max_turns=1, max_bytes=MEBIBYTE)
