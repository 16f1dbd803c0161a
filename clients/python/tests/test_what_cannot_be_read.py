"""Answers and rows that cannot be read cost nobody else anything: the client goes on, and says so in its log."""

from __future__ import annotations

import json
import logging
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import pytest

from afterturn_client import Accepted, Client, RequestFailed, Unavailable
from afterturn_client.sender import Sender
from afterturn_client.spool import Spool, Spooled
from afterturn_client.sse import Parser
from afterturn_client.turns import Written, turn_of

PATIENCE_SECONDS = 20.0
NESTED = b"[" * 100_000 + b"]" * 100_000
DEEP_FIELD = b'{"title": %s, "detail": %s, "errors": [{"field": %s}]}' % ((b"[" * 400 + b"]" * 400,) * 3)


@dataclass
class Gateway:
    """Answers each turn with what it is told to, once, and takes all others."""

    url: str = ""
    answers: list[tuple[int, bytes, dict[str, str]]] = field(default_factory=list)
    taken: list[str] = field(default_factory=list)

    def answer(self, turn: dict[str, Any]) -> tuple[int, bytes, dict[str, str]]:
        if self.answers:
            return self.answers.pop()
        self.taken.append(turn["turn_id"])
        return 202, b"", {}


@contextmanager
def serving(gateway: Gateway) -> Iterator[Gateway]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            status, body, headers = gateway.answer(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(status)
            for name, value in {**headers, "Content-Length": str(len(body))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            return

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        gateway.url = f"http://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield gateway
        finally:
            server.shutdown()
            thread.join()


@pytest.fixture
def gateway() -> Iterator[Gateway]:
    with serving(Gateway()) as gateway:
        yield gateway


def a_turn(user: str, number: int) -> Written:
    return turn_of(user, [{"role": "user", "content": "I have cats."}], turn_id=f"{user}-{number}")


def wait_until_taken(gateway: Gateway, *turn_ids: str) -> None:
    deadline = monotonic() + PATIENCE_SECONDS
    while not set(turn_ids) <= set(gateway.taken):
        assert monotonic() < deadline, gateway.taken
        sleep(0.01)


# -- answers ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (503, b'{"errors": 1}'),
        (503, b'{"errors": true, "title": 5, "detail": {}, "scope": []}'),
        (503, b"[1]"),
        (502, NESTED),
        (502, DEEP_FIELD),
        (502, b"1" * 10_000),
        (502, b"\xff\xfe\xfd"),
        (500, NESTED),
        (202, NESTED),
        (202, b"<html>"),
    ],
)
def test_a_turn_whose_answer_cannot_be_read_is_sent_again(
    gateway: Gateway, status: int, body: bytes, tmp_path: Path
) -> None:
    gateway.answers.append((status, body, {}))
    with Client(gateway.url, spool_dir=tmp_path / "spool", budget_ms=20_000) as client:
        client.enqueue("maya", [{"role": "user", "content": "I have cats."}], turn_id="maya-0")
        assert client.flush(PATIENCE_SECONDS) == 0
        assert (gateway.taken, client.rejected()) == (["maya-0"], [])


@pytest.mark.parametrize(
    "body", [b'{"title": "\\ud800", "errors": [{"field": "\\ud800", "message": 1}, 2]}', DEEP_FIELD, NESTED]
)
def test_a_refusal_is_kept_as_far_as_it_can_be_read(gateway: Gateway, body: bytes, tmp_path: Path) -> None:
    gateway.answers.append((422, body, {}))
    with Client(gateway.url, spool_dir=tmp_path / "spool", budget_ms=20_000) as client:
        for number in range(2):
            client.enqueue("maya", [{"role": "user", "content": "I have cats."}], turn_id=f"maya-{number}")
        assert client.flush(PATIENCE_SECONDS) == 0
        [refused] = client.rejected()
    assert refused.reason.startswith("422 ")
    assert gateway.taken == ["maya-1"]


def test_no_answer_makes_a_client_wait_for_more_than_an_hour(gateway: Gateway, tmp_path: Path) -> None:
    gateway.answers.append((503, b"", {"Retry-After": "9" * 400}))
    with Client(gateway.url, spool_dir=tmp_path / "spool", attempts=1) as client:
        with pytest.raises(Unavailable) as away:
            client.remember("Anna is vegan.")
        assert away.value.retry_after == 3600


@pytest.mark.parametrize(
    "body", [NESTED, b"1", b"[1]", b'{"outcome": 1, "memory": [1]}', b'{"outcome": 1, "memory": 2}']
)
def test_an_answer_of_another_shape_is_named_as_such(gateway: Gateway, body: bytes, tmp_path: Path) -> None:
    gateway.answers.append((200, body, {}))
    with Client(gateway.url, spool_dir=tmp_path / "spool") as client, pytest.raises(RequestFailed, match="lacks"):
        client.remember("Anna is vegan.")


def test_an_event_that_cannot_be_read_is_named_as_such() -> None:
    with pytest.raises(RequestFailed, match="not JSON"):
        list(Parser().feed(b"data: " + NESTED + b"\n\n"))


# -- rows ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "change",
    [
        "body = 12345",
        "body = 1.5",
        "body = 'text'",
        "user = CAST(x'ff' AS TEXT)",
        "user = x'00ff'",
        "turn_id = CAST(x'ff' AS TEXT)",
    ],
)
def test_a_row_that_cannot_be_read_is_put_aside_and_stops_no_other(
    gateway: Gateway, change: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    folder = tmp_path / "spool"
    with closing(Spool(folder, max_turns=1000, max_bytes=1_000_000)) as spool:
        spool.put([a_turn("maya", number) for number in range(200)] + [a_turn("bert", 0)])
    with closing(sqlite3.connect(folder / "spool.sqlite3")) as db, db:
        # More of them than are taken at a time, where ids need not differ.
        which = (
            "turn_id = 'maya-1'" if change.startswith("turn_id") else "turn_id LIKE 'maya-%' AND turn_id != 'maya-0'"
        )
        wrong = db.execute(f"UPDATE turns SET {change} WHERE {which}").rowcount
    with Client(gateway.url, spool_dir=folder, budget_ms=20_000) as client:
        assert client.flush(PATIENCE_SECONDS) == 0
        aside = client.rejected(1000)
        assert len(aside) == client.spooled().rejected == wrong
        assert all("cannot be read" in turn.reason for turn in aside)
        for turn in aside:
            turn.turn_id.encode()
            assert isinstance(turn.body, bytes)
        assert client.enqueue("ada", [{"role": "user", "content": "Hi."}]).accepted is Accepted.SPOOLED
        assert client.flush(PATIENCE_SECONDS) == 0
    assert {"maya-0", "bert-0"} <= set(gateway.taken)
    said = [record.getMessage() for record in caplog.records if "cannot be read" in record.getMessage()]
    assert said
    assert not [line for line in said if "12345" in line or "cats" in line]


def test_a_digest_that_cannot_be_read_fails_none_but_its_own_turn(tmp_path: Path) -> None:
    with closing(Spool(tmp_path / "spool", max_turns=10, max_bytes=10_000)) as spool:
        spool.put([a_turn("maya", 0)])
        with closing(sqlite3.connect(spool.folder / "spool.sqlite3")) as db, db:
            db.execute("UPDATE turns SET digest = CAST(x'ff' AS TEXT)")
        first, second = spool.put([a_turn("maya", 0), a_turn("bert", 0)])
        assert isinstance(first, Exception)
        assert second is Accepted.SPOOLED


# -- whatever else ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("error", [TypeError("cats"), RecursionError("cats"), MemoryError("cats")])
def test_whatever_is_raised_over_a_turn_is_logged_and_the_turn_is_sent_later(
    tmp_path: Path, error: Exception, caplog: pytest.LogCaptureFixture
) -> None:
    failures, taken = [error], []

    def hand_over(turn: Spooled) -> None:
        if turn.user == "maya" and failures:
            raise failures.pop()
        taken.append(turn.turn_id)

    with closing(Spool(tmp_path / "spool", max_turns=100, max_bytes=10_000)) as spool:
        spool.put([a_turn("maya", 0), a_turn("maya", 1), a_turn("bert", 0)])
        sender = Sender(spool, hand_over, side_by_side=1)
        sender.start()
        assert sender.wait_until_empty(PATIENCE_SECONDS) == 0
        assert sender.stop(PATIENCE_SECONDS)
    assert taken == ["bert-0", "maya-0", "maya-1"]
    [line] = [record.getMessage() for record in caplog.records if record.levelno == logging.ERROR]
    assert type(error).__name__ in line
    assert "hand_over" in line
    assert "cats" not in line


@pytest.mark.parametrize("method", ["oldest", "sent", "depth", "log_bytes"])
def test_a_sender_goes_on_after_whatever_its_spool_raises(
    tmp_path: Path, method: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    taken: list[str] = []
    with closing(Spool(tmp_path / "spool", max_turns=100, max_bytes=10_000)) as spool:
        is_raised, right = threading.Event(), getattr(spool, method)

        def fail_once(*args: Any, **kwargs: Any) -> Any:
            if is_raised.is_set() or threading.current_thread() is threading.main_thread():
                return right(*args, **kwargs)
            is_raised.set()
            raise TypeError("cats")

        monkeypatch.setattr(spool, method, fail_once)
        spool.put([a_turn("maya", 0)])
        sender = Sender(spool, lambda turn: taken.append(turn.turn_id), side_by_side=1)
        sender.start()
        assert is_raised.wait(PATIENCE_SECONDS)
        spool.put([a_turn("bert", 0)])
        assert sender.wait_until_empty(PATIENCE_SECONDS) == 0
        assert sender.stop(PATIENCE_SECONDS)
    assert set(taken) == {"maya-0", "bert-0"}
    assert "TypeError" in caplog.text
    assert "cats" not in caplog.text


def test_a_sender_for_which_there_are_no_more_threads_sends_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken: list[str] = []
    with closing(Spool(tmp_path / "spool", max_turns=100, max_bytes=10_000)) as spool:
        sender = Sender(spool, lambda turn: taken.append(turn.turn_id), side_by_side=3)
        sender.start()

        def refuse(_: threading.Thread) -> None:
            raise RuntimeError("can't start new thread")

        monkeypatch.setattr(threading.Thread, "start", refuse)
        spool.put([a_turn(user, 0) for user in ("maya", "bert", "ada")])
        assert sender.wait_until_empty(PATIENCE_SECONDS) == 0
        assert sender.stop(PATIENCE_SECONDS)
    assert sorted(taken) == ["ada-0", "bert-0", "maya-0"]
