"""Turns that are dropped from the spool: of a user who is forgotten, and those that will never be taken."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from afterturn_client import Accepted, AsyncClient, Client, Conflict, Invalid, Problem, SpoolFull, Unavailable
from afterturn_client.requests import Request
from afterturn_client.senders import Async, Sync
from afterturn_client.spool import Spool
from afterturn_client.turns import Written, turn_of

URL = "http://127.0.0.1:1"
PROOF = {"removed": {"memories": 1}, "left": {}, "notes": [], "clean": True}


def a_turn(user: str, number: int, text: str = "My neighbour is a spy.") -> Written:
    return turn_of(user, [{"role": "user", "content": text}], turn_id=f"{user}-{number}")


def fill(folder: Path) -> None:
    """Maya's and Bert's turns, of each one that was rejected and two that wait."""
    with closing(Spool(folder, max_turns=100, max_bytes=100_000)) as spool:
        for user in ("maya", "bert"):
            spool.put([a_turn(user, 0)])
            [turn] = spool.oldest(1)
            spool.reject(turn, "422")
        spool.put([a_turn(user, number) for number in (1, 2) for user in ("bert", "maya")])


def ids_in(folder: Path) -> dict[str, list[str]]:
    with closing(Spool(folder, max_turns=100, max_bytes=100_000)) as spool:
        return {
            "waiting": [turn.turn_id for turn in spool.oldest(100)],
            "rejected": [turn.turn_id for turn in spool.rejected(100)],
        }


def files_with(folder: Path, words: bytes) -> list[str]:
    return [path.name for path in folder.iterdir() if words in path.read_bytes()]


BERTS = {"waiting": ["bert-1", "bert-2"], "rejected": ["bert-0"]}
ALL = {"waiting": ["bert-1", "maya-1", "bert-2", "maya-2"], "rejected": ["maya-0", "bert-0"]}


class Service:
    """Takes no turn for now, and forgets whom it is told to, unless it refuses; `meanwhile` is what happens then."""

    refuses: bool = False
    meanwhile: Callable[[], object] = staticmethod(lambda: None)

    def answer(self, request: Request[Any]) -> Any:
        if request.method == "POST":
            raise Unavailable(None, "away", retry_after=600)
        if self.refuses:
            raise Conflict(Problem(409, "Conflict", "a legal hold"))
        self.meanwhile()
        return request.read(PROOF)


@pytest.fixture
def service(monkeypatch: pytest.MonkeyPatch) -> Iterator[Service]:
    service = Service()

    async def answer(_: Async, request: Request[Any]) -> Any:
        return service.answer(request)

    monkeypatch.setattr(Sync, "once", lambda _, request: service.answer(request))
    monkeypatch.setattr(Async, "once", answer)
    yield service


def forget(folder: Path) -> None:
    with Client(URL, spool_dir=folder, budget_ms=20_000) as client:
        assert client.forget_user("maya").clean
        assert files_with(folder, b"spy myself") == []


def forget_async(folder: Path) -> None:
    async def ask() -> None:
        async with AsyncClient(URL, spool_dir=folder, budget_ms=20_000) as client:
            assert (await client.forget_user("maya")).clean
            assert files_with(folder, b"spy myself") == []

    asyncio.run(ask())


@pytest.mark.parametrize("forget", [forget, forget_async])
def test_nothing_that_a_forgotten_user_said_is_left_in_the_spool(
    service: Service, forget: Callable[[Path], None], tmp_path: Path
) -> None:
    folder = tmp_path / "spool"
    fill(folder)
    with closing(Spool(folder, max_turns=100, max_bytes=100_000)) as spool:
        spool.put([a_turn("maya", 3, "I am a spy myself.")])
    forget(folder)
    assert ids_in(folder) == BERTS


def test_a_user_whom_the_service_does_not_forget_keeps_what_waits(service: Service, tmp_path: Path) -> None:
    fill(tmp_path)
    service.refuses = True
    with Client(URL, spool_dir=tmp_path) as client, pytest.raises(Conflict):
        client.forget_user("maya")
    assert ids_in(tmp_path) == ALL


def test_what_a_user_says_while_they_are_forgotten_is_kept(service: Service, tmp_path: Path) -> None:
    fill(tmp_path)
    with Client(URL, spool_dir=tmp_path, budget_ms=20_000) as client:
        said = [{"role": "user", "content": "Hello."}]
        service.meanwhile = lambda: client.enqueue("maya", said, turn_id="new")
        client.forget_user("maya")
    assert ids_in(tmp_path) == {**BERTS, "waiting": [*BERTS["waiting"], "new"]}


def test_a_turn_that_takes_the_place_of_a_dropped_one_is_not_taken_for_it(tmp_path: Path) -> None:
    """One that was dropped while it was on its way, and was the last."""
    for number, ends in enumerate(("sent", "rejected")):
        with closing(Spool(tmp_path / ends, max_turns=100, max_bytes=100_000)) as spool:
            spool.put([a_turn("maya", number)])
            [on_its_way] = spool.oldest(1)
            assert spool.drop_user("maya", spool.last()) == 1
            spool.put([a_turn("bert", number)])
            if ends == "sent":
                spool.sent([on_its_way])
            else:
                spool.reject(on_its_way, "422")
            assert [turn.turn_id for turn in spool.oldest(10)] == [f"bert-{number}"]
            assert spool.oldest(10)[0].position == on_its_way.position


def test_rejected_turns_that_fill_the_spool_are_seen_and_dropped(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def refuse(_: Sync, request: Request[Any]) -> None:
        assert request.body is not None
        if json.loads(request.body)["user_id"] == "maya":
            raise Invalid(Problem(422, "Unprocessable", "no"))

    monkeypatch.setattr(Sync, "once", refuse)
    said = [{"role": "user", "content": "My neighbour is a spy."}]
    with Client(URL, spool_dir=tmp_path, spool_max_turns=2, budget_ms=20_000) as client:
        for number in range(2):
            client.enqueue("maya", said, turn_id=f"maya-{number}")
        assert client.flush(20) == 0
        with pytest.raises(SpoolFull, match="drop_rejected"):
            client.enqueue("bert", said)
        first, second = client.rejected()
        assert client.drop_rejected([first]) == 1
        assert client.drop_rejected([first, second]) == 1
        assert (client.rejected(), client.spooled().bytes) == ([], 0)
        assert files_with(tmp_path, b'"user_id":"maya"') == []
        assert client.enqueue("bert", said).accepted is Accepted.SPOOLED
        assert client.flush(20) == 0


def test_a_rejected_turn_that_was_put_again_is_not_dropped(tmp_path: Path) -> None:
    with closing(Spool(tmp_path, max_turns=100, max_bytes=100_000)) as spool:
        spool.put([a_turn("maya", 0)])
        spool.reject(spool.oldest(1)[0], "422")
        seen = spool.rejected(10)
        spool.put([a_turn("maya", 0)])
        assert spool.drop_rejected(seen) == 0
        assert [turn.turn_id for turn in spool.oldest(10)] == ["maya-0"]
