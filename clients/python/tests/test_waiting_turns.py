"""The spool and its sender: nothing that was accepted is lost, doubled, or out of the order of its user."""

from __future__ import annotations

import sqlite3
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from time import monotonic, sleep

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afterturn_client import (
    Accepted,
    AfterturnError,
    Client,
    Conflict,
    Depth,
    Forbidden,
    Invalid,
    Problem,
    RequestFailed,
    SpoolFull,
    SpoolUnavailable,
    Unavailable,
)
from afterturn_client.sender import Sender
from afterturn_client.spool import Spool, Spooled
from afterturn_client.spool_writer import SpoolWriter
from afterturn_client.turns import Written, turn_of

PATIENCE_SECONDS = 20.0


def a_turn(user: str, number: int, text: str = "I have cats.") -> Written:
    return turn_of(user, [{"role": "user", "content": text}], turn_id=f"{user}-{number}")


def put(spool: Spool, turn: Written) -> Accepted:
    [outcome] = spool.put([turn])
    if isinstance(outcome, Accepted):
        return outcome
    raise outcome


def open_spool(folder: Path, *, max_turns: int = 10_000, max_bytes: int = 10_000_000) -> Spool:
    return Spool(folder, max_turns=max_turns, max_bytes=max_bytes)


@pytest.fixture
def spool(tmp_path: Path) -> Iterator[Spool]:
    with closing(open_spool(tmp_path / "spool")) as spool:
        yield spool


class Service:
    """Takes turns as the service does, unless it is told to fail; two turns of one user are never under way at once."""

    def __init__(self) -> None:
        self.taken: dict[str, list[str]] = {}
        self.calls: Counter[str] = Counter()
        self.fails: Callable[[Spooled], RequestFailed | None] = lambda _: None
        self._under_way: set[str] = set()

    def take(self, turn: Spooled) -> None:
        assert turn.user not in self._under_way
        self._under_way.add(turn.user)
        self.calls[turn.user] += 1
        sleep(0)
        self._under_way.remove(turn.user)
        if (failure := self.fails(turn)) is not None:
            raise failure
        self.taken.setdefault(turn.user, []).append(turn.turn_id)


@contextmanager
def sending(spool: Spool, service: Service) -> Iterator[Sender]:
    sender = Sender(spool, service.take, side_by_side=4)
    sender.start()
    try:
        yield sender
    finally:
        assert sender.stop(PATIENCE_SECONDS)


def wait_until(condition: Callable[[], bool]) -> None:
    deadline = monotonic() + PATIENCE_SECONDS
    while not condition():
        assert monotonic() < deadline
        sleep(0.01)


# -- the spool ----------------------------------------------------------------------------------------------------


def test_it_is_bounded_in_turns_and_bytes_and_says_so(tmp_path: Path) -> None:
    with closing(open_spool(tmp_path / "turns", max_turns=2)) as few:
        put(few, a_turn("maya", 1))
        put(few, a_turn("maya", 2))
        with pytest.raises(SpoolFull, match="2 turns wait"):
            put(few, a_turn("maya", 3))
        few.sent(few.oldest(1))
        assert put(few, a_turn("maya", 3)) is Accepted.SPOOLED
    with closing(open_spool(tmp_path / "bytes", max_bytes=100)) as small, pytest.raises(SpoolFull):
        put(small, a_turn("maya", 1, "x" * 100))


def test_what_was_sent_is_not_left_on_the_disk(spool: Spool) -> None:
    put(spool, a_turn("maya", 1, "My neighbour is a spy."))
    spool.sent(spool.oldest(1))
    assert spool.tidy()
    assert [path.name for path in spool.folder.iterdir() if b"spy" in path.read_bytes()] == []


def test_a_rejected_turn_is_kept_with_the_reason_and_tried_again_when_it_comes_again(spool: Spool) -> None:
    put(spool, a_turn("maya", 1))
    put(spool, a_turn("maya", 2))
    spool.reject(spool.oldest(1)[0], "422")
    assert [(turn.turn_id, turn.reason) for turn in spool.rejected(10)] == [("maya-1", "422")]
    assert (spool.depth().waiting, spool.depth().rejected) == (1, 1)
    assert put(spool, a_turn("maya", 1)) is Accepted.SPOOLED
    assert [turn.turn_id for turn in spool.oldest(10)] == ["maya-2", "maya-1"]
    assert (spool.depth().waiting, spool.depth().rejected) == (2, 0)


def test_totals_are_what_lies_in_it_whatever_was_done(tmp_path_factory: pytest.TempPathFactory) -> None:
    steps = st.lists(st.tuples(st.sampled_from(["put", "sent", "reject"]), st.integers(0, 4)), max_size=30)

    @given(steps)
    def holds(done: list[tuple[str, int]]) -> None:
        with closing(open_spool(tmp_path_factory.mktemp("spool"))) as spool:
            for action, number in done:
                if action == "put":
                    put(spool, a_turn("maya", number))
                for turn in spool.oldest(1):
                    if action == "sent":
                        spool.sent([turn])
                    if action == "reject":
                        spool.reject(turn, "422")
            waiting, rejected = spool.oldest(100), spool.rejected(100)
            size = sum(len(turn.body) for turn in waiting) + sum(len(turn.body) for turn in rejected)
            assert spool.depth() == Depth(len(waiting), len(rejected), size)

    holds()


def test_one_process_sends_at_a_time(spool: Spool, tmp_path: Path) -> None:
    with closing(open_spool(spool.folder)) as other, spool.sending() as first, other.sending() as second:
        assert (first, second) == (True, False)
    with spool.sending() as again:
        assert again


def test_a_folder_that_cannot_be_written_is_named_with_the_way_out(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(SpoolUnavailable, match="spool_dir"):
        open_spool(tmp_path / "file" / "spool")


# -- the sender ---------------------------------------------------------------------------------------------------


def test_each_users_turns_are_sent_once_and_in_order_while_threads_enqueue(spool: Spool) -> None:
    service, users = Service(), ["anna", "bert", "carla", "dora", "emil"]

    def say(user: str) -> None:
        for number in range(100):
            writer.put(a_turn(user, number))
            sender.wake()

    writer = SpoolWriter(spool, PATIENCE_SECONDS)
    with sending(spool, service) as sender:
        threads = [threading.Thread(target=say, args=(user,)) for user in users]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        writer.close(PATIENCE_SECONDS)
        assert sender.wait_until_empty(PATIENCE_SECONDS) == 0
    assert service.taken == {user: [f"{user}-{number}" for number in range(100)] for user in users}


def test_a_turn_that_cannot_be_written_in_time_is_refused_and_not_written_later(spool: Spool) -> None:
    writer = SpoolWriter(spool, budget=0.05)
    with closing(sqlite3.connect(spool.folder / "spool.sqlite3", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(SpoolUnavailable):
            writer.put(a_turn("maya", 0))
        other.execute("ROLLBACK")
    assert writer.put(a_turn("maya", 1)) is Accepted.SPOOLED
    writer.close(PATIENCE_SECONDS)
    assert [turn.turn_id for turn in spool.oldest(10)] == ["maya-1"]


def test_a_client_with_a_longer_budget_waits_as_long_for_another_process_that_writes(tmp_path: Path) -> None:
    client = Client("http://127.0.0.1:1", spool_dir=tmp_path, budget_ms=20_000)
    with closing(sqlite3.connect(tmp_path / "spool.sqlite3", isolation_level=None, check_same_thread=False)) as other:
        other.execute("BEGIN IMMEDIATE")
        ends = threading.Timer(0.3, other.execute, ("ROLLBACK",))
        ends.start()
        assert client.enqueue("maya", [{"role": "user", "content": "I have cats."}]).accepted is Accepted.SPOOLED
        ends.join()
    client.close(0.0)


def test_a_turn_that_was_not_begun_with_in_time_is_taken_back(spool: Spool, monkeypatch: pytest.MonkeyPatch) -> None:
    is_begun, goes_on = threading.Event(), threading.Event()
    write = spool.put

    def stand_still(turns: Sequence[Written]) -> list[Accepted | AfterturnError]:
        is_begun.set()
        assert goes_on.wait(PATIENCE_SECONDS)
        return write(turns)

    monkeypatch.setattr(spool, "put", stand_still)
    writer = SpoolWriter(spool, budget=0.02)
    refused: dict[int, str] = {}

    def say(number: int) -> None:
        try:
            writer.put(a_turn("maya", number))
        except SpoolUnavailable as error:
            refused[number] = str(error)

    first = threading.Thread(target=say, args=(0,))
    first.start()
    assert is_begun.wait(PATIENCE_SECONDS)
    say(1)
    first.join()
    goes_on.set()
    writer.close(PATIENCE_SECONDS)
    assert "may be accepted or not" in refused[0]
    assert "not accepted" in refused[1]
    assert [turn.turn_id for turn in spool.oldest(10)] == ["maya-0"]


def test_turns_are_accepted_while_the_service_hangs_with_the_first(spool: Spool) -> None:
    service, goes_on = Service(), threading.Event()

    def hang(_: Spooled) -> None:
        goes_on.wait(PATIENCE_SECONDS)

    service.fails = hang
    writer = SpoolWriter(spool, PATIENCE_SECONDS)
    with sending(spool, service) as sender:
        writer.put(a_turn("maya", 0))
        sender.wake()
        wait_until(lambda: service.calls["maya"] == 1)
        for number in range(1, 100):
            assert writer.put(a_turn("maya", number)) is Accepted.SPOOLED
            sender.wake()
        assert (service.calls["maya"], spool.depth().waiting) == (1, 100)
        goes_on.set()
        assert sender.wait_until_empty(PATIENCE_SECONDS) == 0
    writer.close(PATIENCE_SECONDS)
    assert service.taken["maya"] == [f"maya-{number}" for number in range(100)]


def test_a_service_that_asks_to_wait_is_not_asked_again_for_each_new_turn(spool: Spool) -> None:
    service = Service()
    service.fails = lambda _: Unavailable(None, "away", retry_after=600)
    with sending(spool, service) as sender:
        for number in range(5):
            put(spool, a_turn("maya", number))
            assert sender.wait_until_empty(0.05) == number + 1
        assert service.calls["maya"] == 1


def test_a_service_that_is_away_is_let_alone_and_gets_all_in_order_afterwards(spool: Spool) -> None:
    service, away = Service(), threading.Event()
    away.set()
    service.fails = lambda _: Unavailable(None, "away", retry_after=0.05) if away.is_set() else None
    with sending(spool, service) as sender:
        for number in range(200):
            put(spool, a_turn("maya", number))
            sender.wake()
        wait_until(lambda: service.calls["maya"] >= 2)
        assert service.calls["maya"] < 200
        away.clear()
        assert sender.wait_until_empty(PATIENCE_SECONDS) == 0
    assert service.taken["maya"] == [f"maya-{number}" for number in range(200)]


def test_a_turn_that_will_never_be_taken_is_put_aside_and_those_behind_it_go_on(spool: Spool) -> None:
    service = Service()
    refusals: dict[str, RequestFailed] = {
        "maya-1": Invalid(Problem(422, "Unprocessable", "no")),
        "maya-2": Conflict(Problem(409, "Conflict", "no")),
    }
    service.fails = lambda turn: refusals.get(turn.turn_id)
    for number in range(4):
        put(spool, a_turn("maya", number))
    with sending(spool, service) as sender:
        assert sender.wait_until_empty(PATIENCE_SECONDS) == 0
    assert service.taken == {"maya": ["maya-0", "maya-3"]}
    assert [turn.turn_id for turn in spool.rejected(10)] == ["maya-1", "maya-2"]


def test_a_user_whose_turns_are_refused_keeps_them_and_holds_up_nobody_else(spool: Spool) -> None:
    """More of theirs wait than are taken at a time."""
    service, forbidden = Service(), threading.Event()
    forbidden.set()
    refusal = Forbidden(Problem(403, "Forbidden", "the key may not name this user"))
    service.fails = lambda turn: refusal if turn.user == "maya" and forbidden.is_set() else None
    for number in range(150):
        put(spool, a_turn("maya", number))
    put(spool, a_turn("bert", 0))
    with sending(spool, service) as sender:
        wait_until(lambda: "bert" in service.taken)
        assert service.calls["maya"] <= 3
        forbidden.clear()
        assert sender.wait_until_empty(PATIENCE_SECONDS) == 0
    assert service.taken["maya"] == [f"maya-{number}" for number in range(150)]


def test_a_user_over_their_quota_waits_as_long_as_is_asked_and_holds_up_nobody_else(spool: Spool) -> None:
    service = Service()
    full = Unavailable(Problem(429, "Too Many Requests", "this user may send 1 turn", scope="user"), retry_after=60)
    service.fails = lambda turn: full if turn.user == "maya" else None
    put(spool, a_turn("maya", 0))
    put(spool, a_turn("bert", 0))
    with sending(spool, service) as sender:
        wait_until(lambda: "bert" in service.taken)
        put(spool, a_turn("bert", 1))
        sender.wake()
        wait_until(lambda: service.taken["bert"] == ["bert-0", "bert-1"])
        assert service.calls["maya"] == 1
    assert spool.depth().waiting == 1


def test_who_stops_is_told_of_what_is_left(spool: Spool) -> None:
    service = Service()
    service.fails = lambda _: Unavailable(None, "away", retry_after=60)
    put(spool, a_turn("maya", 0))
    with sending(spool, service) as sender:
        assert sender.wait_until_empty(0.05) == 1
    assert spool.depth().waiting == 1
